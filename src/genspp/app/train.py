"""A run from where it stands to its model, its figures and its predictions."""

import json
from dataclasses import dataclass
from typing import Any

from genspp.app.configure import Data, data_of, estimator_of
from genspp.app.evaluate import references_of
from genspp.app.runs import Listener, Run, versions
from genspp.errors import GenSPPError
from genspp.evaluation.beside import together
from genspp.evaluation.evaluate import evaluate
from genspp.files import write_json, write_text
from genspp.model.card import model_card
from genspp.model.folder import load_folder, write_card
from genspp.model.rationale import Rationale
from genspp.report.terminal import METRICS


@dataclass(frozen=True)
class Outcome:
    """What a finished run has to show: its figures on the test rows, and what it says of each of them."""

    metrics: dict[str, Any]
    rationales: list[Rationale]


def proceed(run: Run, data: Data | None = None, listener: Listener | None = None, on: str | None = None) -> Outcome:
    """Take a run to its metrics, which are written last. No text is repeated in these files.

    on: the cluster to train on; None: here.
    """
    data = data or data_of(run)
    run.begin(listener)
    model = estimator_of(run).set_params(vectors=data.vectors, **({} if on is None else {"on": on}))
    try:
        model.fit(data.splits.train, validation=data.splits.val, recorder=run)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, GenSPPError):
            run.blame(error)
        raise
    model.save(run.model_folder)
    run.say("scoring the test texts")
    metrics, rationales = evaluate(model, data.splits.test)
    metrics |= model.shares_
    if run.stopped_by is not None:
        step, number = next(iter(model.history_[-1].items()))
        metrics["stopped_early"] = {"by": run.stopped_by, "step": step, "number": number}
    metrics = together(metrics, references_of(run, data.splits, metrics["selection_rate"]))
    lines = (json.dumps(_prediction(rationale), ensure_ascii=False) + "\n" for rationale in rationales)
    write_text(run.folder / "predictions.jsonl", "".join(lines))
    _write_card(run, data, metrics)
    write_json(run.folder / "metrics.json", metrics)
    return Outcome(metrics, rationales)


def _write_card(run: Run, data: Data, metrics: dict[str, Any]) -> None:
    """Say on the model's card what it was trained on, and how it scored."""
    scores = [(name.strip(), f"{100 * value:.2f} %", meaning) for key, name, meaning in METRICS
              if (value := metrics.get(key)) is not None]  # fmt: skip
    saved = load_folder(run.model_folder)
    card = model_card(saved, data.source.called, data.splits.rows, scores, metrics["warnings"])
    write_card(run.model_folder, card)


def changed_versions(run: Run) -> list[str]:
    """Return a sentence for every version that is not the one the run was started with."""
    then, now = run.config["versions"], versions()
    return [
        f"{name} was {then.get(name)} when this run was started and is {now[name]} now; "
        "the result may differ from an uninterrupted run's."
        for name in sorted(now)
        if then.get(name) != now[name]
    ]


def _prediction(rationale: Rationale) -> dict[str, Any]:
    document = rationale.document
    return {"id": document.id, "label": document.label, "predicted": str(rationale.label), "mask": rationale.mask}
