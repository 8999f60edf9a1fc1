"""The command line: thin, every command a few calls into `app`. What loads torch is imported where it is used."""

import errno
import logging
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

import genspp
from genspp.cli import research, runs, training
from genspp.cli.shared import err
from genspp.errors import GenSPPError, RowsError
from genspp.report.terminal import Messages

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Text classifiers that show exactly the words they used.",
)
data_app = typer.Typer(no_args_is_help=True, help="Make data sets.")
for command in (
    *(training.train, training.resume, training.finish),
    *(runs.evaluate, runs.audit, runs.report, runs.explain, runs.predict, runs.serve),
    *(research.methods, research.benchmark),
):
    app.command()(command)
data_app.command()(research.toy)
app.add_typer(data_app, name="data")

_USAGE: Any = typer.BadParameter.__base__  # what is typed wrongly; typer has it in one place or another


def _version(show: bool) -> None:
    if show:
        typer.echo(f"genspp {genspp.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


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
    except MemoryError:
        _fail("there is not enough memory for this; give fewer or shorter texts, or use a larger machine.")
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
