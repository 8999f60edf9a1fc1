"""What the commands share: the screens they write to, arguments and options of several, and how Ctrl-C ends them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from genspp.report.terminal import Screen

out, err = Screen(), Screen(stderr=True)

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


@contextmanager
def stoppable(ways_on: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C end the work in peace: what was done is saved already. ways_on: says what one may type then."""
    try:
        yield
    except KeyboardInterrupt:
        err.say(f"stopped; all that was done is saved: {ways_on()}.")
        raise typer.Exit(INTERRUPTED) from None
