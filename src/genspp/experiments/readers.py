"""Every reader of files, as a fuzzer calls it: some bytes in, and either they are read or an error of ours comes out.

Where a reader needs several files, the bytes are these files with `CUT` between them. `seeds` are bytes that are read.
"""

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np

from genspp.data.columns import Columns
from genspp.data.formats import FORMATS
from genspp.data.records import read_records, read_unlabelled
from genspp.data.sources import find_source
from genspp.data.vector_file import read_vector_file
from genspp.errors import GenSPPError
from genspp.model.folder import load_folder

CUT = b"\n=====\n"
_TEXTS = ["a goal in the match", "some soup and bread", "the coach saw it", "salt in the soup"]
_LABELS = ["sport", "food", "sport", "food"]
_MODEL = ("config.json", "vocabulary.json", "weights.safetensors")
_RUN = ("config.json", "log.jsonl", "metrics.json", "checkpoint.safetensors")
_BOOK = ("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels",
         "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml")  # fmt: skip


class Reader(NamedTuple):
    """A reader. read: takes bytes and a folder to write them to. seeds: returns bytes that it can read."""

    read: Callable[[bytes, Path], None]
    seeds: Callable[[], list[bytes]]


def _write(folder: Path, names: tuple[str, ...], content: bytes) -> None:
    parts = content.split(CUT)
    for name, part in zip(names, [*parts, *[b""] * len(names)], strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(part)


# ---- tables


def _table(ending: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, folder: Path) -> None:
        path = folder / f"t.{ending}"
        path.write_bytes(_book(content) if ending == "xlsx" else content)
        try:
            read_records(path, Columns())
        except GenSPPError:
            read_records(path, Columns(), on_bad_row="skip")
        rows = read_unlabelled(path, on_bad_row="skip")
        for name in (ending, "csv", "jsonl"):
            FORMATS[name].write(rows.rows)

    return read


def _book(content: bytes) -> bytes:
    """Return a workbook: its bytes as they are, or its parts put together, so that a fuzzer gets past the checksums."""
    if content.startswith(b"PK"):
        return content
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for name, part in zip(_BOOK, content.split(CUT), strict=False):
            archive.writestr(name, part)
    return file.getvalue()


def _rows() -> list[dict[str, Any]]:
    highlights = ([[0, 6]], [0, 1, 0, 1], [1, 2], None)
    return [
        {"id": number, "text": text, "label": label, "highlight": highlight, "split": part}
        for number, (text, label, highlight, part) in enumerate(
            zip(_TEXTS, _LABELS, highlights, ("train", "train", "val", "test"), strict=True)
        )
    ]


def _table_seeds(ending: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        plain = [{name: row[name] for name in ("text", "label")} for row in _rows()]
        tokens = [{"tokens": row["text"].split(), "label": row["label"], "highlight": [0, 1]} for row in _rows()]
        masked = [{**row, "highlight": row["text"].split().index(row["text"].split()[-1])} for row in _rows()]
        tables = [plain, tokens] if ending == "parquet" else [plain, _rows(), tokens, masked]
        found = [FORMATS[ending].write(rows) for rows in tables]
        if ending in ("csv", "tsv"):
            found += [content.replace(b",", b";") for content in found] + [b'text,label\n"a ""b""\nc",x\n']
        return [*found, *([_parts(content) for content in found] if ending == "xlsx" else [])]

    return seeds


def _parts(content: bytes) -> bytes:
    with ZipFile(io.BytesIO(content)) as archive:
        return CUT.join(archive.read(name) if name in archive.namelist() else b"" for name in _BOOK)


# ---- word vectors


def _read_vectors(content: bytes, folder: Path) -> None:
    path = folder / "v.txt"
    path.write_bytes(content)
    try:
        read_vector_file(path)
    finally:
        read_vector_file(path, ["goal", "soup", "new york"])


def _vector_seeds() -> list[bytes]:
    lines = b"goal 0.1 -2 3e-1\nsoup 1 2 3\nnew york 4 5 6\n"
    return [lines, b"3 3\n" + lines, b"\n" + lines.replace(b"\n", b"\r\n")]


# ---- data sets


def _read_eraser(content: bytes, folder: Path) -> None:
    _write(folder, ("train.jsonl", "docs/d", "docs.jsonl"), content)
    for part in ("val", "test"):
        (folder / f"{part}.jsonl").write_bytes((folder / "train.jsonl").read_bytes())
    if not (folder / "docs.jsonl").stat().st_size:
        (folder / "docs.jsonl").unlink()
    find_source(f"eraser:{folder}").load()


def _eraser_seeds() -> list[bytes]:
    piece = {"docid": "d", "start_token": 0, "end_token": 2, "text": "a goal"}
    rows = [
        {"annotation_id": "1", "query": "is it sport ?", "classification": "yes", "evidences": [[piece]]},
        {"annotation_id": "d", "query": None, "classification": "no", "evidences": []},
        {"annotation_id": "3", "classification": True, "docids": ["d"], "evidences": None},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    document = b'{"docid": "d", "document": "a goal\\nin the match"}\n'
    return [CUT.join((lines, b"a goal\nin the match .\n")), CUT.join((lines, b"", document))]


def _read_hatexplain(content: bytes, folder: Path) -> None:
    _write(folder, ("dataset.json", "post_id_divisions.json"), content)
    find_source(f"hatexplain:{folder}").load()


def _hatexplain_seeds() -> list[bytes]:
    def post(label: str, rationales: list[list[int]]) -> dict[str, Any]:
        annotators = [{"label": label, "annotator_id": number, "target": ["None"]} for number in range(3)]
        return {"post_id": "p", "annotators": annotators, "rationales": rationales, "post_tokens": ["a", "b", "c"]}

    posts = {
        "p": post("normal", []),
        "q": post("hatespeech", [[0, 1, 1], [1, 1, 0]]),
        "r": post("offensive", [[1, 0, 0]]),
    }
    parts = {"train": ["p", "q"], "val": ["q"], "test": ["r", "p"]}
    return [CUT.join((json.dumps(posts).encode(), json.dumps(parts).encode()))]


# ---- folders


def _read_model(content: bytes, folder: Path) -> None:
    from genspp.app.predict import open_explainer

    _write(folder, _MODEL, content)
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in _MODEL}
    (folder / "manifest.json").write_text(json.dumps({"files": sums}))
    open_explainer(folder)[0].explain(["a goal in the soupy match", "zz"])


@cache
def _made() -> tuple[bytes, ...]:
    """Return a model folder, one as earlier versions wrote it, and a run folder."""
    from genspp.app.configure import configure
    from genspp.app.runs import Run, read_checkpoint
    from genspp.methods import METHODS

    with TemporaryDirectory() as name:
        folder = Path(name)
        asked: dict[str, Any] = {"hidden": 4, "max_epochs": 1, "workers": 1}
        METHODS["rnp"](**asked).fit(_TEXTS * 3, _LABELS * 3).save(folder / "model")
        model = [(folder / "model" / name).read_bytes() for name in _MODEL]
        load_folder(folder / "model")
        config = json.loads(model[0])
        older = json.dumps({**config, "format": 2, "networks": None}).encode()
        table = folder / "t.csv"
        table.write_bytes(
            FORMATS["csv"].write([{"text": t, "label": k} for t, k in zip(_TEXTS, _LABELS, strict=True)] * 9)
        )
        run = Run.create(folder / "run", configure(str(table), "rnp", **asked)[0])
        run.record({"epoch": 0, "seconds": 0.1}, {"history": [], "weights.0": np.zeros(3, np.float32)}, 1)
        figures = {"clf_f1": 0.5, "selection_rate": 0.2, "stopped_early": {"by": "time", "step": "epoch", "number": 0}}
        (folder / "run" / "metrics.json").write_text(json.dumps(figures))
        kept = [(folder / "run" / name).read_bytes() for name in _RUN]
        state = read_checkpoint(folder / "run" / _RUN[-1])
    values = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in state.items()}
    return (
        CUT.join(model),
        CUT.join([older, *model[1:]]),
        CUT.join(kept),
        CUT.join([*kept[:-1], json.dumps(values).encode()]),
    )


def _state(values: Any) -> dict[str, Any]:
    """Return JSON values as the state of a checkpoint, lists of numbers as arrays."""
    if not isinstance(values, dict):
        return {}
    numbers = {name: value for name, value in values.items() if isinstance(value, list) and value}
    arrays = {name: np.array(value) for name, value in numbers.items() if all(type(item) is float for item in value)}
    return values | arrays


def _read_run(content: bytes, folder: Path) -> None:
    from genspp.app.configure import estimator_of
    from genspp.app.runs import Run, write_checkpoint
    from genspp.app.train import changed_versions

    _write(folder, _RUN, content)
    checkpoint = folder / "checkpoint.safetensors"
    with suppress(ValueError, RecursionError):  # what one holds, so that a fuzzer gets past the checksum
        write_checkpoint(checkpoint, _state(json.loads(checkpoint.read_bytes())))
    run = Run.open(folder)
    for ask in (run.metrics, run.lines, run.restore, run.enough):
        try:
            ask()
        except GenSPPError:
            continue
    changed_versions(run)
    find_source(str(run.config["data"].get("source")))
    estimator_of(run)


READERS: dict[str, Reader] = {
    **{ending: Reader(_table(ending), _table_seeds(ending)) for ending in ("csv", "tsv", "jsonl", "xlsx", "parquet")},
    "GloVe": Reader(_read_vectors, _vector_seeds),
    "ERASER": Reader(_read_eraser, _eraser_seeds),
    "HateXplain": Reader(_read_hatexplain, _hatexplain_seeds),
    "model folder": Reader(_read_model, lambda: list(_made()[:2])),
    "run folder": Reader(_read_run, lambda: list(_made()[2:])),
}
