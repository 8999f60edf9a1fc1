"""Self-contained pages with a script: the report of a run, two runs side by side."""

from typing import Any

from genspp.report.comparison import comparison_content
from genspp.report.run_report import Finished, report_content
from genspp.report.scripts import filled, fingerprint, source


def report_page(run: Finished) -> str:
    """Return the report of a run."""
    return _report("report.html", report_content(run))


def comparison_page(first: Finished, second: Finished) -> str:
    """Return the comparison of two runs."""
    return _report("comparison.html", comparison_content(first, second))


def _report(template: str, content: dict[str, Any]) -> str:
    """Fill a page with a script: the only one that its own policy lets run, and one that may ask for nothing."""
    script = source("report.js")
    style, data = source("report.css"), content["texts"]
    return filled(template, script, style, data, script_hash=fingerprint(script), **content)
