"""Commands that make a run: `train`, and `resume` and `finish`, which take an interrupted one to its end."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genspp.cli.shared import (
    BadRowOption,
    FormOption,
    HighlightOption,
    LabelOption,
    OnOption,
    RunArgument,
    SplitOption,
    TextOption,
    TokensOption,
    err,
    out,
    stoppable,
)
from genspp.data.columns import Columns
from genspp.data.sources import Options, forms
from genspp.report.terminal import Live, print_metrics, print_rationales, print_warning

if TYPE_CHECKING:
    from genspp.app.configure import Data
    from genspp.app.runs import Run


def train(
    source: Annotated[str, typer.Argument(help=f"One of {forms()}.")],
    out_folder: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run folder to make.")],
    method: Annotated[str, typer.Option(help="Which method to train; `genspp methods` lists them.")] = "genspp",
    preset: Annotated[str | None, typer.Option(help="sound (default) or paper.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same result.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Stop after so long and finish the model; by a clock, so another run may end elsewhere."),
    ] = None,
    search: Annotated[str | None, typer.Option(help="How the generator is searched for.")] = None,
    generations: Annotated[int | None, typer.Option(help="Generations of the search, at most (60; paper 100).")] = None,
    population: Annotated[int | None, typer.Option(help="Individuals in a generation (6; paper 50).")] = None,
    hidden: Annotated[int | None, typer.Option(help="Hidden units per direction (16, or 32 for many classes).")] = None,
    cell: Annotated[str | None, typer.Option(help="gru or bigru: the generator's.")] = None,
    vectors: Annotated[str | None, typer.Option(help="A GloVe text file, onehot, or corpus (from the texts).")] = None,
    class_weight: Annotated[str | None, typer.Option(help="balanced, for imbalanced classes.")] = None,
    engine: Annotated[str | None, typer.Option(help="compiled (fast) or sequential (the reference).")] = None,
    workers: Annotated[int | None, typer.Option(help="Cores to use (all).")] = None,
    on: OnOption = None,
    tokenizer: Annotated[str | None, typer.Option(help="words (default), spaces or characters.")] = None,
    more: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other setting.")] = None,
    text: TextOption = None,
    tokens: TokensOption = None,
    label: LabelOption = None,
    highlight: HighlightOption = None,
    highlight_form: FormOption = None,
    split: SplitOption = None,
    val: Annotated[Path | None, typer.Option(help="A file of validation rows.")] = None,
    test: Annotated[Path | None, typer.Option(help="A file of test rows.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Leave out texts of more tokens.")] = None,
    truncate: Annotated[int | None, typer.Option(help="Read so many tokens of a text at most, the first ones.")] = None,
    on_bad_row: BadRowOption = "error",
    examples: Annotated[int | None, typer.Option(min=0, help="Test texts to show (10; 0 of hateful ones).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in that folder.")] = False,
) -> None:
    """Train a model, score it on the test rows, and keep everything in a run folder."""
    from genspp.app.configure import assignments, configure
    from genspp.app.runs import Run

    named = {
        "preset": preset, "seed": seed, "search": search, "generations": generations, "population": population,
        "hidden": hidden, "cell": cell, "vectors": vectors, "class_weight": class_weight, "engine": engine,
        "workers": workers, "on": on, "tokenizer": tokenizer, "truncate": truncate,
    }  # fmt: skip
    chosen = assignments(more or [], {name: value for name, value in named.items() if value is not None})
    columns = Columns(text, tokens, label, highlight, split, highlight_form)
    options = Options(columns, val, test, max_length, on_bad_row=on_bad_row)
    with Live(err) as live:
        live.say(f"reading {source}")
        config, data = configure(source, method, options, minutes, **chosen)
    if examples is None:
        examples = 10 if data.source.may_be_shown else 0
    _proceed(Run.create(out_folder, config, force), data, examples, chosen.get("on"))


def resume(folder: RunArgument, on: OnOption = None) -> None:
    """Go on with a run that was interrupted; the result is the same as if it had not been."""
    _go_on(folder, finishing=False, on=on)


def finish(folder: RunArgument) -> None:
    """Make a model of the best that an interrupted run has found so far, score it, and end the run there."""
    _go_on(folder, finishing=True)


def _go_on(folder: Path, finishing: bool, on: str | None = None) -> None:
    from genspp.app.configure import data_of, join
    from genspp.app.runs import Run
    from genspp.app.train import changed_versions

    run = Run.open(folder)
    if run.finished:
        err.say(f"{folder} is finished already; see `genspp evaluate {folder}`.")
        return
    if finishing:
        run.finish()
    for change in changed_versions(run):
        print_warning(err, change)
    join(run.config["method"], on)
    with Live(err) as live:
        live.say(f"reading {run.config['data'].get('source')}")
        data = data_of(run)
    _proceed(run, data, 0, on)


def _proceed(run: "Run", data: "Data", examples: int, on: str | None) -> None:
    from genspp.app.report import report_outcome
    from genspp.app.train import proceed

    for note in data.notes:
        err.say(note)
    with stoppable(lambda: run.ways_on), Live(err) as live:
        outcome = proceed(run, data, live, on)
    print_metrics(out, outcome.metrics)
    print_rationales(out, outcome.rationales[:examples])
    if data.source.may_be_shown:
        err.say(f"open {report_outcome(run, data, outcome)} in a browser to read all of it")
    err.say(f"everything is in {run.folder}")
