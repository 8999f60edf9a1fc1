"""Self-contained pages with a script: the report of a run, two runs side by side."""

import base64
import hashlib
from typing import Any

from markupsafe import Markup

import genspp
from genspp.data.fields import clean
from genspp.report.comparison import comparison_content
from genspp.report.explained import PAGES
from genspp.report.run_report import Finished, report_content
from genspp.report.text_rows import script_json


def report_page(run: Finished) -> str:
    """Return the report of a run."""
    return _report("report.html", report_content(run))


def comparison_page(first: Finished, second: Finished) -> str:
    """Return the comparison of two runs."""
    return _report("comparison.html", comparison_content(first, second))


def _report(template: str, content: dict[str, Any]) -> str:
    """Fill a page with a script: the only one that its own policy lets run, and one that may ask for nothing."""
    script = PAGES.get_template("report.js").render()
    made = PAGES.get_template(template).render(
        **content,
        data=Markup(script_json(content["texts"])),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=genspp.__version__,
    )
    return clean(made)  # the name of a file need not be UTF-8
