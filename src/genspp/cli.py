"""The command line: thin, every command a few calls into the package."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

import genspp
from genspp.errors import GenSPPError, RunError, SettingsError

if TYPE_CHECKING:
    from genspp.data.corpus import Corpus
    from genspp.data.tables import Columns
    from genspp.experiments.single import Data
    from genspp.methods.base import Rationalizer
    from genspp.runs import Run

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Text classifiers that show exactly the words they used.",
)
data_app = typer.Typer(no_args_is_help=True, help="Make data sets.")
app.add_typer(data_app, name="data")

out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)

INTERRUPTED = 130  # what a shell gives a command that Ctrl-C ended

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (or a model folder).")]
TextOption = Annotated[str | None, typer.Option(help="Column or field of the texts.")]
TokensOption = Annotated[str | None, typer.Option(help="Column or field of texts that are tokenised already.")]
LabelOption = Annotated[str | None, typer.Option(help="Column or field of the labels.")]
HighlightOption = Annotated[str | None, typer.Option(help="Column or field of gold highlights, if any.")]
SplitOption = Annotated[str | None, typer.Option(help="Column or field that says train, val or test.")]


def _version(show: bool) -> None:
    if show:
        typer.echo(f"genspp {genspp.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def train(
    source: Annotated[str, typer.Argument(help="toy, toy-contaminated, hatexplain:FOLDER, or a .jsonl or .csv file.")],
    out_folder: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run folder to make.")],
    method: Annotated[str, typer.Option(help="Which method to train.")] = "genspp",
    preset: Annotated[str | None, typer.Option(help="sound (default) or paper.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same result.")] = None,
    generations: Annotated[int | None, typer.Option(help="Generations of the search (100; 150 on own files).")] = None,
    population: Annotated[int | None, typer.Option(help="Individuals in a generation (50).")] = None,
    hidden: Annotated[int | None, typer.Option(help="Hidden units, per direction (8, or 16 for many classes).")] = None,
    cell: Annotated[str | None, typer.Option(help="gru or bigru: the generator's.")] = None,
    vectors: Annotated[
        str | None, typer.Option(help="A GloVe text file, onehot, or corpus (made from the texts).")
    ] = None,
    class_weight: Annotated[str | None, typer.Option(help="balanced, for imbalanced classes.")] = None,
    engine: Annotated[str | None, typer.Option(help="compiled (fast) or sequential (the reference).")] = None,
    workers: Annotated[int | None, typer.Option(help="Cores to use (all).")] = None,
    text: TextOption = None,
    tokens: TokensOption = None,
    label: LabelOption = None,
    highlight: HighlightOption = None,
    split: SplitOption = None,
    val: Annotated[Path | None, typer.Option(help="A file of validation rows.")] = None,
    test: Annotated[Path | None, typer.Option(help="A file of test rows.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Leave out texts of more tokens.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="words (default), spaces or characters.")] = None,
    examples: Annotated[int | None, typer.Option(help="Test texts to show (10; 0 for HateXplain).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in that folder.")] = False,
) -> None:
    """Train a model, score it on the test rows, and keep everything in a run folder."""
    from genspp.experiments.single import configure
    from genspp.runs import Run

    config, data = configure(
        source,
        method,
        columns=_columns(text, tokens, label, highlight, split),
        val=val,
        test=test,
        max_length=max_length,
        tokenizer=tokenizer,
        preset=preset,
        seed=seed,
        generations=generations,
        population=population,
        hidden=hidden,
        cell=cell,
        vectors=vectors,
        class_weight=class_weight,
        engine=engine,
        workers=workers,
    )
    run = Run.create(out_folder, config, force)
    if examples is None:
        examples = 0 if source.startswith("hatexplain") else 10
    _proceed(run, data, examples)


@app.command()
def resume(folder: RunArgument) -> None:
    """Go on with a run that was interrupted; the result is the same as if it had not been."""
    from genspp.runs import Run, versions

    run = Run.open(folder)
    if run.finished:
        err.print(f"{folder} is finished already; see `genspp evaluate {folder}`.", soft_wrap=True)
        return
    then, now = run.config["versions"], versions()
    for name in sorted(now):
        if then.get(name) != now[name]:
            err.print(
                f"warning: {name} was {then.get(name)} when this run was started and is {now[name]} now; "
                "the result may differ from an uninterrupted run's.",
                style="yellow",
                soft_wrap=True,
            )
    _proceed(run, None, 0)


@app.command()
def evaluate(
    folder: RunArgument,
    source: Annotated[str | None, typer.Argument(help="Other data; the run's own test rows by default.")] = None,
    text: TextOption = None,
    tokens: TokensOption = None,
    label: LabelOption = None,
    highlight: HighlightOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Score a model: on its own test rows, or on all rows of another file."""
    from genspp.evaluation.evaluate import evaluate as score_model
    from genspp.experiments.single import open_model

    model, run = open_model(folder)
    corpus = _evaluation_corpus(model, run, source, _run_columns(run, text, tokens, label, highlight), highlight)
    metrics, _ = score_model(model, corpus)
    if as_json:
        typer.echo(json.dumps(metrics, ensure_ascii=False))
    else:
        _print_metrics(metrics)


@app.command()
def explain(
    folder: RunArgument,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The texts, each in quotes.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one self-contained page.")] = None,
) -> None:
    """Show what the model decides for texts, and the words it decides from."""
    from genspp.experiments.single import open_model
    from genspp.report.terminal import print_rationales

    model, _ = open_model(folder)
    # An argument that is not UTF-8 reaches Python as half surrogates, which nothing can print.
    rationales = model.explain([text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for text in texts])
    if html is not None:
        from genspp.files import write_text
        from genspp.report.html import page

        write_text(html, page(rationales, "What was decided, and why", type(model).__name__))
    if as_json:
        for rationale in rationales:
            typer.echo(json.dumps(rationale.to_json(), ensure_ascii=False))
    elif html is not None:
        err.print(f"wrote {html}", soft_wrap=True)
    else:
        print_rationales(out, rationales)


@app.command()
def predict(
    folder: RunArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .jsonl or .csv file; - for standard input.")],
    out_file: Annotated[str, typer.Option("--out", metavar="FILE", help="Where to; - for standard output.")],
    text: TextOption = None,
    tokens: TokensOption = None,
) -> None:
    """Give every row of a file its label and highlight."""
    from genspp.data.rows import output_format, write_rows
    from genspp.data.tables import read_rows
    from genspp.experiments.single import open_model

    model, run = open_model(folder)
    table = read_rows(file, _run_columns(run, text, tokens, None, None), model.settings()["tokenizer"])
    out_format = output_format(out_file, table.format)
    rationales = model.explain([list(document.tokens) for document in table.documents])
    rows = [
        row | _prediction(document, rationale, table.fieldnames)
        for row, document, rationale in zip(table.rows, table.documents, rationales, strict=True)
    ]
    write_rows(out_file, out_format, rows)


@app.command()
def benchmark(
    name: Annotated[str, typer.Argument(metavar="NAME", help="table1, alpha, cost or figures.")],
    data: Annotated[str, typer.Option(help="toy, toy-contaminated, hatexplain:FOLDER; several with commas.")] = "toy",
    methods: Annotated[str | None, typer.Option(help="Methods, with commas between (all).")] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds 1 to this (5; with --quick 1).")] = None,
    preset: Annotated[str, typer.Option(help="sound or paper.")] = "sound",
    vectors: Annotated[Path | None, typer.Option(help="A GloVe text file, for HateXplain.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few minutes, to see that it works.")] = False,
    out_folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where results go.")] = Path("results"),
    workers: Annotated[int | None, typer.Option(help="Runs at once (a core each).")] = None,
) -> None:
    """Rebuild the paper's tables and figures; stopped anywhere, the same command goes on from there."""
    from genspp.experiments.benchmark import benchmark as run_benchmark

    try:
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
            console=err,
            printer=typer.echo,
        )
    except KeyboardInterrupt:
        err.print("stopped; all that was finished is saved. Go on with the same command.", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    for failure in failures:
        err.print(
            f"failed: {failure.trial.name}: {failure.reason} (see {failure.file})",
            style="red",
            soft_wrap=True,
        )
    if failures:
        raise typer.Exit(1)


@data_app.command()
def toy(
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The .jsonl file to write.")],
    variant: Annotated[str, typer.Option(help="toy or toy-contaminated.")] = "toy",
    seed: Annotated[int | None, typer.Option(help="Same seed, same strings.")] = None,
) -> None:
    """Write the Toy data set: 10,000 strings with their classes, highlights and split."""
    from genspp.data.corpus import SPLIT_SEED
    from genspp.data.toy import toy as make_toy
    from genspp.data.toy import write_toy

    if out_file.suffix != ".jsonl":
        raise SettingsError(f"the file is {out_file}; Toy is written as JSON lines, so its name must end in .jsonl.")
    write_toy(out_file, make_toy(variant, SPLIT_SEED if seed is None else seed))
    err.print(f"wrote {out_file}", soft_wrap=True)


# ---------------------------------------------------------------------- what the commands share


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _columns(
    text: str | None, tokens: str | None, label: str | None, highlight: str | None, split: str | None = None
) -> "Columns":
    from genspp.data.tables import Columns

    return Columns(text=text, tokens=tokens, label=label, highlight=highlight, split=split)


def _run_columns(
    run: "Run | None", text: str | None, tokens: str | None, label: str | None, highlight: str | None
) -> "Columns":
    """Return the columns that were named, and the run's own for the others."""
    known = run.config["data"]["columns"] if run is not None else {}
    if text is not None or tokens is not None:
        known = {**known, "text": None, "tokens": None}
    chosen = {"text": text, "tokens": tokens, "label": label, "highlight": highlight}
    return _columns(**{name: known.get(name) if value is None else value for name, value in chosen.items()})


def _evaluation_corpus(
    model: "Rationalizer", run: "Run | None", source: str | None, columns: "Columns", highlight: str | None
) -> "Corpus":
    from dataclasses import replace

    from genspp.data.rows import format_of, read_raw
    from genspp.data.sources import load_source
    from genspp.data.tables import check_labels, read_table
    from genspp.experiments.single import data_of

    if source is None:
        if run is None:
            raise RunError("a model folder by itself has no test rows; name the data to evaluate on.")
        return data_of(run).splits.test
    if format_of(source) is None or source.startswith("hatexplain:"):
        return load_source(source).test
    if highlight is None and columns.highlight not in read_raw(source).fieldnames:
        columns = replace(columns, highlight=None)  # the run's own data had one; this need not
    table = read_table(source, columns, tokenizer=model.settings()["tokenizer"])
    check_labels(table, [str(name) for name in model.classes_], "test")
    return table.corpus


def _prediction(document: Any, rationale: Any, taken: tuple[str, ...]) -> dict[str, Any]:
    """Return what `predict` adds to a row. A name that the rows have already gets `predicted_` before it, or more."""
    from genspp.model.rationale import highlight_spans

    spans = highlight_spans(document.spans, rationale.mask)
    added = {
        "label": str(rationale.label),
        "probability": round(rationale.probabilities[rationale.label], 4),
        "highlight": [list(span) for span in spans],
        "highlighted_words": " | ".join(document.text[start:end] for start, end in spans),
    }

    def free(name: str) -> str:
        return free(f"predicted_{name}") if name in taken else name

    return {free(name): value for name, value in added.items()}


def _proceed(run: "Run", data: "Data | None", examples: int) -> None:
    from genspp.experiments.single import data_of, open_model, proceed
    from genspp.report.terminal import Live, print_rationales

    data = data or data_of(run)
    splits = data.splits
    for note in splits.notes:
        err.print(note, soft_wrap=True)
    with _stoppable(run), Live(err) as live:
        metrics = proceed(run, data, live)
    _print_metrics(metrics)
    if examples:
        model, _ = open_model(run.folder)
        shown = splits.test[range(min(examples, len(splits.test)))]
        print_rationales(out, model.explain([document.text for document in shown]), shown.labels)
    err.print(f"everything is in {run.folder}", soft_wrap=True)


@contextmanager
def _stoppable(run: "Run") -> Iterator[None]:
    """Let Ctrl-C end a run in peace: what was finished is saved already."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"stopped; all that was finished is saved. Go on with: genspp resume {run.folder}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


def _print_metrics(metrics: dict[str, Any]) -> None:
    from genspp.report.terminal import print_metrics

    print_metrics(out, metrics)


class _Messages(logging.Handler):
    """Shows the package's own messages on standard error, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        style = "yellow" if record.levelno >= logging.WARNING else "dim"
        prefix = "warning: " if record.levelno >= logging.WARNING else ""
        err.print(prefix + record.getMessage(), style=style, soft_wrap=True)


def main() -> None:
    """Run the command line; an error of ours is one sentence and exit code 2."""
    logger = logging.getLogger("genspp")
    logger.setLevel(logging.INFO)
    logger.handlers = [_Messages()]
    try:
        app()
    except GenSPPError as error:
        err.print(f"error: {error}", style="red", soft_wrap=True)
        sys.exit(2)
    except OSError as error:  # a folder that may not be written to, a full disk
        where, why = error.filename or "a file", error.strerror or error
        err.print(f"error: {where} cannot be used ({why}); choose another place.", style="red", soft_wrap=True)
        sys.exit(2)
