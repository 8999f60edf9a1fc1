"""How fast are the gradient methods? `make bench-gradient`.

An epoch of every method on Toy, training and validation, on one core; an epoch of FR written with torch's own modules
and optimizer, in the same run, so that the ratio holds on a noisy machine; and one whole run of FR, as
`genspp train toy --method fr --seed 1` does it.
"""

import argparse
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F

from genspp.app.configure import configure
from genspp.app.runs import Run
from genspp.app.train import proceed
from genspp.data.encode import Encoded
from genspp.experiments.population_bench import toy_task
from genspp.experiments.results import code_version, machine
from genspp.files import write_json
from genspp.methods import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.model.inference import one_thread
from genspp.population.evaluator import epoch_order

EPOCHS = 5  # measured, after one that compiles what there is to compile


class TorchFR(nn.Module):
    """FR on texts of one length, by torch alone. settings: those of `FR`."""

    def __init__(self, table: Tensor, classes: int, settings: dict[str, Any]) -> None:
        super().__init__()
        self.table, self.settings, hidden = table, settings, settings["hidden"]
        self.gru = nn.GRU(table.shape[1], hidden, bidirectional=True, batch_first=True)
        self.norm = nn.LayerNorm(2 * hidden)
        self.choose, self.classify = nn.Linear(2 * hidden, 2), nn.Linear(2 * hidden, classes)

    def forward(self, ids: Tensor, drawn: bool) -> tuple[Tensor, Tensor]:
        """Return the mask, (texts, tokens), and the class logits."""
        vectors = self.table[ids]
        logits = self.choose(self.norm(self.gru(vectors)[0]))
        mask = F.gumbel_softmax(logits, hard=True)[..., 1] if drawn else (logits[..., 1] > logits[..., 0]).float()
        return mask, self.classify(self.norm(self.gru(vectors * mask.unsqueeze(-1))[0]).max(1).values)

    def loss(self, ids: Tensor, labels: Tensor, drawn: bool) -> Tensor:
        """Return task loss, sparsity and contiguity."""
        mask, logits = self.forward(ids, drawn)
        alpha, lambda_s, lambda_c = (float(self.settings[name]) for name in ("alpha", "lambda_s", "lambda_c"))
        omega = lambda_s * (mask.mean() - alpha).abs() + lambda_c * mask.diff(dim=1).abs().mean()
        return F.cross_entropy(logits, labels) + omega


def torch_epochs(count: int) -> list[float]:
    """Return the seconds of some epochs of `TorchFR`."""
    task, settings = toy_task(), configure("toy", "fr")[0]["settings"]
    table = torch.from_numpy(task.vectors)[:, : settings["vector_width"]].clone()
    model = TorchFR(table, task.shape.classes, settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["learning_rate"], fused=True)
    (ids, labels), (val_ids, val_labels) = _tensors(task.train), _tensors(task.val)
    seconds = []
    for epoch in range(count):
        started = perf_counter()
        order = torch.from_numpy(epoch_order(0, epoch, len(ids)))
        for rows in order.split(settings["batch_size"]):  # type: ignore[no-untyped-call]
            optimizer.zero_grad()
            model.loss(ids[rows], labels[rows], drawn=True).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.inference_mode():
            model.loss(val_ids, val_labels, drawn=False)
        seconds.append(perf_counter() - started)
    return seconds


def _tensors(data: Encoded) -> tuple[Tensor, Tensor]:
    ids, _ = data.padded(np.arange(len(data)))
    return torch.from_numpy(ids), torch.from_numpy(data.labels.astype(np.int64))


class _Clock:
    """A recorder that keeps the seconds of every epoch, and ends the training after some."""

    def __init__(self, epochs: int) -> None:
        self.epochs, self.seconds = epochs, list[float]()

    def restore(self) -> None:
        """Start anew."""

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Note the seconds."""
        self.seconds.append(line["seconds"])
        if len(self.seconds) == self.epochs:
            raise _EnoughError


class _EnoughError(Exception):
    """All epochs are measured."""


def method_epochs(method: str, count: int) -> list[float]:
    """Return the seconds of some epochs of a method on Toy; those of G-RAT after its pre-training."""
    before: dict[str, Any] = {"pretrain_epochs": 0} if method == "grat" else {}
    config, data = configure("toy", method, seed=1, **before)
    clock, parts = _Clock(count), data.splits
    with suppress(_EnoughError):
        METHODS[method](**config["settings"]).fit(parts.train, validation=parts.val, recorder=clock)
    return clock.seconds


def whole_run() -> dict[str, float]:
    """Return the epochs and the seconds of a whole run of FR, from loading the data to its metrics."""
    started = perf_counter()
    config, data = configure("toy", "fr", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", config)
        proceed(run, data)
        epochs = len((run.folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return {"epochs": epochs, "seconds": round(perf_counter() - started, 1)}


def bench() -> dict[str, Any]:
    """Measure and return everything that goes into results/bench-gradient.json."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    names = [name for name, kind in METHODS.items() if issubclass(kind, GradientRationalizer)]
    with one_thread():
        seconds = {name: round(median(method_epochs(name, EPOCHS + 1)[1:]), 3) for name in names}
        seconds["fr_torch"] = round(median(torch_epochs(EPOCHS + 1)[1:]), 3)
    return {
        "command": "make bench-gradient",
        "code": code_version(),
        "machine": machine(),
        "epochs_measured": EPOCHS,
        "seconds_an_epoch": seconds,
        "speedup": round(seconds["fr_torch"] / seconds["fr"], 1),
        "whole_run_of_fr": whole_run(),
    }


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m genspp.experiments.gradient_bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench-gradient.json"))
    arguments = parser.parse_args()
    content = bench()
    table = Table("Toy, one core", "seconds an epoch")
    for name, seconds in content["seconds_an_epoch"].items():
        table.add_row(name, f"{seconds:.2f}")
    console = Console(highlight=False)
    console.print(table)
    run = content["whole_run_of_fr"]
    console.print(f"FR is {content['speedup']}x as fast as with torch's modules; a whole run took {run['seconds']} s.")
    write_json(arguments.out, content)


if __name__ == "__main__":
    main()
