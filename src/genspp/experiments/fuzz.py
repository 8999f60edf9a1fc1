"""Readers of files under a coverage-guided fuzzer (atheris): nothing but our own errors may come out of any.

    python -m genspp.experiments.fuzz --minutes 10 [READER...]        (or `make fuzz`)

runs every reader for so long, each in a process of its own and as many at once as there are cores, from its seeds and
from all that was found before, and writes to results/fuzz.json how often it was run and what came out. What is found is
printed with the bytes that lead there: a line for tests/fuzz_finds.jsonl, which a test then runs for ever.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, cast

from genspp.errors import GenSPPError

FILE = "fuzz.json"
FINDS = Path("tests/fuzz_finds.jsonl")
COMMAND = "python -m genspp.experiments.fuzz"
MEMORY_MB = 3_000  # that a reader may take for a file of this size
SLOWEST = 20  # seconds for one file
LONGEST = 60_000  # bytes of a file
_FOLLOWED = [
    "genspp.data",
    "genspp.model.folder",
    "genspp.model.saved",
    "genspp.app.runs",
    "openpyxl",
    "zipfile",
    "csv",
]


def known_finds(path: Path = FINDS) -> list[dict[str, str]]:
    """Return what was found so far: by reader, what came out and the bytes, in base 64."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def content_of(find: dict[str, str]) -> bytes:
    """Return the bytes of a find."""
    return base64.b64decode(find["content"])


def _place(error: BaseException) -> str:
    """Return which error it is, and the last line of ours that it came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "genspp" in frame.filename]
    last = frames[-1] if frames else None
    where = "" if last is None else f" in {Path(last.filename).name}, {last.name}"
    return f"{type(error).__name__}{where}"


# ---- in the process of one reader


def fuzz_one(name: str, seconds: int, folder: Path) -> None:
    """Fuzz one reader; what comes out of it goes to `folder`/finds, one file per kind. Does not return."""
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=_FOLLOWED, enable_loader_override=False):
        from genspp.experiments.readers import READERS
    read, seeds = READERS[name]
    finds, corpus, scratch = folder / "finds", folder / "corpus", folder / "scratch"
    for place in (finds, corpus):
        place.mkdir(exist_ok=True)
    for content in [*seeds(), *(content_of(find) for find in known_finds() if find["reader"] == name)]:
        (corpus / hashlib.sha256(content).hexdigest()).write_bytes(content)

    def once(content: bytes) -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            read(content, scratch)
        except GenSPPError:
            pass
        except Exception as error:
            kept = finds / hashlib.sha256(_place(error).encode()).hexdigest()
            if not kept.exists():
                kept.write_text(_line(name, _place(error), content))

    options = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={SLOWEST}", f"-max_len={LONGEST}"]
    asked = [sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)]

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        changed = odd_value(content, random) if random.random() < 0.5 else None
        return changed[:most] if changed else bytes(atheris.Mutate(content, most))

    atheris.Setup(asked, once, custom_mutator=mutate)
    atheris.Fuzz()


_CUT = b"(\n=====\n)"  # between the files of a folder (see `readers`)
_ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "0",
    "\x00", "\ud800", "\x1b[2J", "a" * 5000, "../../etc/passwd", "/dev/null", [], [[]], [0], [[0, 1]], [0, 1, 1], ["a"],
    {}, {"a": 1},
)  # fmt: skip


def odd_value(content: bytes, random: Random) -> bytes | None:
    """Return bytes in which one value of one JSON text, a line or a part, is another; None where there is no JSON."""
    for between in (_CUT, b"(\n)"):  # a whole file, or a line of it
        pieces = re.split(between, content)
        places = [place for place, piece in enumerate(pieces) if piece[:1] in (b"{", b"[")]
        random.shuffle(places)
        for place in places:
            try:
                value = json.loads(pieces[place])
            except (ValueError, RecursionError):
                continue
            pieces[place] = json.dumps(_changed(value, random)).encode()
            return b"".join(pieces)
    return None


def _changed(value: Any, random: Random) -> Any:
    """Return a JSON value with something in it changed, taken away or repeated."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.1:
        return random.choice(_ODD)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, copy = random.choice(keys), cast(Any, value.copy())
    what = random.random()
    if what < 0.1:
        del copy[key]
    elif what < 0.2 and isinstance(copy, list):
        copy += [copy[key]] * random.choice((1, 3, 100))
    elif what < 0.2:
        copy[random.choice(("text", "label", "id", "format", ""))] = copy[key]
    else:
        copy[key] = _changed(copy[key], random)
    return copy


def _line(reader: str, what: str, content: bytes) -> str:
    return json.dumps({"reader": reader, "what": what, "content": base64.b64encode(content).decode()})


# ---- around these processes


def fuzz(name: str, seconds: int) -> dict[str, Any]:
    """Fuzz one reader for so long; return how often it was run, what was covered and what was found."""
    executions, covered, finds, started = 0, 0, list[dict[str, str]](), time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        folder = Path(place)
        while (rest := seconds - round(time.monotonic() - started)) > 0:
            typed = [sys.executable, "-m", "genspp.experiments.fuzz", "--one", name, str(rest), str(folder)]
            done = subprocess.run(typed, capture_output=True, text=True, errors="replace", check=False)
            executions += sum(map(int, re.findall(r"Done (\d+) runs", done.stderr)[-1:] or _last(done.stderr)))
            covered = max([covered, *map(int, re.findall(r"cov: (\d+)", done.stderr))])
            ended = [path for path in folder.iterdir() if path.name.startswith(("crash-", "timeout-", "oom-"))]
            for path in ended:  # what no exception came out of
                finds.append(
                    json.loads(_line(name, f"the process ended ({path.name.partition('-')[0]})", path.read_bytes()))
                )
                path.unlink()
            if done.returncode and not ended:
                raise RuntimeError(f"the fuzzer of {name} failed: {done.stderr[-2000:]}")
        finds += [json.loads(path.read_text()) for path in sorted((folder / "finds").glob("*"))]
    return {"seconds": round(time.monotonic() - started), "executions": executions, "covered": covered, "open": finds}


def _last(said: str) -> list[str]:
    return re.findall(r"^#(\d+)", said, re.MULTILINE)[-1:]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description="Fuzz the readers of files.")
    parser.add_argument("readers", nargs="*", help="which ones (all)")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # how the program starts itself
    asked = parser.parse_args(arguments)
    if asked.one:
        fuzz_one(asked.one[0], int(asked.one[1]), Path(asked.one[2]))
    # Not before: what is imported already is not followed.
    from genspp.experiments.readers import READERS
    from genspp.experiments.results import code_version, machine
    from genspp.files import write_json

    def fuzzed(name: str) -> dict[str, Any]:
        found = fuzz(name, round(60 * asked.minutes))
        told = {key: value for key, value in found.items() if key != "open"}
        print("\n".join([f"{name}: {told}", *(json.dumps(find) for find in found["open"])]), flush=True)
        return found

    names = tuple(asked.readers or READERS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(names, pool.map(fuzzed, names), strict=True))
    if not asked.readers:
        head = {"command": f"{COMMAND} --minutes {asked.minutes:g}", "code": code_version(), "machine": machine()}
        for one in found.values():
            one["open"] = [find["what"] for find in one["open"]]
        write_json(Path("results") / FILE, {**head, "readers": found})
    return 1 if any(one["open"] for one in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
