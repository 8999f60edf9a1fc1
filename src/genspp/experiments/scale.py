"""How long `genspp train` takes, by rows, by tokens and by classes, on texts that are made for it.

    python -m genspp.experiments.scale        (or `make scale`)

trains with all defaults, one case after the other, on all cores, and writes results/scale.json, from which
docs/results/cost.md takes its table. A text is drawn from 5,000 words, frequent ones more often; some of its words
speak for its class, fewer for another one. Test texts are further ones, as many as it takes to tell two scores apart.
What is compiled is compiled before, by the smallest case.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from genspp.experiments.results import code_version, machine
from genspp.files import write_json
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.streams import frozen

FILE = "scale.json"
COMMAND = "python -m genspp.experiments.scale"
_WORDS, _SPEAKING = 5_000, 40  # in all; and those that speak for a class
_OWN, _MOST_OWN = 0.1, 12  # the share of a text's words that speak for its class; of a long document so many at most
_TEST_TOKENS, _TEST_TEXTS = 120_000, (200, 2_000)  # about so many tokens to be tested on; least and most texts
_OTHER = 0.4  # as many times that, words speak for a class that is drawn


class Case(NamedTuple):
    """So many texts of so many tokens in so many classes."""

    name: str
    rows: int
    tokens: int
    classes: int


CASES = (
    Case("30 rows", 30, 12, 2),
    Case("1,000 short texts", 1_000, 15, 3),
    Case("10,000 short texts", 10_000, 15, 3),
    Case("50,000 short texts", 50_000, 15, 3),
    Case("200 documents of 600 words", 200, 600, 2),
    Case("1,600 documents of 775 words", 1_600, 775, 2),
    Case("1,000 short texts, 2 classes", 1_000, 15, 2),
    Case("1,000 short texts, 10 classes", 1_000, 15, 10),
    Case("1,000 short texts, 20 classes", 1_000, 15, 20),
)


def made_texts(case: Case, seed: int = 0) -> list[tuple[str, str]]:
    """Return texts and labels."""
    random, rows = frozen(seed), []
    chances = 1 / np.arange(1, _WORDS + 1)
    chances /= chances.sum()
    for row in range(case.rows):
        label, another = row % case.classes, random.randint(case.classes)
        words = [f"w{word}" for word in random.choice(_WORDS, case.tokens, p=chances)]
        own = min(_MOST_OWN, max(1, random.binomial(case.tokens, _OWN)))
        speaking = [label] * own + [another] * random.binomial(own, _OTHER)
        for place, speaks_for in zip(random.choice(case.tokens, len(speaking)), speaking, strict=True):
            words[place] = f"c{speaks_for}x{random.randint(_SPEAKING)}"
        rows.append((" ".join(words), f"class {label}"))
    return rows


def measure(case: Case, folder: Path) -> dict[str, Any]:
    """Train on a case in a process of its own; return its seconds, its memory and its figures."""
    further = min(_TEST_TEXTS[1], max(_TEST_TEXTS[0], _TEST_TOKENS // case.tokens))
    texts = made_texts(case._replace(rows=case.rows + further))
    return {**case._asdict(), **train_on(texts[: case.rows], texts[case.rows :], folder)}


def train_on(train: Sequence[tuple[str, str]], test: Sequence[tuple[str, str]], folder: Path) -> dict[str, Any]:
    """Train on texts with labels in a process of its own, with all defaults; return what it took and how it did."""
    file, further, run = folder / "texts.csv", folder / "test.csv", folder / "run"
    for path, rows in ((file, train), (further, test)):
        with path.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("text", "label"), *rows])
    places = ["--test", str(further), "--out", str(run), "--force", "--examples", "0"]
    asked = [sys.executable, "-c", _CHILD, "train", str(file), *places]
    started = time.monotonic()
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=3600)
    seconds = time.monotonic() - started
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    return {
        "test_texts": len(test),
        "seconds": round(seconds, 1),
        "generations": len((run / "log.jsonl").read_text(encoding="utf-8").splitlines()),
        "peak_memory_mb": float(done.stdout.strip().splitlines()[-1]),
        **{name: metrics[name] for name in ("clf_f1", "full_text_clf_f1", "tfidf_clf_f1", "selection_rate")},
    }


# The command line, and then what memory it took.
_CHILD = """
import sys
from genspp.cli import main
try:
    main()
except SystemExit as end:
    from genspp.experiments.results import peak_memory_mb
    print(peak_memory_mb())
    sys.exit(end.code)
"""


def scale(cases: Sequence[Case] = CASES) -> dict[str, Any]:
    """Measure cases one after the other; the first is run twice, for its first run may compile."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        measure(cases[0], Path(folder))
        for case in cases:
            found.append(measure(case, Path(folder)))
            print(f"{case.name}: {found[-1]['seconds']} s, Clf-F1 {100 * found[-1]['clf_f1']:.1f}", flush=True)
    return {"command": COMMAND, "code": code_version(), "machine": machine(), "cores": os.cpu_count(), "cases": found}


def scale_table(content: Mapping[str, Any]) -> ResultTable | None:
    """Return what was measured as a table; None where nothing was. content: that of results/scale.json."""
    if not content.get("cases"):
        return None
    names = ("clf_f1", "full_text_clf_f1", "tfidf_clf_f1")
    rows = tuple(
        Row(
            case["name"],
            (
                Cell(case["seconds"]),
                Cell(case["peak_memory_mb"]),
                *(Cell(100 * case[name]) for name in names),
                Cell(100 * case["selection_rate"]),
            ),
        )
        for case in content["cases"]
    )
    columns = (
        *(Column("Seconds", digits=0), Column("Memory, MB", digits=0)),
        *(Column(name, digits=1) for name in ("Clf-F1", "Full text", "TF-IDF + LR", "R")),
    )
    fewest, most = _TEST_TEXTS
    notes = (
        ("", f"Whole trainings, all compiled before, on {content['cores']} cores ({content['machine']['cpu']})."),
        ("", f"Scores on further texts, {fewest:,} (of documents) to {most:,}; predicting these is part of the time."),
    )
    return ResultTable("Time by rows, tokens and classes, texts made for it", columns, rows, notes, corner="Data")


def main() -> None:
    """Run as a program."""
    write_json(Path("results") / FILE, scale())


if __name__ == "__main__":
    main()
