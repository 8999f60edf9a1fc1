"""A finished run audited: six questions about its highlights, with the answers in its folder."""

from pathlib import Path

from genspp.app.configure import data_of
from genspp.app.predict import open_finished
from genspp.app.runs import Run
from genspp.data.corpus import Splits
from genspp.evaluation.answers import Audit
from genspp.evaluation.audit import audit
from genspp.evaluation.verdicts import to_json
from genspp.files import write_json
from genspp.methods.base import Rationalizer


def audit_folder(folder: Path) -> Audit:
    """Audit a finished run on its own rows, and write all that is found to `audit.json` in its folder."""
    run, model = open_finished(folder)
    return audit_run(run, model, data_of(run).splits)


def audit_run(run: Run, model: Rationalizer, splits: Splits) -> Audit:
    """Audit a run whose model and rows are at hand."""
    found = audit(model, splits)
    write_json(run.folder / "audit.json", to_json(found))
    return found
