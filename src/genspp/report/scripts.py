"""How a page is filled that has a script of its own, and what policies know scripts by."""

import base64
import hashlib
from typing import Any

from markupsafe import Markup

import genspp
from genspp.harmless import harmless
from genspp.report.explained import PAGES
from genspp.report.text_rows import script_json


def filled(template: str, script: str, style: str, data: Any, **content: Any) -> str:
    """Return a page with its script, its style, and what the script is told, as JSON."""
    made = PAGES.get_template(template).render(
        **content,
        data=Markup(script_json(data)),
        script=Markup(script),
        style=Markup(style),
        version=genspp.__version__,
    )
    return harmless(made)  # names of files, columns and labels may hold anything, and need not be UTF-8


def source(name: str) -> str:
    """Return a script or a style sheet as it stands in a page."""
    return PAGES.get_template(name).render()


def fingerprint(code: str) -> str:
    """Return what a policy knows a script or a style sheet by."""
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
