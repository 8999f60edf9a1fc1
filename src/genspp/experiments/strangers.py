"""What a stranger may hand over: a model folder made to do harm, and files made to fill the memory.

    python -m genspp.experiments.strangers        (or `make strangers`)

tries every one in a process of its own and writes to results/strangers.json what it said, how long it took and how
much memory. `ATTACKS` change a whole model folder, and sign it again, as its maker could. Tests run the same ones.
"""

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from genspp.experiments.hostile import HOSTILE
from genspp.experiments.reliability import STRANGERS
from genspp.experiments.results import code_version, machine
from genspp.files import sha256, write_json

COMMAND = "python -m genspp.experiments.strangers"
CANARY = "harm-was-done"  # a file that an attack makes where it succeeds
TEXT = "a goal in the soupy match"
_MODEL = ("config.json", "vocabulary.json", "weights.safetensors", "MODEL_CARD.md")
_WAIT = 600  # seconds


def sign(model: Path) -> None:
    """Write the checksums of a model folder's files as they are now, as whoever made it can."""
    sums = {name: sha256((model / name).read_bytes()) for name in _MODEL if (model / name).is_file()}
    (model / "manifest.json").write_text(json.dumps({"files": sums}))


# ---- model folders


class _Harm:
    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._canary),)


def _pickle(model: Path) -> bytes:
    return pickle.dumps(_Harm(model.parent / CANARY))


def _file(name: str, make: Callable[[Path], bytes]) -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        (model / name).write_bytes(make(model))
        sign(model)

    return attack


def _config(*path: str, value: Any) -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        config = json.loads((model / "config.json").read_bytes())
        place = config
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value(model) if callable(value) else value
        (model / "config.json").write_text(json.dumps(config))
        sign(model)

    return attack


def _weights(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        save_file(change(load_file(model / "weights.safetensors")), model / "weights.safetensors")
        sign(model)

    return attack


def _header(header: dict[str, Any]) -> Callable[[Path], bytes]:
    text = json.dumps(header).encode()
    return lambda _: struct.pack("<Q", len(text)) + text + bytes(16)


def _unsigned(model: Path) -> None:
    content = bytearray((model / "weights.safetensors").read_bytes())
    content[-1] ^= 1
    (model / "weights.safetensors").write_bytes(content)


def _link(name: str, to: str) -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        (model / name).unlink()
        (model / name).symlink_to(to)

    return attack


def _pipe(name: str) -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        (model / name).unlink()
        os.mkfifo(model / name)

    return attack


def _vectors(path: Callable[[Path], str], content: bytes = b"") -> Callable[[Path], None]:
    def attack(model: Path) -> None:
        (model.parent / "v.txt").write_bytes(content)
        file = {"path": path(model), "sha256": sha256(content)}
        _config("vectors", value={"kind": "glove:v.txt", "file": file})(model)

    return attack


def _pipe_of_vectors(model: Path) -> str:
    os.mkfifo(model.parent / "pipe")
    return str(model.parent / "pipe")


def _labels(first: str) -> Callable[[Path], list[str]]:
    return lambda model: sorted([first, *json.loads((model / "config.json").read_bytes())["classes"][1:]])


def _manifest(content: str) -> Callable[[Path], object]:
    return lambda model: (model / "manifest.json").write_text(content)


def _beside(model: Path) -> None:
    """Code and pickles that nobody asked for beside the model."""
    code = f"import os; os.mkdir({str(model.parent / CANARY)!r})"
    for name in ("__init__.py", "genspp.py", "sitecustomize.py", "torch.py", "conftest.py"):
        (model / name).write_text(code)
    for name in ("model.pkl", "pytorch_model.bin", "weights.npy"):
        (model / name).write_bytes(_pickle(model))


_BOMB = {"model.vectors": {"dtype": "F32", "shape": [10**9, 100], "data_offsets": [0, 4 * 10**11]}}
_TWICE = {name: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]} for name in ("a", "b")}
ATTACKS: dict[str, Callable[[Path], object]] = {
    "a pickle that runs a command, as the weights": _file("weights.safetensors", _pickle),
    "the same, as the settings": _file("config.json", _pickle),
    "pickles and Python files beside the model": _beside,
    "one bit of the weights changed, the manifest not": _unsigned,
    "weights that are not numbers": _weights(lambda w: {k: v * np.float32("nan") for k, v in w.items()}),
    "weights of another shape": _weights(lambda w: {k: np.ascontiguousarray(v[:1]) for k, v in w.items()}),
    "weights of another kind": _weights(lambda w: {k: v.astype(np.float64) for k, v in w.items()}),
    "weights that are missing": _weights(lambda w: {"model.vectors": w["model.vectors"]}),
    "a header that promises 400 GB": _file("weights.safetensors", _header(_BOMB)),
    "a header of 2^63 bytes": _file("weights.safetensors", lambda _: struct.pack("<Q", 2**63) + b"{}"),
    "weights that overlap": _file("weights.safetensors", _header(_TWICE)),
    "a billion hidden units": _config("settings", "hidden", value=10**9),
    "a billion units in a network": _config("networks", "predictor", "units", value=10**9),
    "a thousand predictors": _config("networks", "predictor", "members", value=1000),
    "a billion drawn tokens": _config("networks", "sampled", value=10**9),
    "a billion tokens of a text": _config("settings", "truncate", value=10**9),
    "a number of 5,000 digits": _file("config.json", lambda _: b'{"format": ' + b"9" * 5000 + b"}"),
    "lists 100,000 deep": _file("config.json", lambda _: b"[" * 10**5),
    "lists 500 deep in a setting": _config("settings", "seed", value=json.loads("[" * 500 + "]" * 500)),
    "a vocabulary 100,000 deep": _file("vocabulary.json", lambda _: b"[" * 10**5),
    "a vocabulary of one word twice": _file(
        "vocabulary.json", lambda m: json.dumps(["a"] * len(json.loads((m / "vocabulary.json").read_bytes()))).encode()
    ),
    "a method that is a path": _config("method", value="../../../tmp/evil"),
    "a method that is code": _config("method", value="__import__('os').system('true')"),
    "a tokeniser that is none": _config("settings", "tokenizer", value="os.system"),
    "a format of the future": _config("format", value=99),
    "labels that steer a terminal": _config("classes", value=_labels("\x1b]0;x\x07\x1b[2J\u202egnp")),
    "labels that are a script": _config("classes", value=_labels("<script>alert(1)</script>")),
    "a title that steers a terminal": _config("title", value="\x1b[2J"),
    "word vectors from /etc/passwd": _vectors(lambda _: "/etc/passwd"),
    "word vectors from /dev/zero": _vectors(lambda _: "/dev/zero"),
    "word vectors from a pipe that nobody writes to": _vectors(_pipe_of_vectors),
    "word vectors from a name with a zero byte": _vectors(lambda _: "v\0.txt"),
    "word vectors wider than the model's": _vectors(
        lambda model: str(model.parent / "v.txt"), b"soupy" + b" 1" * 9000 + b"\n"
    ),
    "weights that are a link to /dev/zero": _link("weights.safetensors", "/dev/zero"),
    "settings that are a link to /etc/passwd": _link("config.json", "/etc/passwd"),
    "settings that are a link to themselves": _link("config.json", "config.json"),
    "settings that are a pipe": _pipe("config.json"),
    "a manifest that is a pipe": _pipe("manifest.json"),
    "a manifest that names no file": _manifest('{"files": {}}'),
    "a manifest 100,000 deep": _manifest("[" * 10**5),
}  # fmt: skip


# ---- each in a process of its own

_CHILD = """
import re
import sys
from pathlib import Path
from genspp.errors import GenSPPError
try:
    if sys.argv[1] == "read":
        from genspp.experiments.hostile import read
        read(Path(sys.argv[2]))
    else:
        from genspp.app.predict import open_explainer
        from genspp.report.explained import page
        from genspp.report.terminal import Screen, print_rationales
        model, _ = open_explainer(Path(sys.argv[2]))
        found = model.explain([sys.argv[3]])
        print_rationales(Screen(), found)
        assert "<script>alert" not in page(found, model.method)
except GenSPPError as error:
    print("refused:", error)
print(re.search("VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1])
"""


def _tried(arguments: list[str], hidden: Path) -> dict[str, Any]:
    started = time.monotonic()
    typed = [sys.executable, "-c", _CHILD, *arguments]
    done = subprocess.run(typed, capture_output=True, text=True, timeout=_WAIT, cwd=hidden, check=False)
    lines = (done.stdout + done.stderr).replace(f"{hidden}/", "").strip().splitlines()
    said = [line for line in lines if line.startswith("refused: ")]
    if done.returncode or "\x1b" in done.stdout + done.stderr or (hidden / CANARY).exists():
        outcome = f"WRONG: {lines[-1:]}"
    else:
        outcome = said[0].removeprefix("refused: ") if said else "works as before"
    memory = None if done.returncode else round(int(done.stdout.split()[-1]) / 1e3, 1)
    return {"outcome": outcome, "seconds": round(time.monotonic() - started, 1), "peak_memory_mb": memory}


def attack(model: Path, folder: Path, name: str) -> Path:
    """Copy a model folder into another one, and do to it what an attack does; return where it is."""
    shutil.copytree(model, folder / "model")
    ATTACKS[name](folder / "model")
    return folder / "model"


def tried_attacks() -> dict[str, Any]:
    """Try what may be done to a model folder."""
    from genspp.methods import METHODS

    found = dict[str, Any]()
    with tempfile.TemporaryDirectory() as place:
        base = Path(place).resolve()
        texts, labels = ["a goal in the match", "some soup and bread"] * 6, ["sport", "food"] * 6
        METHODS["rnp"](hidden=4, max_epochs=1, workers=1).fit(texts, labels).save(base / "model")
        for number, name in enumerate(ATTACKS):
            folder = base / str(number)
            folder.mkdir()
            found[name] = _tried(["explain", str(attack(base / "model", folder, name)), TEXT], folder)
            print(f"{name}: {found[name]}", flush=True)
    return found


def tried_files() -> dict[str, Any]:
    """Try the files that are made to fill the memory."""
    found = dict[str, Any]()
    for name, hostile in HOSTILE.items():
        with tempfile.TemporaryDirectory() as place:
            path = Path(place).resolve() / f"t.{hostile.ending}"
            hostile.write(path, hostile.size)
            size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else (path,)))
            found[name] = {"ending": hostile.ending, "bytes": size, **_tried(["read", str(path)], path.parent)}
            print(f"{name}: {found[name]}", flush=True)
    return found


def strangers() -> dict[str, Any]:
    """Try all of it."""
    head = {"command": COMMAND, "code": code_version(), "machine": machine()}
    with ProcessPoolExecutor(2) as pool:
        attacks, files = pool.submit(tried_attacks), pool.submit(tried_files)
        return {**head, "attacks": attacks.result(), "files": files.result()}


def main() -> int:
    """Run as a program."""
    found = strangers()
    write_json(Path("results") / STRANGERS, found)
    tried = [*found["attacks"].values(), *found["files"].values()]
    return 1 if any(one["outcome"].startswith("WRONG") for one in tried) else 0


if __name__ == "__main__":
    sys.exit(main())
