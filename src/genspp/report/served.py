"""The page of `genspp serve`, on which a model is tried."""

from collections.abc import Mapping, Sequence
from typing import Any

from genspp.harmless import STEERING_PATTERN, in_one_line
from genspp.report.scripts import filled, fingerprint, source


def serve_page(name: str, method: str, classes: Sequence[Any], limits: Mapping[str, int]) -> tuple[str, str]:
    """Return the page on which a model is tried, and the policy to send it with.

    The policy lets its own script and style work, and the script ask nobody but the server that the page came from.
    """
    data = {"classes": [str(label) for label in classes], "limits": dict(limits), "steering": STEERING_PATTERN}
    script, style = source("serve.js"), source("report.css") + source("serve.css")
    made = filled("serve.html", script, style, data, title=f"Try “{in_one_line(name)}”", method=method)
    policy = {
        "default-src": "'none'",
        "script-src": f"'sha256-{fingerprint(script)}'",
        "style-src": f"'sha256-{fingerprint(style)}'",
        "img-src": "data:",  # the icon, which is empty; without one a browser asks for a file
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
    }
    return made, "; ".join(f"{what} {allowed}" for what, allowed in policy.items())
