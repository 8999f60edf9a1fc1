"""Work on other machines, by Ray: where they are, that their code is ours, and what becomes of work that is lost.

A place is typed `ray`, for a cluster that is started on this machine, or `ray:ADDRESS`, for one that there is. All that
is sent there are functions of their arguments and of nothing else, so that a worker that dies costs time and changes
nothing: Ray does again what it had not finished.
"""

import logging
import os
import platform
import socket
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import genspp
from genspp.errors import GenSPPError, RunError, SettingsError
from genspp.settings import Check, optional

HERE = "ray"
TRIES = 20  # again; beyond, it is the work that kills its workers
_WORDS = "ray, for a cluster on this machine, or ray:HOST:PORT, for one that this machine belongs to"

_GUARD = "RAY_AUTH_MODE"
_PATIENCE = 10.0  # seconds that a cluster may take to answer

Promise = Any  # Ray's reference to what is being computed, or was put


def _is_place(typed: Any) -> bool:
    head, colon, address = typed.partition(":") if isinstance(typed, str) else ("", "", "")
    return head == HERE and bool(colon) == bool(address) and not address.startswith("//")


PLACE: Check = optional((_is_place, _WORDS))


class Cluster:
    """A cluster that this process is connected to, until it ends."""

    def __init__(self, place: str, workers: int | None = None) -> None:
        # `ray start` guards a cluster by Ray's token, where there is one on its machine; who joins must be told of it.
        guarded = place != HERE and os.path.exists(os.path.expanduser("~/.ray/auth_token"))
        self._told = guarded and _GUARD not in os.environ
        if self._told:
            os.environ[_GUARD] = "token"
        self.place, self._ray = place, _import_ray()
        self._last: tuple[tuple[Any, ...], Promise] = ((), None)
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._start(workers)
        self._work = self._ray.remote(num_cpus=1, max_retries=TRIES)(_work)

    def _start(self, workers: int | None) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._look()
                if self.place == HERE:
                    self._ray.init("local", num_cpus=workers or os.cpu_count(), include_dashboard=False, **quiet)
                else:
                    self._ray.init(self.place.partition(":")[2], **quiet)
            except Exception as error:  # Ray's are of many kinds
                if self._told:  # a cluster of our own, later, sees to that itself
                    os.environ.pop(_GUARD, None)
                if self.place == HERE:
                    raise RunError(f"no cluster could be started ({_first_line(error)}); leave out --on.") from None
                raise RunError(
                    f"no cluster could be joined at {self.place} ({_first_line(error)}); start one with `ray start`, "
                    "or give the address that it told."
                ) from None

    def _look(self) -> None:
        """See whether there is anybody at an address; Ray would wait for it for ever."""
        host, colon, port = self.place.removeprefix(f"{HERE}:").rpartition(":")
        if colon:
            socket.create_connection((host, int(port)), timeout=_PATIENCE).close()

    @property
    def slots(self) -> int:
        """How many pieces of work are done at once."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def put(self, value: Any) -> Promise:
        """Put a value where all workers find it."""
        return self._ray.put(value)

    def put_once(self, *parts: Any) -> Promise:
        """Put parts where all workers find them; those that were put last are there already."""
        if len(parts) != len(self._last[0]) or any(a is not b for a, b in zip(parts, self._last[0], strict=True)):
            self._last = parts, self.put(parts)
        return self._last[1]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Promise:
        """Have a function of this package done by some worker; an argument that was put arrives as it was."""
        return self._work.remote(code(), function, *arguments)

    def actor(self, kind: type[Any]) -> Any:
        """Return an object of a class without arguments, on this machine, that all workers can call."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        return (
            self._ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(kind)
            .options(scheduling_strategy=here)
            .remote()
        )

    def gather(self, promised: Sequence[Promise]) -> list[Any]:
        """Return what was promised, when it is done; where a part fails, or nobody waits any more, drop the rest.

        Ray drops all work of who leaves. (`ray.cancel` may end this process where work ends at the same moment.)
        """
        try:
            return list(self._ray.get(list(promised)))
        except BaseException as error:
            said = self.in_our_words(error)
            if self._ours:
                self._ray.shutdown()
            raise said from None

    def in_our_words(self, error: BaseException) -> BaseException:
        """Return an error of ours as a worker raised it, a sentence for what Ray could not mend, others as they are."""
        from ray.exceptions import RayError, RayTaskError

        if isinstance(error, RayTaskError):
            return error.cause if isinstance(error.cause, GenSPPError) else error
        if isinstance(error, RayError):
            return RunError(
                f"{self.place} gave a piece of work up ({type(error).__name__}: {_first_line(error)}); see to the "
                "cluster, and go on from what is saved."
            )
        return error


_connected: Cluster | None = None


def connect(place: str, workers: int | None = None) -> Cluster:
    """Return the cluster of a place; this process is connected to one at most. workers: cores, where it is started.

    Who is connected by Ray's own means already stays so.
    """
    global _connected  # noqa: PLW0603 - Ray's connection is the process's, too
    if not _is_place(place):
        raise SettingsError(f"on is {place!r}; it takes {_WORDS}.")
    if _connected is not None and (_connected.place != place or not _import_ray().is_initialized()):
        _import_ray().shutdown()
        _connected = None
    if _connected is None:
        _connected = Cluster(place, workers)
    return _connected


def fetch(promise: Promise) -> Any:
    """Return, on a worker, what was put."""
    return _import_ray().get(promise)


# Ray is to ask no other machine for anything, and not to write to standard output, where a table may be expected. Where
# it is started here, its workers are as urgent as we are: by default, everybody else goes first.
_MANNERS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": ".", "RAY_worker_niceness": "0"}


def _import_ray() -> Any:
    for name, value in _MANNERS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError:
        raise SettingsError(
            "work can be done on Ray only where that is installed; install genspp[ray], or leave out --on."
        ) from None
    return ray


# ---- on a worker


@cache
def code() -> dict[str, str]:
    """Return what a result depends on besides its arguments: the versions of all code, and the kind of processor."""
    digest, package = sha256(), Path(genspp.__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    libraries = {name: version(name) for name in ("numpy", "numba", "torch")}
    return {"genspp": f"{genspp.__version__} ({digest.hexdigest()[:12]})", **libraries, "machine": platform.machine()}


def _work(wanted: dict[str, str], function: Callable[..., Any], *arguments: Any) -> Any:
    """Do a piece of work, if the code here is that of who asks for it."""
    for name, here in code().items():
        if wanted[name] != here:
            raise RunError(
                f"the worker {platform.node()} has {name} {here}, and this machine {wanted[name]}; "
                "install the same on all machines of the cluster."
            )
    return function(*arguments)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
