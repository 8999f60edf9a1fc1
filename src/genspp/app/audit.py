"""A finished run audited: six questions about its highlights, with the answers in its folder."""

from pathlib import Path

from genspp.app.configure import data_of
from genspp.app.predict import open_model
from genspp.app.runs import Run
from genspp.errors import RunError
from genspp.evaluation.answers import Audit
from genspp.evaluation.audit import audit
from genspp.evaluation.verdicts import to_json
from genspp.files import write_json


def audit_folder(folder: Path) -> Audit:
    """Audit a finished run on its own rows, and write all that is found to `audit.json` in its folder."""
    if (folder / "manifest.json").exists():
        raise RunError("a model folder by itself has no rows to audit it on; give the run folder that it is in.")
    run = Run.open(folder)
    if not run.finished:
        raise RunError(f"{folder} is not finished; finish it with `genspp resume {folder}`, then audit it.")
    model, _ = open_model(folder)
    found = audit(model, data_of(run).splits)
    write_json(folder / "audit.json", to_json(found))
    return found
