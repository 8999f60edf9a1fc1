"""One self-contained page that shows decisions and the words they were made from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

import genspp
from genspp.data.tokenize import Span
from genspp.files import write_text
from genspp.model.rationale import Rationale

# Texts are hostile: everything that goes into the page is escaped.
_PAGES = Environment(loader=PackageLoader("genspp", "report"), autoescape=True, trim_blocks=True)


def pieces(text: str, spans: Sequence[Span]) -> list[tuple[str, bool]]:
    """Cut a text into stretches inside and outside its highlight."""
    cut, position = [], 0
    for start, end in spans:
        cut += [(text[position:start], False), (text[start:end], True)]
        position = end
    return [(piece, chosen) for piece, chosen in [*cut, (text[position:], False)] if piece]


def _item(rationale: Rationale, most: int = 6) -> dict[str, Any]:
    ranked = sorted(rationale.probabilities.items(), key=lambda pair: -pair[1])[:most]
    return {
        "pieces": pieces(rationale.text, rationale.spans),
        "any": bool(rationale.spans),
        "classes": [(label, f"{100 * share:.1f}", label == rationale.label) for label, share in ranked],
    }


def page(rationales: Sequence[Rationale], method: str) -> str:
    """Return the page as text."""
    return _PAGES.get_template("page.html").render(
        title="What was decided, and why",
        method=method,
        version=genspp.__version__,
        items=[_item(rationale) for rationale in rationales],
    )


def write_page(path: Path, rationales: Sequence[Rationale], method: str) -> None:
    """Write the page to a file."""
    write_text(path, page(rationales, method))
