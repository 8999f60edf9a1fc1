"""Commands on a run, or on a model by itself: how good it is, what it says of texts, and pages that show both."""

from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from genspp.cli.shared import (
    BadRowOption,
    FormOption,
    HighlightOption,
    LabelOption,
    RunArgument,
    TextOption,
    TokensOption,
    err,
    out,
)
from genspp.data.columns import Columns
from genspp.data.rows import endings
from genspp.errors import SettingsError
from genspp.harmless import json_line
from genspp.report.terminal import print_metrics, print_rationales, print_warning


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


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN [RUN]", help="A finished run, or two to compare.")],
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to (report.html in the run folder).")
    ] = None,
) -> None:
    """Write one self-contained page on a run: scores, deciding words, all test texts, its audit; or compare two."""
    from genspp.app.report import write_report

    err.say(f"wrote {write_report(folders, out_file)}")


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
