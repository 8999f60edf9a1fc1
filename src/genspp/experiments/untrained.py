"""Highlights that no generator is trained for, at every R: a word list of any length, and random tokens.

They need the texts, which no result file holds; so their curves have a file of their own for every data set and preset.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from genspp.data.corpus import Splits
from genspp.evaluation.beside import evidence
from genspp.evaluation.metrics import f1, highlight_counts, precision_recall, selection_rate
from genspp.evaluation.references import random_tokens
from genspp.evaluation.tfidf import fit_tfidf
from genspp.evaluation.word_list import Masks, highest
from genspp.experiments.names import OURS, data_form, data_name, family
from genspp.experiments.results import code_version, machine
from genspp.files import write_json
from genspp.methods import METHODS

FOLDER = "untrained"
RATES = tuple(percent / 100 for percent in (*range(1, 20), *range(20, 52, 2)))  # R, as near as a threshold comes
COLUMNS = ("selection_rate", "precision", "recall", "hl_f1")
_SEED = 1


def untrained_file(data: str, preset: str) -> Path:
    """Return where the curves of a data set are, below the folder of all results."""
    return Path(FOLDER) / f"{data}-{preset}.json"


def read_untrained(results: Path, data: str, preset: str) -> dict[str, Any]:
    """Return the content of that file; empty where there is none yet."""
    path = results / untrained_file(data, preset)
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def write_untrained(path: Path, source: str, preset: str, splits: Splits) -> None:
    """Measure both on the test texts and write them to a file; only where these have gold highlights."""
    if all(highlight is None for highlight in splits.test.highlights):
        return
    data = data_name(source)
    wanted = METHODS[OURS].settings_on(family(data), preset).get("evidence_for")
    keys = splits.test.keys(splits.tokenizer)
    scores = evidence(splits.train, keys, fit_tfidf(splits.train, splits.val).strength, wanted)
    lengths = [len(text) for text in keys]
    content = {
        "command": f"genspp benchmark alpha --data {data_form(data)} --preset {preset}",
        "code": code_version(),
        "machine": machine(),
        "data": {"name": data, "fingerprint": splits.fingerprint(), "rows": splits.rows},
        "gold_rate": selection_rate([gold for gold in splits.test.highlights if gold is not None]),
        "word_list": _curve(splits, lambda rate: highest(scores, rate)),
        "random": _curve(splits, lambda rate: random_tokens(lengths, rate, _SEED)),
    }
    write_json(path, content)


def _curve(splits: Splits, mark: Callable[[float], Masks]) -> dict[str, list[float]]:
    """Return R and how good the highlights are, column by column; a point that comes twice counts once."""
    points: dict[float, tuple[Any, ...]] = {}
    for rate in RATES:
        masks = mark(rate)
        counts = highlight_counts(masks, splits.test.highlights).sum(0)
        points[selection_rate(masks)] = (*precision_recall(counts), float(f1(counts)))
    rows = [(rate, *scores) for rate, scores in sorted(points.items()) if None not in scores]
    return {name: [round(row[i], 6) for row in rows] for i, name in enumerate(COLUMNS)}
