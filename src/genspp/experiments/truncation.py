"""What the released code's cut of the gold highlights is worth, in points of Hl-F1.

That code takes a text to end before its first word that occurs in no training text, and scores the highlights of
GenSPP, and of GenSPP alone, on what comes before. Here the highlights in the result files are scored both ways:

    python -m genspp.experiments.truncation hatexplain:FOLDER

writes results/truncation.json, from which docs/results/differences.md takes its figures.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genspp.data.corpus import Splits
from genspp.data.sources import load_source
from genspp.errors import DataError, GenSPPError
from genspp.evaluation.metrics import hl_f1
from genspp.experiments.names import data_name
from genspp.experiments.results import Result, code_version, machine, read_results
from genspp.files import write_json

FILE = "truncation.json"


def kept_tokens(splits: Splits) -> list[int]:
    """Return how many tokens of each test text come before the first that training and validation rows do not have."""
    known = {token for part in (splits.train, splits.val) for document in part for token in document.tokens}
    return [
        next((place for place, token in enumerate(document.tokens) if token not in known), len(document.tokens))
        for document in splits.test
    ]


def truncation(splits: Splits, runs: Sequence[Result]) -> dict[str, Any]:
    """Score runs on whole texts and on cut ones; return also the shares of tokens and gold tokens that are cut off."""
    gold = [np.asarray(mask) for mask in splits.test.highlights]
    kept, fingerprint = kept_tokens(splits), splits.fingerprint()
    cut_gold = [mask[:end] for mask, end in zip(gold, kept, strict=True)]
    scores = {}
    for run in runs:
        if run.content["data"]["fingerprint"] != fingerprint:
            raise DataError(f"{run.method}, seed {run.seed}, was not run on these data; give the folder that it had.")
        masks = [np.array([int(digit) for digit in mask]) for mask in run.predictions().masks]
        cut = [mask[:end] for mask, end in zip(masks, kept, strict=True)]
        name = f"{run.preset}-{run.method}-seed{run.seed}"
        scores[name] = {"hl_f1": hl_f1(masks, gold), "hl_f1_cut": hl_f1(cut, cut_gold)}
    return {
        "texts": len(gold),
        "texts_cut": sum(end < len(mask) for mask, end in zip(gold, kept, strict=True)),
        "tokens_left_out": 1 - sum(kept) / sum(map(len, gold)),
        "gold_left_out": 1 - sum(int(mask.sum()) for mask in cut_gold) / sum(int(mask.sum()) for mask in gold),
        "runs": scores,
    }


def main(arguments: Sequence[str]) -> int:
    """Write the figures of all GenSPP runs on HateXplain."""
    command, results = "python -m genspp.experiments.truncation hatexplain:FOLDER", Path("results")
    try:
        if len(arguments) != 1 or data_name(arguments[0]) != "hatexplain":
            print(f"usage: {command}", file=sys.stderr)
            return 2
        wanted = ("table1", "hatexplain", "genspp")
        runs = [run for run in read_results(results) if (run.benchmark, run.data, run.method) == wanted]
        found = truncation(load_source(arguments[0]), runs)
        write_json(results / FILE, {"command": command, "code": code_version(), "machine": machine(), **found})
    except (GenSPPError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
