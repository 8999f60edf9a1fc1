"""A small trained model, and a server of it in a process of its own, for the tests of `genspp serve`."""

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import interruptible, sentences
from genspp.methods import METHODS, Rationalizer


def trained(**settings: Any) -> Rationalizer:
    """Return a word list that knows which words decide."""
    return METHODS["wordlist"](hidden=8, lists=3, workers=1, **settings).fit(*sentences(240))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder at a free port, and yield its address; at the end Ctrl-C is typed, and it must end in peace."""
    command = [sys.executable, "-c", "from genspp.cli import main; main()", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible) as process:
        try:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"^open (http://127.0.0.1:\d+) in a browser; Ctrl-C ends it\n", said, re.M)):
                line = process.stderr.readline()
                if not line:
                    raise RuntimeError(f"it ended: {said}")
                said += line
            with urllib.request.urlopen(f"{found[1]}/schema") as answer:  # it is there
                answer.read()
            yield found[1]
            process.send_signal(signal.SIGINT)
            ended = process.stderr.read(), process.wait(60)
            if ended != ("stopped.\n", 0):
                raise RuntimeError(ended)
        finally:
            process.kill()
