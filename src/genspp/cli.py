"""The command line: thin, every command a few calls into `app`. What loads torch is imported where it is used."""

import errno
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import genspp
from genspp.data.columns import Columns
from genspp.data.rows import endings
from genspp.data.sources import Options, forms
from genspp.errors import GenSPPError, RowsError, SettingsError
from genspp.harmless import json_line
from genspp.report.terminal import (
    Live,
    Messages,
    Screen,
    print_methods,
    print_metrics,
    print_rationales,
    print_warning,
)

if TYPE_CHECKING:
    from genspp.app.configure import Data
    from genspp.app.runs import Run

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Text classifiers that show exactly the words they used.",
)
data_app = typer.Typer(no_args_is_help=True, help="Make data sets.")
app.add_typer(data_app, name="data")

out, err = Screen(), Screen(stderr=True)
_USAGE: Any = typer.BadParameter.__base__  # what is typed wrongly; typer has it in one place or another

INTERRUPTED = 130  # what a shell gives a command that Ctrl-C ended

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (or a model folder).")]
TextOption = Annotated[str | None, typer.Option(help="Column or field of the texts.")]
TokensOption = Annotated[str | None, typer.Option(help="Column or field of texts that are tokenised already.")]
LabelOption = Annotated[str | None, typer.Option(help="Column or field of the labels.")]
HighlightOption = Annotated[str | None, typer.Option(help="Column or field of gold highlights, if any.")]
FormOption = Annotated[
    str | None, typer.Option(help="mask, tokens, characters or spans: what highlights are, where they do not tell.")
]
BadRowOption = Annotated[str, typer.Option(help="error or skip: what becomes of rows that cannot be used.")]
OnOption = Annotated[
    str | None, typer.Option(metavar="PLACE", help="ray, or ray:HOST:PORT: a cluster to do it on (docs/cluster.md).")
]
SplitOption = Annotated[str | None, typer.Option(help="Column or field that says train, val or test.")]


def _version(show: bool) -> None:
    if show:
        typer.echo(f"genspp {genspp.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


@app.command()
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


@app.command()
def resume(folder: RunArgument, on: OnOption = None) -> None:
    """Go on with a run that was interrupted; the result is the same as if it had not been."""
    _go_on(folder, finishing=False, on=on)


@app.command()
def finish(folder: RunArgument) -> None:
    """Make a model of the best that an interrupted run has found so far, score it, and end the run there."""
    _go_on(folder, finishing=True)


@app.command()
def evaluate(
    folder: RunArgument,
    source: Annotated[str | None, typer.Argument(help="Other data; the run's own test rows by default.")] = None,
    text: TextOption = None,
    tokens: TokensOption = None,
    label: LabelOption = None,
    highlight: HighlightOption = None,
    highlight_form: FormOption = None,
    on_bad_row: BadRowOption = "error",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Score a model: on its own test rows, or on all rows of another file."""
    from genspp.app.evaluate import evaluate_folder

    columns = Columns(text, tokens, label, highlight, highlight_form=highlight_form)
    metrics, _ = evaluate_folder(folder, source, columns, on_bad_row)
    if as_json:
        typer.echo(json_line(metrics))
    else:
        print_metrics(out, metrics)


@app.command()
def audit(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Ask what a run's highlights are worth: six questions, answered on its test rows and in its audit.json."""
    from genspp.app.audit import audit_folder
    from genspp.evaluation.verdicts import to_json
    from genspp.report.audit import print_audit

    found = audit_folder(folder)
    if as_json:
        typer.echo(json_line(to_json(found)))
    else:
        print_audit(out, found)
        err.say(f"all figures are in {folder / 'audit.json'}")


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN [RUN]", help="A finished run, or two to compare.")],
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to (report.html in the run folder).")
    ] = None,
) -> None:
    """Write one self-contained page on a run: scores, deciding words, all test texts, its audit; or compare two."""
    from genspp.app.report import write_report

    err.say(f"wrote {write_report(folders, out_file)}")


@app.command()
def explain(
    folder: RunArgument,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT...", help="The texts, each in quotes; - for standard input.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=f"A {endings()} file, or .txt, a text per line; - for standard input."),
    ] = None,
    text: TextOption = None,
    tokens: TokensOption = None,
    label: LabelOption = None,
    on_bad_row: BadRowOption = "error",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one self-contained page.")] = None,
) -> None:
    """Show what the model decides for texts, typed or of a file, and the words it decides from."""
    from genspp.app.explain import explain_file, model_name
    from genspp.app.predict import explain_typed, open_explainer

    if file is None and texts == ["-"]:
        texts, file = None, "-"
    if (file is None) == (not texts):
        raise SettingsError("give texts in quotes, or a file of texts with --file: one of the two.")
    model, run = open_explainer(folder)
    if file is None:
        rationales = explain_typed(model, texts or [])
    else:
        rationales = explain_file(model, run, file, Columns(text, tokens, label), on_bad_row)
    if html is not None:
        from genspp.report.explained import write_page

        write_page(html, rationales, model_name(model, run), f"{datetime.now():%Y-%m-%d}")
    if as_json:
        for rationale in rationales:
            typer.echo(json_line(rationale.to_json()))
    elif html is not None:
        err.say(f"wrote {html}")
    else:
        print_rationales(out, rationales)


@app.command()
def predict(
    folder: RunArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help=f"A {endings()} file; - for standard input.")],
    out_file: Annotated[str, typer.Option("--out", metavar="FILE", help="Where to; - for standard output.")],
    text: TextOption = None,
    tokens: TokensOption = None,
    on_bad_row: BadRowOption = "error",
    form: Annotated[
        str, typer.Option("--format", help="rows, or eraser: what ERASER's scorer reads (FILE may be eraser:FOLDER).")
    ] = "rows",
) -> None:
    """Give every row of a file its label, highlight and probabilities; say where nothing is marked, or unknown."""
    if form == "rows":
        from genspp.app.predict import predict_file

        predict_file(folder, file, out_file, Columns(text, tokens), on_bad_row)
    elif form == "eraser":
        from genspp.app.eraser import predict_eraser

        predict_eraser(folder, file, out_file, Columns(text, tokens), on_bad_row)
    else:
        raise SettingsError(f"--format is {form!r}; choose rows or eraser.")


@app.command()
def serve(
    folder: RunArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to; 0 for any that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="This machine only; 0.0.0.0 lets others in.")] = "127.0.0.1",
) -> None:
    """Open a page to try a model on: type texts, see the words that decide, mark other ones."""
    try:
        from genspp.app.serve.web import serve as serve_folder
    except ModuleNotFoundError as error:
        raise SettingsError(f"A model cannot be served without {error.name}; install genspp[serve].") from None
    with suppress(KeyboardInterrupt):  # the way to end it
        serve_folder(folder, host, port, err.say, partial(print_warning, err))
    err.say("stopped.")


@app.command()
def methods(name: Annotated[str | None, typer.Argument(help="One method; all by default.")] = None) -> None:
    """List the methods, with what each does and its settings."""
    from genspp.methods import METHODS

    print_methods(out, METHODS if name is None else {name: METHODS[name]})


@app.command()
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

    with _stoppable(lambda: "go on with the same command"):
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


@data_app.command()
def toy(
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The .jsonl file to write.")],
    variant: Annotated[str, typer.Option(help="toy or toy-contaminated.")] = "toy",
    seed: Annotated[int | None, typer.Option(min=0, max=2**32 - 1, help="Same seed, same strings.")] = None,
) -> None:
    """Write the Toy data set: 10,000 strings with their classes, highlights and split."""
    from genspp.data.sources.toy import write_toy

    write_toy(out_file, variant, seed)
    err.say(f"wrote {out_file}")


# ---------------------------------------------------------------------- what the commands share


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


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
    with _stoppable(lambda: run.ways_on), Live(err) as live:
        outcome = proceed(run, data, live, on)
    print_metrics(out, outcome.metrics)
    print_rationales(out, outcome.rationales[:examples])
    if data.source.may_be_shown:
        err.say(f"open {report_outcome(run, data, outcome)} in a browser to read all of it")
    err.say(f"everything is in {run.folder}")


@contextmanager
def _stoppable(ways_on: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C end the work in peace: what was done is saved already. ways_on: says what one may type then."""
    try:
        yield
    except KeyboardInterrupt:
        err.say(f"stopped; all that was done is saved: {ways_on()}.")
        raise typer.Exit(INTERRUPTED) from None


def main() -> None:
    """Run the command line; an error of ours is one sentence and exit code 2."""
    logger = logging.getLogger("genspp")
    logger.setLevel(logging.INFO)
    logger.handlers = [Messages(err)]
    try:
        try:
            code = app(standalone_mode=False, prog_name="genspp")
        finally:
            sys.stdout.flush()
    except RowsError as error:
        _fail(*str(error).splitlines())
    except GenSPPError as error:
        _fail(str(error))
    except _USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help has been shown
            sys.exit(2)
        _fail(
            f"{error.format_message().rstrip('.')}; see `{error.ctx.command_path if error.ctx else 'genspp'} --help`."
        )
    except OSError as error:  # a folder that may not be written to, a full disk
        if error.filename is None:  # what cannot be written out is not tried again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        where, why = error.filename or "standard output", error.strerror or error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _fail(f"{where} is not written: the disk is full; make room, or choose another place.")
        _fail(f"{where} cannot be used ({why}); choose another place.")
    sys.exit(code)


def _fail(sentence: str, *below: str) -> NoReturn:
    for line in (f"error: {sentence}", *below):
        err.say(line, "red")
    sys.exit(2)
