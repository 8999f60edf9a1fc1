"""The card of a model: what it is, what it was trained on, how it scored, what it cannot do. No text is in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import genspp
from genspp.harmless import in_one_line
from genspp.model.folder import SavedModel

_LIMITS = """\
- Its scores hold for texts like those it was trained on: the same language, the same kind of writing, the same classes.
- It is small and reads words, not contexts: irony, negation and what stands between the lines escape it.
- The highlight is all that the predictor saw of a text. It says what decided, not that the decision is right.
- Where nothing is highlighted no word decided, and the label is the default one (`no_evidence`).
- Words that it has no vector for it cannot tell apart (`unknown`)."""
_SHOWN = 50  # classes


def model_card(
    saved: SavedModel,
    data: str = "",
    rows: Mapping[str, int] | None = None,
    scores: Sequence[tuple[str, str, str]] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Return the card in Markdown.

    data: the name of the data set, if it has one. rows: how many there were of train, val and so on. scores: name,
    figure and meaning of each, on test rows. warnings: what these warn of.
    """
    settings, weights = saved.settings, sum(a.size for name, a in saved.weights.items() if name != "model.vectors")
    counts = ", ".join(f"{count:,} {part}" for part, count in (rows or {}).items())
    classes = ", ".join(_code(label) for label in saved.classes[:_SHOWN])
    more = f" and {len(saved.classes) - _SHOWN:,} more" if len(saved.classes) > _SHOWN else ""
    table = {
        "Method": f"{saved.title} (`{saved.method}`), preset {settings['preset']}",
        "Data": " – ".join(
            part for part in (_code(data) if data else "not named", counts and f"{counts} rows") if part
        ),
        "Classes": f"{classes}{more}",
        "Seed": settings["seed"],
        "Words": f"{len(saved.vectors.words):,} with vectors ({_code(saved.vectors.kind)})",
        "Tokenizer": settings["tokenizer"],
        "Size": f"{settings['hidden']} hidden units per direction, {weights:,} weights beside the vectors",
    }
    if settings.get("evidence_for") is not None:
        table["Evidence"] = f"wanted of {', '.join(map(_code, settings['evidence_for']))}"
    if settings.get("truncate") is not None:
        table["Reads"] = f"the first {settings['truncate']:,} tokens of a text"
    return f"""\
# A text classifier that shows the words it used

Written by genspp {genspp.__version__}. A generator picks words of a text, and a predictor decides from these alone.

| | |
|---|---|
{_rows(table.items())}

## Scores on test rows

{_scored(scores, warnings)}

## How to use it

```sh
genspp explain FOLDER "a text"
```

```python
from genspp import Rationalizer

why = Rationalizer.load("FOLDER").explain(["a text"])[0]
```

`FOLDER` is the folder of this file. `manifest.json` has a checksum of every file, of this one too: keep notes of your
own elsewhere.

## Limits

{_LIMITS}
"""


def _scored(scores: Sequence[tuple[str, str, str]], warnings: Sequence[str]) -> str:
    if not scores:
        return "None are known: the model was saved where no test rows were."
    said = [f"- Warning: {in_one_line(sentence)}" for sentence in warnings]
    return "\n".join(["| | | |", "|---|---:|---|", _rows(scores), *(["", *said] if said else [])])


def _rows(rows: Any) -> str:
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def _code(value: Any) -> str:
    """Return something of the user's as it cannot be Markdown or HTML, nor end a cell."""
    return f"`{in_one_line(value).replace('`', '´').replace('|', '¦')}`"
