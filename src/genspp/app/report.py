"""The report of a finished run, or of two beside each other: gathered from their folders and written as one page."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from genspp.app.audit import audit_run
from genspp.app.command import train_command
from genspp.app.configure import Data, data_of
from genspp.app.evaluate import evaluate_run
from genspp.app.predict import open_finished
from genspp.app.runs import Run
from genspp.app.train import Outcome
from genspp.errors import SettingsError
from genspp.evaluation.answers import Audit
from genspp.evaluation.verdicts import from_json
from genspp.files import write_text
from genspp.methods.base import METHODS
from genspp.model.rationale import Rationale
from genspp.report.html import comparison_page, report_page
from genspp.report.run_report import Finished
from genspp.report.terminal import early_end


def write_report(folders: Sequence[Path], out: Path | None = None) -> Path:
    """Write the report of a finished run, audited where it is not yet, or the comparison of two; return where it is."""
    if len(folders) == 1:
        made, name = report_page(_gather(folders[0], audited=True)), "report.html"
    elif len(folders) == 2:
        first, second = (_gather(folder) for folder in folders)
        made, name = comparison_page(first, second), "comparison.html"
    else:
        raise SettingsError(f"there are {len(folders)} run folders; give one to report on, or two to compare.")
    path = out or folders[0] / name
    write_text(path, made)
    return path


def report_outcome(run: Run, data: Data, outcome: Outcome) -> Path:
    """Write the report of a run that has just come to its end into its folder; it is not audited for that."""
    path = run.folder / "report.html"
    write_text(path, report_page(_finished(run, data, outcome.metrics, outcome.rationales, _read_audit(run))))
    return path


def _gather(folder: Path, audited: bool = False) -> Finished:
    run, model = open_finished(folder)
    data, audit = data_of(run), _read_audit(run)
    metrics, rationales = evaluate_run(model, run, data.splits)
    if audit is None and audited:
        audit = audit_run(run, model, data.splits)
    return _finished(run, data, metrics, rationales, audit)


def _finished(
    run: Run, data: Data, metrics: dict[str, Any], rationales: list[Rationale], audit: Audit | None
) -> Finished:
    name, log = run.folder.resolve().name, run.lines()
    method, wanted = METHODS[run.config["method"]].title, run.config["settings"].get("evidence_for")
    return Finished(
        name=name,
        title=f"{method} on {data.source.called}",
        header={
            "Data": _data_line(run, data),
            "Method": _method_line(run),
            **({"Evidence": f"wanted of {_named(wanted)}"} if wanted is not None else {}),
            "Seed": str(run.config["settings"]["seed"]),
            "Command": train_command(run, len(rationales[0].probabilities)),
            "Time": _time_line(run, metrics),
            "Run": f"{name}, made with genspp {run.config['versions'].get('genspp')}",
        },
        tokenizer=data.splits.tokenizer,
        metrics=metrics,
        rationales=rationales,
        log=log,
        repeated=len(data.splits.repeated()["test"]),
        audit=audit,
        evidence_for=wanted,
    )


def _named(labels: Sequence[Any]) -> str:
    return ", ".join(f"“{label}”" for label in labels)


def _data_line(run: Run, data: Data) -> str:
    rows, columns = data.splits.rows, {**run.config["data"]["columns"], "highlight_form": None}
    named = [f"{name} in “{column}”" for name, column in columns.items() if column is not None]
    counts = f"{rows['train']:,} training, {rows['val']:,} validation and {rows['test']:,} test texts"
    if (most := run.config["settings"].get("truncate")) is not None:
        named.append(f"of every text its first {most} tokens at most")
    return "; ".join([f"{data.source.command}: {counts}", *named])


def _method_line(run: Run) -> str:
    settings = run.config["settings"]
    search = f", search {settings['search']}" if "search" in settings else ""
    return f"{METHODS[run.config['method']].title}, preset {settings['preset']}{search}"


def _time_line(run: Run, metrics: dict[str, Any]) -> str:
    """Return how long training took, what ended it before its own end, and when the figures were written."""
    ended = datetime.fromtimestamp((run.folder / "metrics.json").stat().st_mtime, UTC)
    seconds = round(run.logged_seconds())
    took = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    stopped = f", {early_end(metrics)}" if "stopped_early" in metrics else ""
    return f"{took} of training{stopped}; figures of {ended:%Y-%m-%d %H:%M} UTC"


def _read_audit(run: Run) -> Audit | None:
    """Return what an audit found; None where there was none, or one of another version."""
    try:
        return from_json(json.loads((run.folder / "audit.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
