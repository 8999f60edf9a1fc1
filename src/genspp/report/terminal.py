"""Highlights, figures and progress on a terminal, or as plain lines where there is none."""

import logging
import math
from collections.abc import Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from genspp.data.tokenize import Span
from genspp.harmless import harmless, in_one_line
from genspp.model.rationale import Rationale
from genspp.settings import Setting

if TYPE_CHECKING:  # torch is not needed to show anything
    from genspp.methods.base import Rationalizer

_HIGHLIGHT = "bold black on bright_yellow"
_RECENT = 10  # steps whose seconds tell how long further ones take
METRICS = (
    ("clf_f1", "Clf-F1", "macro F1 of the labels, from the highlights alone"),
    ("full_text_clf_f1", "  full text", "the same from a predictor that sees every token"),
    ("tfidf_clf_f1", "  TF-IDF + LR", "the same from logistic regression on all words"),
    ("hl_f1", "Hl-F1", "F1 of the highlights against the gold ones"),
    ("wordlist_hl_f1", "  word list", "the same for the most telling words, at the same R"),
    ("random_hl_f1", "  random", "the same for tokens drawn at random, at the same R"),
    ("all_hl_f1", "  all", "the same for all tokens"),
    ("selection_rate", "R", "share of the tokens selected"),
)


def highlighted(text: str, spans: Sequence[Span], plain: bool = False) -> Text:
    """Return `text` with its highlight coloured; as [[...]] where there are no colours."""
    text = harmless(text)
    shown = Text()
    position = 0
    for start, end in spans:
        shown.append(text[position:start])
        shown.append(f"[[{text[start:end]}]]" if plain else text[start:end], style=_HIGHLIGHT)
        position = end
    shown.append(text[position:])
    return shown


def print_rationales(console: Console, rationales: Sequence[Rationale]) -> None:
    """Print one line per text: the label, how sure, the text with its highlight, notes, the gold label if other."""
    width = max((len(str(rationale.label)) for rationale in rationales), default=0)
    plain = not console.is_terminal or console.no_color
    for rationale in rationales:
        gold = rationale.document.label
        wrong = gold is not None and str(rationale.label) != str(gold)
        line = Text(f"{in_one_line(rationale.label):<{width}}", style="bold red" if wrong else "bold green")
        line.append(f"  {rationale.probabilities[rationale.label]:4.0%}  ", style="dim")
        line.append_text(highlighted(rationale.text, rationale.spans, plain))
        for note in _notes(rationale):
            line.append(f"  ({note})", style="dim")
        if wrong:
            line.append(f"  (is {in_one_line(gold)})", style="red")
        console.print(line, soft_wrap=True)


class Screen(Console):
    """A console for lines that may have the user's own words in them."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False)

    def say(self, line: str, style: str | None = None) -> None:
        """Print one line."""
        self.print(in_one_line(line), style=style, soft_wrap=True)


def _notes(rationale: Rationale) -> list[str]:
    """Return what there is to know of a decision beside its highlight, in a few words each."""
    notes = []
    if rationale.no_evidence:
        notes.append("nothing marked: default label")
    if count := len(rationale.unknown):
        notes.append("1 unknown word" if count == 1 else f"{count} unknown words")
    if rationale.document.unread:
        notes.append(f"only its first {len(rationale.mask)} words were read")
    return notes


def print_methods(console: Console, methods: Mapping[str, type["Rationalizer"]]) -> None:
    """Print methods, what each does, and its settings; those that all of them share come first."""
    declared = [method.declared for method in methods.values()]
    shared = {name: setting for name, setting in declared[0].items() if all(d.get(name) is setting for d in declared)}
    if len(methods) > 1:
        _print_entry(console, "all methods", "", shared)
    for name, method in methods.items():
        own = {key: setting for key, setting in method.declared.items() if len(methods) == 1 or key not in shared}
        _print_entry(console, name, f"{method.title}: {_first_line(method)}", own)


def _print_entry(console: Console, name: str, line: str, settings: Mapping[str, Setting]) -> None:
    """Print a name, a line on it, and settings: default, what each does and may be."""
    console.print(Text(name, style="bold").append(f"  {line}", "not bold"), soft_wrap=True)
    width = max(map(len, settings))
    for setting_name, setting in settings.items():
        default, paper = setting.of("sound"), setting.of("paper")
        shown = f"{default}" if default == paper else f"{default} (paper: {paper})"
        console.print(f"  {setting_name:<{width}}  {shown:<20}  {setting.help}; {setting.check[1]}", soft_wrap=True)


def _first_line(method: type["Rationalizer"]) -> str:
    return (method.__doc__ or "").strip().partition("\n")[0]


def print_metrics(console: Console, metrics: dict[str, Any]) -> None:
    """Print the figures that matter, with what they mean, the references below each, and what these warn of."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="left", style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for key, name, meaning in METRICS:
        value = metrics.get(key)
        if value is None and name.startswith(" "):  # nothing to read the figure above beside
            continue
        if value is None:
            table.add_row(name, "–", "there are no gold highlights to compare with")
        else:
            table.add_row(name, f"{100 * value:.2f} %", meaning)
    table.add_row("S", f"{metrics['selection_size']:.2f}", "tokens selected in a text")
    console.print(table)
    if "stopped_early" in metrics:
        console.print(f"Training was {early_end(metrics)}.", soft_wrap=True)
    for sentence in metrics.get("warnings", ()):
        print_warning(console, sentence)


def early_end(metrics: dict[str, Any]) -> str:
    """Return in a few words what ended a training before its own end, after which step, and how to repeat that."""
    by, step, number = (metrics["stopped_early"][name] for name in ("by", "step", "number"))
    ended = {"time": "stopped by the clock (--minutes)", "finish": "finished early (genspp finish)"}
    again = f"; --generations {number} repeats it" if step == "generation" else ""
    return f"{ended.get(by, 'stopped early')} after {in_one_line(step)} {number}{again}"


def print_warning(console: Console, sentence: str) -> None:
    """Print something that the user should know of."""
    console.print(in_one_line(f"warning: {sentence}"), style="yellow", soft_wrap=True)


class Live:
    """Progress while a model is made: what is being done, then steps with the time that is left at most.

    On a terminal a bar below these lines moves and shows the last step; elsewhere a step is a line, not more often than
    every so many seconds.
    """

    def __init__(self, console: Console, every_seconds: float = 10.0) -> None:
        self._console = console
        self._every = every_seconds
        self._spoken = -math.inf
        self._took: list[float] = []  # seconds of the steps that were seen
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, what: str) -> None:
        """Show what is done from now on."""
        self._console.print(in_one_line(f"{what} ..."), style="dim", soft_wrap=True)
        if self._bar is not None:  # how long it takes is not known: the bar starts anew, and moves to and fro
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task("", total=None)

    def __call__(self, line: dict[str, Any], total: int, left: float | None) -> None:
        """Show a line of the log. total: how many there will be at most; left: the seconds until the time is up."""
        step_name, step = next(iter(line.items()))
        done = int(step) + 1
        self._took.append(float(line.get("seconds", 0)))
        told = ", ".join(filter(None, (describe(line), self._time_left(total - done, left))))
        text = f"{step_name} {step}/{total - 1}: {told}"
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=text)
        elif done == total or monotonic() - self._spoken >= self._every:
            self._console.print(text, soft_wrap=True)
            self._spoken = monotonic()

    def _time_left(self, steps: int, left: float | None) -> str:
        """Return how long the steps take that are left, at most: most trainings stop before, when nothing improves.

        The first step, in which kernels are compiled and much is made that others find there, tells nothing of them.
        """
        took = self._took[1:][-_RECENT:]
        known = [steps * sum(took) / max(1, len(took))] if took or not steps else []
        known += [] if left is None else [max(0.0, left)]
        return f"at most {duration(min(known))} left" if known else "the time left is known after the next"


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(42), duration(150), duration(7300)
    ('42 s', '2.5 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Messages(logging.Handler):
    """Shows the package's own messages, above a progress bar if there is one."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message."""
        if record.levelno >= logging.WARNING:
            print_warning(self._console, record.getMessage())
        else:
            self._console.print(in_one_line(record.getMessage()), style="dim", soft_wrap=True)


def describe(line: dict[str, Any]) -> str:
    """Return the figures of a log line in a few words."""
    words = {
        "best_fitness": "fitness {:.3f}",
        "best_task_loss": "loss {:.3f}",
        "val_loss": "validation loss {:.4f}",
        "best_selection_rate": "selected {:.1%} by weight",
        "selection_rate": "selected {:.1%}",
        "feasible": "feasible {:.0%}",
        "best_sufficiency": "sufficient {:.0%}",
        "best_left_over": "left over {:.0%}",
    }
    told = {key: value for key, value in line.items() if key in words and value is not None}
    # A predictor that is worse than chance has been told nothing: no share is less.
    shares = {key: max(0.0, value) for key, value in told.items() if "%" in words[key]}
    return ", ".join(words[key].format(value) for key, value in (told | shares).items())
