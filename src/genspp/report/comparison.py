"""What there is to say of two finished runs on the same test texts, as plain data for a page."""

from collections.abc import Callable
from typing import Any

from genspp.errors import RunError
from genspp.evaluation.metrics import Counts, Floats, class_counts, f1, highlight_counts, macro_f1
from genspp.evaluation.significance import paired_bootstrap
from genspp.evaluation.verdicts import QUESTIONS, verdicts
from genspp.harmless import in_one_line
from genspp.report.run_report import Finished, cautions, class_rows
from genspp.report.terminal import METRICS
from genspp.report.text_rows import text_rows


def comparison_content(first: Finished, second: Finished) -> dict[str, Any]:
    """Return everything on the page of two runs; `texts` is what its script reads."""
    if _texts(first) != _texts(second):
        raise RunError(
            f"{first.name} and {second.name} were scored on different test texts; "
            "compare runs on the same data and split."
        )
    runs, names = (first, second), [first.name, second.name]
    if first.name == second.name:
        names = [f"{name} ({number})" for number, name in enumerate(names, start=1)]
    classes = list(dict.fromkeys([*first.classes, *second.classes]))
    by_class = [{row["name"]: row for row in class_rows(run)} for run in runs]
    tokenizers = [run.tokenizer for run in runs]
    rows = text_rows([run.rationales for run in runs], classes, tokenizers)
    return {
        "title": f"{names[0]} and {names[1]}, text by text",
        "names": names,
        "headers": [(name, value, second.header[name]) for name, value in first.header.items()],
        "warnings": [(name, sentence) for name, run in zip(names, runs, strict=True) for sentence in cautions(run)],
        "scores": _scores(first, second),
        "differences": _differences(first, second, classes),
        "outcomes": outcomes(first, second),
        "classes": [(by_class[0][name], by_class[1][name]) for name in classes if all(name in one for one in by_class)],
        "audit": _audits(first, second),
        "has_gold": first.has_gold,
        "texts": {
            "classes": [in_one_line(name) for name in classes],
            "runs": [in_one_line(name) for name in names],
            "rows": rows,
        },
    }


def outcomes(first: Finished, second: Finished) -> dict[str, int]:
    """Return in how many texts which of the two is right, gives another label, or marks other words."""
    pairs = list(zip(first.labels, first.predicted, second.predicted, strict=True))
    spans = zip(first.rationales, second.rationales, strict=True)
    return {
        "texts": len(pairs),
        "both": sum(a == b == gold for gold, a, b in pairs),
        "first": sum(a == gold != b for gold, a, b in pairs),
        "second": sum(b == gold != a for gold, a, b in pairs),
        "neither": sum(a != gold != b for gold, a, b in pairs),
        "differ": sum(a != b for _, a, b in pairs),
        "marks": sum(a.spans != b.spans for a, b in spans),
    }


def _texts(run: Finished) -> list[tuple[str, str, str]]:
    documents = [rationale.document for rationale in run.rationales]
    return [(document.id, document.text, str(document.label)) for document in documents]


def _scores(first: Finished, second: Finished) -> list[dict[str, Any]]:
    """Return the figures that both have, side by side."""
    found = []
    for key, name, meaning in METRICS:
        values = first.metrics.get(key), second.metrics.get(key)
        if None not in values:
            found.append({"name": name.strip(), "meaning": meaning, "own": not name.startswith(" "), "shares": values})
    return found


def _differences(first: Finished, second: Finished, classes: list[str]) -> list[str]:
    """Return what other test texts might make of the differences, a sentence per score."""
    labels = [class_counts(run.labels, run.predicted, classes) for run in (first, second)]
    said = [_difference("Clf-F1", labels, macro_f1)]
    if first.has_gold and first.tokenizer == second.tokenizer:
        gold = [rationale.document.highlight for rationale in first.rationales]
        marks = [highlight_counts([one.mask for one in run.rationales], gold) for run in (first, second)]
        said.append(_difference("Hl-F1", marks, f1))
    return said


def _difference(name: str, counts: list[Counts], statistic: Callable[[Floats], Floats]) -> str:
    found = paired_bootstrap(counts[0], counts[1], statistic)
    side = "above" if found.difference >= 0 else "below"
    clear = "more than" if found.low > 0 or found.high < 0 else "no more than"
    return (
        f"{name} of the first is {100 * abs(found.difference):.1f} points {side} that of the second "
        f"({100 * found.low:+.1f} to {100 * found.high:+.1f} with 95 % confidence): "
        f"{clear} another choice of test texts might make."
    )


def _audits(first: Finished, second: Finished) -> list[tuple[str, str, str]]:
    """Return every question with both verdicts, where both runs were audited."""
    if first.audit is None or second.audit is None:
        return []
    said = verdicts(first.audit), verdicts(second.audit)
    return [(question, said[0][name], said[1][name]) for name, question in QUESTIONS.items()]
