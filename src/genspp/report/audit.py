"""An audit on a terminal: every question, its verdict, and the figures that it stands on."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from genspp.evaluation.answers import IN_FRONT, Audit
from genspp.evaluation.verdicts import QUESTIONS, verdicts
from genspp.harmless import in_one_line

Rows = list[tuple[str, ...]]

_CLASSES_SHOWN = 5


def print_audit(console: Console, audit: Audit) -> None:
    """Print the six questions."""
    said, shown = verdicts(audit), figures(audit)
    for number, (name, question) in enumerate(QUESTIONS.items(), start=1):
        console.print(Text(f"{number}. {question}", style="bold"), soft_wrap=True)
        console.print(Text(f"   {said[name]}"), soft_wrap=True)
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="dim", overflow="ellipsis", no_wrap=True)
        for _ in shown[name][0][1:]:
            table.add_column(justify="right", no_wrap=True)
        for meaning, *values in shown[name]:
            table.add_row(Text(f"   {meaning}"), *values)  # a class may be called [bold]
        console.print(table)


def figures(audit: Audit) -> dict[str, Rows]:
    """Return for every question what each figure means, and the figure."""
    guessing = ("guessing by frequency", _percent(audit.guessing_clf_f1))
    model = ("the model", _percent(audit.model_clf_f1))
    gaps, eval_x, rest, eraser = audit.gaps, audit.eval_x, audit.rest, audit.eraser
    return {
        "mask_alone": [
            ("Clf-F1 from the mask alone", _percent(audit.mask_alone.mask_clf_f1)),
            ("from the length alone", _percent(audit.mask_alone.length_clf_f1)),
            guessing,
            model,
        ],
        "gaps": [
            ("labels that change without unmarked words", _percent(gaps.changed_without)),
            (f"with {IN_FRONT} more in front", _percent(gaps.changed_behind)),
            ("largest change of a probability", _percent(max(gaps.shift_without, gaps.shift_behind))),
        ],
        "eval_x": [
            ("Clf-F1 of EVAL-X on the highlights", _percent(eval_x.highlights_clf_f1)),
            ("on the full text", _percent(eval_x.full_text_clf_f1)),
            model,
            ("same label as the model where anything is marked", _percent(eval_x.agreement)),
            ("the same by its answer to an empty highlight", _percent(eval_x.default_agreement)),
            ("rise of its probability for the model's label there", _percent(eval_x.gain)),
        ],
        "rest": [
            ("Clf-F1 from the unmarked words and the gaps", _percent(rest.rest_clf_f1)),
            ("from the unmarked words, gaps closed", _percent(rest.rest_words_clf_f1)),
            guessing,
            ("from the full text", _percent(rest.full_text_clf_f1)),
            model,
        ],
        "eraser": [
            ("comprehensiveness", f"{eraser.comprehensiveness:.3f}"),
            ("sufficiency", f"{eraser.sufficiency:.3f}"),
        ],
        "pasted": _pasted(audit),
    }


def _pasted(audit: Audit) -> Rows:
    """Return a row for every class; where there are many, for those that highlights take along least."""
    known = [(name, one) for name, one in audit.pasted_by_class.items() if one.texts]
    lowest = sorted(known, key=lambda pair: pair[1].by_model or 0)[:_CLASSES_SHOWN]
    worst = [(in_one_line(name), one) for name, one in known if (name, one) in lowest]
    rows = [
        (name, str(one.texts), *map(_percent, (one.at_mask, one.by_model, one.before)))
        for name, one in [("all classes", audit.pasted), *worst]
    ]
    return [("highlights of", "texts", "marked", "marked anew", "before pasting"), *rows]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
