"""Made-up result files, so that tables and sentences can be tested without training anything."""

from dataclasses import replace

from genspp.evaluation.metrics import f1, macro_f1
from genspp.experiments.results import FORMAT, Predictions, Result

TEXTS = 16


def predictions(hits: int, right: int) -> Predictions:
    """Return what a run gave to 16 texts of four tokens, the first of which is gold in every one.

    hits: in how many texts that token is selected; in the others another one is. right: how many labels are.
    """
    labels = tuple(i % 2 for i in range(TEXTS))
    return Predictions(
        classes=("no", "yes"),
        ids=tuple(f"t{i}" for i in range(TEXTS)),
        labels=labels,
        predicted=tuple(label if i < right else 1 - label for i, label in enumerate(labels)),
        masks=tuple("1000" if i < hits else "0100" for i in range(TEXTS)),
        hits=tuple(int(i < hits) for i in range(TEXTS)),
        gold=(1,) * TEXTS,
    )


def made_run(method: str, seed: int, *, hits: int = 8, right: int = 8, **changes) -> Result:
    """Return a run. changes: of data, preset, variant, benchmark, vectors, selection_rate, seconds, parameters.

    beside: the references among its figures, audit: an `Audit`; files of older runs have neither. more: what else its
    file holds.
    """
    given = predictions(hits, right)
    key = {
        "benchmark": changes.get("benchmark", "table1"),
        "data": changes.get("data", "hatexplain"),
        "preset": changes.get("preset", "sound"),
        "method": method,
        "variant": changes.get("variant", ""),
        "seed": seed,
    }
    content = {
        "format": FORMAT,
        "run": key,
        "asked": {},
        "code": {"commit": changes.get("commit", "0123456789"), "modified": False},
        "machine": {"cpu": "an abacus", "cores": 2},
        "data": {"name": key["data"], "vectors": changes.get("vectors", "corpus"), "fingerprint": "x"},
        "metrics": {
            "clf_f1": float(macro_f1(given.class_counts().sum(0))),
            "hl_f1": float(f1(given.highlight_counts().sum(0))),
            "selection_rate": changes.get("selection_rate", 0.25),
            "selection_size": 1.0,
            "full_text_clf_f1": 0.9,
            "texts": TEXTS,
            **changes.get("beside", {}),
        },
        "training": {
            "seconds": changes.get("seconds", 60.0),
            "steps": 10,
            "seconds_per_step": 6.0,
            "parameters": changes.get("parameters", {"all": 30, "generator": 10, "predictor": 20}),
            "peak_memory_mb": 100.0,
        },
        "predictions": given.to_json(),
        **changes.get("more", {}),
    }
    if "audit" in changes:
        content["audit"] = changes["audit"].figures()
    return Result(**key, content=content)


def ten_seeds(method: str, *, hits: int = 8, right: int = 8, **changes) -> list[Result]:
    """Return runs of seeds 1 to 10: those of `five_seeds` twice over, a little better the second time: no ties."""
    first, later = (five_seeds(method, hits=hits, right=right, **changes) for _ in range(2))
    for run in later:
        run.content["metrics"] |= {name: run.metrics[name] + 1e-6 for name in ("clf_f1", "hl_f1")}
    return [*first, *(replace(run, seed=run.seed + 5) for run in later)]


def five_seeds(method: str, *, hits: int = 8, right: int = 8, **changes) -> list[Result]:
    """Return runs of seeds 1 to 5 around these hits and labels: two below, two above."""
    spread = (-2, -1, 0, 1, 2)
    return [
        made_run(method, seed, hits=hits + step, right=right + step, **changes)
        for seed, step in zip(range(1, 6), spread, strict=True)
    ]
