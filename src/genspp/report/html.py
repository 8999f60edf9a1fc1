"""Self-contained pages: decisions and the words they were made from, the report of a run, two runs side by side."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

import genspp
from genspp.data.fields import clean
from genspp.data.tokenize import Span
from genspp.files import write_text
from genspp.harmless import harmless, in_one_line
from genspp.model.rationale import Rationale
from genspp.report.comparison import comparison_content
from genspp.report.run_report import Finished, report_content
from genspp.report.text_rows import script_json

# Texts are hostile: everything that goes into the page is escaped.
_PAGES = Environment(loader=PackageLoader("genspp", "report"), autoescape=True, trim_blocks=True)


def cut(stretch: Span, spans: Sequence[Span]) -> list[tuple[Span, bool]]:
    """Cut a stretch of a text into those inside and outside of the spans that lie in it."""
    position, last = stretch
    found = []
    for start, end in spans:
        if position <= start and end <= last:
            found += [((position, start), False), ((start, end), True)]
            position = end
    return [((start, end), inside) for (start, end), inside in [*found, ((position, last), False)] if start < end]


def _pieces(rationale: Rationale) -> list[tuple[list[tuple[str, bool]], bool]]:
    """Return the text in stretches, marked or not, and each of them in pieces, unknown or not."""
    text, unknown = harmless(rationale.text), rationale.unknown_spans
    return [
        ([(text[start:end], is_unknown) for (start, end), is_unknown in cut(stretch, unknown)], chosen)
        for stretch, chosen in cut((0, len(text)), rationale.spans)
    ]


def shown_classes(rationales: Sequence[Rationale], most: int = 6) -> list[Any]:
    """Return the classes that a page shows of every text, in the model's order.

    Where there are many, those that are likeliest over all texts, and those that anything is decided for.
    """
    classes = list(rationales[0].probabilities) if rationales else []
    likely = sorted(classes, key=lambda label: -sum(rationale.probabilities[label] for rationale in rationales))
    kept = {*likely[:most], *(rationale.label for rationale in rationales)}
    return [label for label in classes if label in kept]


def _item(rationale: Rationale, classes: Sequence[Any]) -> dict[str, Any]:
    shares = [(label, f"{100 * rationale.probabilities[label]:.1f}") for label in classes]
    return {
        "pieces": _pieces(rationale),
        "no_evidence": rationale.no_evidence,
        "unknown": bool(rationale.unknown),
        "classes": [(in_one_line(label), share, label == rationale.label) for label, share in shares],
    }


def page(rationales: Sequence[Rationale], method: str) -> str:
    """Return the page as text."""
    classes = shown_classes(rationales)
    return _PAGES.get_template("page.html").render(
        title="What was decided, and why",
        method=method,
        version=genspp.__version__,
        items=[_item(rationale, classes) for rationale in rationales],
    )


def write_page(path: Path, rationales: Sequence[Rationale], method: str) -> None:
    """Write the page to a file."""
    write_text(path, page(rationales, method))


def report_page(run: Finished) -> str:
    """Return the report of a run."""
    return _report("report.html", report_content(run))


def comparison_page(first: Finished, second: Finished) -> str:
    """Return the comparison of two runs."""
    return _report("comparison.html", comparison_content(first, second))


def _report(template: str, content: dict[str, Any]) -> str:
    """Fill a page with a script: the only one that its own policy lets run, and one that may ask for nothing."""
    script = _PAGES.get_template("report.js").render()
    made = _PAGES.get_template(template).render(
        **content,
        data=Markup(script_json(content["texts"])),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=genspp.__version__,
    )
    return clean(made)  # the name of a file need not be UTF-8
