"""The paper's claim beside our runs: are GenSPP's highlights nearest to the gold ones, and what else would do as well?

Every figure, and every order, comes from result files; the published ones from `paper`.
"""

from collections.abc import Mapping, Sequence

from genspp.experiments import paper
from genspp.experiments.audit_table import audit_mean
from genspp.experiments.board import Board, metric_cell
from genspp.experiments.compare import Comparison, Comparisons, in_table
from genspp.experiments.findings import NOT_RUN, lead_sentence, order_sentence, selection_sentence
from genspp.experiments.names import OURS, method_title
from genspp.experiments.results import Result

_CLAIMED = ("hl_f1", "clf_f1")
_WORD_LIST = "wordlist"
_NO_GOLD = "There are no gold highlights to compare with."


def claim_sentence(board: Board, data: str, preset: str) -> str:
    """Say what has become of the claim that GenSPP has the best Hl-F1 at a comparable Clf-F1."""
    found = in_table(board, data, preset)
    highlights, labels = (found.with_the_best(metric) for metric in _CLAIMED)
    if labels is None:
        return NOT_RUN
    if highlights is None:
        return f"{_NO_GOLD} {lead_sentence(labels)} {labels.correction()}"
    sentences = lead_sentence(highlights), verdict(highlights), lead_sentence(labels), highlights.correction()
    return " ".join(sentences)


def claim_details(board: Board, data: str, preset: str) -> str:
    """Say what else there is to know of it: the published distance, R, word lists, audits, what the preset is worth."""
    runs, found = board.methods(data, preset), in_table(board, data, preset)
    highlights, labels = (found.with_the_best(metric) for metric in _CLAIMED)
    if labels is None:
        return NOT_RUN
    if highlights is None:
        return f"{_NO_GOLD} {selection_sentence(board, data, preset)}"
    sentences = (
        _published(data, highlights, labels),
        selection_sentence(board, data, preset),
        _word_list(runs, found, highlights.rival),
        _audited(runs, highlights.rival),
        _recipe(board, data, highlights.rival) if preset == "sound" else "",
    )
    return " ".join(sentence for sentence in sentences if sentence)


def verdict(highlights: Comparison) -> str:
    """Say whether an order bears the claim out."""
    certain = highlights.over_seeds and highlights.over_texts
    if highlights.ours > highlights.theirs:
        if highlights.too_few_seeds and highlights.over_texts:
            return "It takes more seeds to bear the claim out."
        return "That bears the claim out." if certain else "That is too little to bear the claim out."
    return "That contradicts the claim." if certain else "That does not bear the claim out."


def _published(data: str, highlights: Comparison, labels: Comparison) -> str:
    """Give our distance to the best other method beside the paper's."""
    scores = {method: found.metrics() for (where, method, _), found in paper.BENCHMARK.items() if where == data}
    own = scores.pop(OURS, None)
    if own is None or not scores:
        return ""
    theirs = [own[metric].mean - max(other[metric].mean for other in scores.values()) for metric in _CLAIMED]
    ours = [found.ours - found.theirs for found in (highlights, labels)]
    return (
        f"{method_title(OURS)} against the best other method in Hl-F1 and Clf-F1: {ours[0]:+.2f} and {ours[1]:+.2f} "
        f"points here, {theirs[0]:+.2f} and {theirs[1]:+.2f} in the paper."
    )


def _word_list(runs: Mapping[str, Sequence[Result]], comparisons: Comparisons, rival: str) -> str:
    """Say how GenSPP stands to a list of words: one that marks as much, and the method, unless that is the rival."""
    sentences, ours = [], runs[OURS]
    listed = metric_cell(ours, "wordlist_hl_f1")
    if listed is not None:
        above = sum(run.metrics["hl_f1"] > run.metrics["wordlist_hl_f1"] for run in ours)
        sentences.append(
            f"A word list that marks as much as {method_title(OURS)} does has an Hl-F1 of {listed.mean:.2f}; "
            f"{method_title(OURS)} has more in {above} of {len(ours)} runs."
        )
    found = comparisons.get(("hl_f1", _WORD_LIST))
    if found is not None and rival != _WORD_LIST:
        sentences.append(f"The word list that chooses its own length has {found.theirs:.2f}. {order_sentence(found)}")
    return " ".join(sentences)


def _audited(runs: Mapping[str, Sequence[Result]], rival: str) -> str:
    """Say what the audits find of GenSPP and of the best other method."""
    pair = (runs[OURS], runs[rival])
    left = [cell.mean for found in pair if (cell := audit_mean(found, lambda audit: audit.share_left)) is not None]
    rise = [cell.mean for found in pair if (cell := audit_mean(found, lambda audit: audit.eval_x.gain)) is not None]
    if not len(left) == len(rise) == len(pair):
        return ""
    return (
        f"By their audits {method_title(OURS)} leaves {left[0]:.1f} % of what the full text tells in the unmarked "
        f"words and {method_title(rival)} {left[1]:.1f} %; their highlights raise EVAL-X's probability for the model's "
        f"label by {rise[0]:.1f} and {rise[1]:.1f} points."
    )


def _recipe(board: Board, data: str, rival: str) -> str:
    """Say what preset sound gives the methods that were run under preset paper too."""
    before, after = (_means(board.methods(data, preset)) for preset in ("paper", "sound"))
    changes = {
        method: " and ".join(f"{now - then:+.1f}" for then, now in zip(before[method], after[method], strict=True))
        for method in before
        if method in after
    }
    own = changes.pop(OURS, None)
    if own is None or not changes:
        return ""
    others = ", ".join(f"{method_title(method)} {change}" for method, change in changes.items())
    there = f"has an Hl-F1 of {before[rival][0]:.2f} there" if rival in before else "has not been run there"
    return (
        f"What preset sound gives to all methods alike changes Hl-F1 and Clf-F1, from preset paper, by: {others} "
        f"points; {method_title(OURS)}, whose search and objective change as well, by {own}. {method_title(rival)}, "
        f"the best other method here, {there}."
    )


def _means(runs: Mapping[str, Sequence[Result]]) -> dict[str, list[float]]:
    """Return the means of what is claimed, for the methods that have them."""
    cells = {method: [metric_cell(found, metric) for metric in _CLAIMED] for method, found in runs.items()}
    means = {method: [cell.mean for cell in row if cell is not None] for method, row in cells.items()}
    return {method: found for method, found in means.items() if len(found) == len(_CLAIMED)}
