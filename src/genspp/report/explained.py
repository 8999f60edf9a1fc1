"""The page that `genspp explain --html` writes: texts, what was decided of each, and the words that decided."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

import genspp
from genspp.files import write_text
from genspp.harmless import in_one_line
from genspp.model.rationale import Rationale

# Texts are hostile: everything that goes into a page is escaped.
PAGES = Environment(loader=PackageLoader("genspp", "report"), autoescape=True, trim_blocks=True)


def shown_classes(rationales: Sequence[Rationale], most: int = 6) -> list[Any]:
    """Return the classes that a page shows of every text, in the model's order.

    Where there are many, those that are likeliest over all texts, and those that anything is decided for.
    """
    classes = list(rationales[0].probabilities) if rationales else []
    likely = sorted(classes, key=lambda label: -sum(rationale.probabilities[label] for rationale in rationales))
    kept = {*likely[:most], *(rationale.label for rationale in rationales)}
    return [label for label in classes if label in kept]


def _item(number: int, rationale: Rationale, classes: Sequence[Any]) -> dict[str, Any]:
    shares = [(label, f"{100 * rationale.probabilities[label]:.1f}") for label in classes]
    gold, name = rationale.document.label, rationale.document.id
    return {
        "number": number,
        "id": in_one_line(name) if name not in (str(number), str(number - 1)) else None,
        "pieces": list(rationale.pieces()),
        "no_evidence": rationale.no_evidence,
        "unknown": bool(rationale.unknown),
        "read": len(rationale.mask) if rationale.document.unread else None,
        "classes": [(in_one_line(label), share, label == rationale.label) for label, share in shares],
        "gold": None if gold is None else in_one_line(gold),
        "right": str(gold) == str(rationale.label),
    }


def page(rationales: Sequence[Rationale], model: str, date: str = "") -> str:
    """Return the page as text. model: what it is called. date: of the page, if it is to have one."""
    classes = shown_classes(rationales)
    items = [_item(number, rationale, classes) for number, rationale in enumerate(rationales, start=1)]
    return PAGES.get_template("page.html").render(
        title="What was decided, and why",
        model=in_one_line(model),
        date=date,
        version=genspp.__version__,
        items=items,
        labelled=[item for item in items if item["gold"] is not None],
    )


def write_page(path: Path, rationales: Sequence[Rationale], model: str, date: str = "") -> None:
    """Write the page to a file."""
    write_text(path, page(rationales, model, date))
