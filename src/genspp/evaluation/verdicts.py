"""What an audit's figures say, one sentence for each of its questions."""

import math
from dataclasses import asdict
from typing import Any

from genspp.evaluation.answers import IN_FRONT, Audit
from genspp.evaluation.beside import NEAR

QUESTIONS = {
    "mask_alone": "Can the label be told from the mask alone?",
    "gaps": "Do the gaps matter?",
    "eval_x": "Do the highlights mean the same to a predictor that has never seen this generator (EVAL-X)?",
    "rest": "What is left in the words that are not marked?",
    "eraser": "What are the highlights to a predictor of full texts (ERASER)?",
    "pasted": "Does a highlight take its class along into another text?",
}
_MOSTLY, _SAFELY = 0.5, 0.9  # shares of texts
_SURER = 0.1  # a probability that a highlight raises by as much has been raised by it


def to_json(audit: Audit) -> dict[str, Any]:
    """Return all figures, and in every question its verdict."""
    figures, said = asdict(audit), verdicts(audit)
    return {name: {**value, "verdict": said[name]} if name in said else value for name, value in figures.items()}


def from_json(written: dict[str, Any]) -> Audit:
    """Read what `to_json` returned."""
    answers = {name: {key: value for key, value in written[name].items() if key != "verdict"} for name in QUESTIONS}
    return Audit.of(written | answers)


def alarms(audit: Audit, *, one_sided: bool = False) -> list[str]:
    """Return the questions whose answer is that something else than the marked words may tell the label.

    one_sided: evidence of some classes only is wanted, so that a text with none is rightly known by that alone.
    """
    said, rightly = verdicts(audit), one_sided and _by_emptiness(audit)
    asked = ("gaps",) if rightly else ("mask_alone", "gaps")
    told = [name for name in asked if said[name].startswith(("Yes", "In part"))]
    return [f"{QUESTIONS[name]} {said[name]}" for name in told]


def verdicts(audit: Audit) -> dict[str, str]:
    """Return a sentence for every question."""
    makers = {"mask_alone": _mask_alone, "gaps": _gaps, "eval_x": _eval_x, "rest": _rest, "eraser": _eraser}
    return {**{name: maker(audit) for name, maker in makers.items()}, "pasted": _pasted(audit)}


def margin(score: float, texts: int) -> float:
    """Return how far from a score on so many texts another must be to count: two standard errors, two points at least.

    They are those of a share of texts, which is near enough for an F1.
    """
    share = min(max(score, 1 / texts), 1 - 1 / texts)
    return max(NEAR / 100, 2 * math.sqrt(max(share * (1 - share), 0) / texts))


def _above(audit: Audit, score: float, other: float) -> bool:
    """Return whether a score is higher than another by more than chance."""
    return score > other + margin(other, audit.texts)


def _mask_alone(audit: Audit) -> str:
    alone = audit.mask_alone
    empty = f" ({_percent(audit.empty)} of the texts have no highlight at all)" if audit.empty > 0 else ""
    if not _above(audit, alone.mask_clf_f1, audit.guessing_clf_f1):
        return "No: how much is marked, and where, says no more of the label than guessing."
    if not _above(audit, alone.mask_clf_f1, alone.length_clf_f1):
        return f"No more than from the text's length, which tells something of the label by itself{empty}."
    if _by_emptiness(audit):
        return f"In part: whether anything is marked says more of the label than guessing, the rest no more{empty}."
    if not _above(audit, audit.model_clf_f1, alone.mask_clf_f1):
        return f"Yes: how much is marked, and where, tells the label as well as the model does{empty}."
    return f"In part: how much is marked, and where, tells more of the label than guessing{empty}."


def _by_emptiness(audit: Audit) -> bool:
    """Return whether all that the mask alone tells is told by whether anything is marked."""
    alone = audit.mask_alone
    return alone.empty_clf_f1 is not None and not _above(audit, alone.mask_clf_f1, alone.empty_clf_f1)


def _gaps(audit: Audit) -> str:
    gaps = audit.gaps
    if gaps.shift_without == gaps.shift_behind == 0:
        return "No: whatever stands between the marked words, every probability is the same to the bit."
    if gaps.changed_without == gaps.changed_behind == 0:
        return f"Hardly: no label changes, but probabilities move by up to {_percent(_shift(audit))}."
    return (
        f"Yes: {_percent(gaps.changed_without)} of the labels change when the unmarked words are taken out, "
        f"{_percent(gaps.changed_behind)} when {IN_FRONT} are put in front, though the marked words stay the same."
    )


def _eval_x(audit: Audit) -> str:
    found = audit.eval_x
    if found.agreement is None or found.gain is None:
        return "Nobody knows: there is no highlight to read."
    for score, whose in ((audit.model_clf_f1, "the model's own predictor"), (found.full_text_clf_f1, "that predictor")):
        if not _above(audit, score, audit.guessing_clf_f1):
            return f"Nobody knows: {whose} does no better than guessing."
    if not _above(audit, audit.model_clf_f1, found.highlights_clf_f1):
        return "Yes: it reads from the highlights as much as the model's own predictor does."
    same = f"where anything is marked, that changes its belief in the model's label by {_points(found.gain)}"
    if audit.empty > NEAR / 100 and found.agreement >= _SAFELY and found.gain >= _SURER:
        return f"Yes, but for the {_percent(audit.empty)} of the texts that have no highlight: {same}."
    if not _above(audit, found.highlights_clf_f1, audit.guessing_clf_f1):
        return f"No: it reads no more from the highlights than guessing gives; {same}."
    return f"In part: it reads less from the highlights than the model's own predictor does; {same}."


def _rest(audit: Audit) -> str:
    rest, guessing = audit.rest, audit.guessing_clf_f1
    if audit.share_left is None or not _above(audit, rest.full_text_clf_f1, guessing):
        return "Nobody knows: the same predictor does no better than guessing even on the full text."
    most = max(rest.rest_clf_f1, rest.rest_words_clf_f1)
    if not _above(audit, most, guessing):
        return "Nothing that could be found: a predictor of the unmarked words does no better than guessing."
    if not _above(audit, rest.rest_words_clf_f1, guessing):
        where = ", but only where the gaps are seen: it is these that tell it, not the words"
    elif _above(audit, rest.rest_clf_f1, rest.rest_words_clf_f1):
        where = ", and less where the gaps are not seen"
    else:
        where = ""
    if not _above(audit, rest.full_text_clf_f1, most):
        return f"Everything: what is not marked tells the label as well as the full text does{where}."
    return f"Something: {_percent(audit.share_left)} of what the full text tells beyond guessing{where}."


def _eraser(audit: Audit) -> str:
    found, least = audit.eraser, NEAR / 100
    if found.comprehensiveness > found.sufficiency + least:
        kind = "More than the rest of the text"
    elif found.comprehensiveness >= found.sufficiency - least:
        kind = "As much as the rest of the text"
    else:
        kind = "Less than the rest of the text"
    return (
        f"{kind}: its probability for its label falls by {_points(found.comprehensiveness)} without the highlight, "
        f"and by {_points(found.sufficiency)} with nothing else."
    )


def _pasted(audit: Audit) -> str:
    pasted = audit.pasted
    if pasted.at_mask is None or pasted.by_model is None or pasted.before is None:
        return "Nobody knows: there is no highlight to paste, or no text to paste it into."
    least = min(pasted.at_mask, pasted.by_model)
    if pasted.by_model <= pasted.before + margin(pasted.before, pasted.texts):
        kind = "No more than chance would"
    else:
        kind = "Yes" if least >= _SAFELY else "Mostly" if least >= _MOSTLY else "Not reliably"
    return (
        f"{kind}: with the pasted words marked, {_percent(pasted.at_mask)} are given its class, and "
        f"{_percent(pasted.by_model)} where the model marks words anew ({_percent(pasted.before)} before pasting)."
    )


def _shift(audit: Audit) -> float:
    return max(audit.gaps.shift_without, audit.gaps.shift_behind)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(difference: float) -> str:
    return f"{100 * difference:.1f} points"
