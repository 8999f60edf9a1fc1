"""Commands for researchers: the methods there are, the benchmarks, and data sets that are made."""

from pathlib import Path
from typing import Annotated

import typer

from genspp.cli.shared import OnOption, err, out, stoppable
from genspp.report.terminal import print_methods


def methods(name: Annotated[str | None, typer.Argument(help="One method; all by default.")] = None) -> None:
    """List the methods, with what each does and its settings."""
    from genspp.methods import METHODS

    print_methods(out, METHODS if name is None else {name: METHODS[name]})


def benchmark(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="table1, alpha, ablation, skew, cost, figures or paper (all of it).")
    ],
    data: Annotated[
        str,
        typer.Option(
            help="toy, hatexplain:FOLDER and so on, or your own file with columns text, label and, where "
            "they exist, split and highlight, known by the file's name; several with commas."
        ),
    ] = "toy",
    methods: Annotated[
        str | None, typer.Option(help="Methods, with commas between (all; for paper those it compares).")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds 1 to this (5; ablation, alpha 3; with --quick 1).")] = None,
    preset: Annotated[str | None, typer.Option(help="sound or paper (sound; for paper both).")] = None,
    vectors: Annotated[Path | None, typer.Option(help="A GloVe text file, for data of words.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few minutes, to see that it works.")] = False,
    out_folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where results go.")] = Path("results"),
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at once (a core each).")] = None,
    on: OnOption = None,
) -> None:
    """Rebuild the paper's tables and figures; stopped anywhere, the same command goes on from there."""
    from genspp.experiments.benchmark import benchmark as run_benchmark

    with stoppable(lambda: "go on with the same command"):
        failures = run_benchmark(
            name,
            sources=_list(data),
            methods=None if methods is None else _list(methods),
            preset=preset,
            seeds=seeds,
            vectors=vectors,
            quick=quick,
            out=out_folder,
            workers=workers,
            on=on,
            console=err,
            printer=typer.echo,
        )
    for failure in failures:
        said = f"failed: {failure.trial.name}: {failure.reason} (see {failure.file})"
        err.say(said, "red")
    if failures:
        raise typer.Exit(1)


def toy(
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The .jsonl file to write.")],
    variant: Annotated[str, typer.Option(help="toy or toy-contaminated.")] = "toy",
    seed: Annotated[int | None, typer.Option(min=0, max=2**32 - 1, help="Same seed, same strings.")] = None,
) -> None:
    """Write the Toy data set: 10,000 strings with their classes, highlights and split."""
    from genspp.data.sources.toy import write_toy

    write_toy(out_file, variant, seed)
    err.say(f"wrote {out_file}")


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
