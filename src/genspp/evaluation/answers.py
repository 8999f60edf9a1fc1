"""What an audit finds: the figures behind its six questions, into a file and back."""

from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, get_type_hints

IN_FRONT = 20  # unmarked tokens that are put in front of a text
_DIGITS = 6  # significant ones, so that nothing becomes 0 that is not


@dataclass(frozen=True)
class MaskAlone:
    """Clf-F1 of logistic regression that sees of a text how much is marked and where; of one that sees its length.

    empty_clf_f1: of one that sees whether anything is marked; None in audits that were made before that was looked at.
    """

    mask_clf_f1: float
    length_clf_f1: float
    empty_clf_f1: float | None = None


@dataclass(frozen=True)
class Gaps:
    """What becomes of the model's answers, the marked tokens being the same.

    without: when all unmarked tokens are taken out; behind: when `IN_FRONT` unmarked tokens are put in front. changed:
    the share of texts with another label. shift: the largest change of a probability.
    """

    changed_without: float
    shift_without: float
    changed_behind: float
    shift_behind: float


@dataclass(frozen=True)
class EvalX:
    """Clf-F1 of a predictor trained on random highlights: on the model's highlights, and on the full text.

    The others are over the texts in which anything is marked, None where there is none: of an empty highlight that
    predictor can know no more than which class is frequent. agreement: how often it gives the model's own label.
    default_agreement: how often it would by its answer to an empty highlight; where most marked texts are of one class,
    agreement alone shows nothing. gain: by how much the highlight raises its probability for the model's label.
    """

    highlights_clf_f1: float
    full_text_clf_f1: float
    agreement: float | None
    default_agreement: float | None
    gain: float | None


@dataclass(frozen=True)
class Rest:
    """Clf-F1 of predictors trained on the unmarked tokens: with the gaps seen, and without; and on the full text."""

    rest_clf_f1: float
    rest_words_clf_f1: float
    full_text_clf_f1: float


@dataclass(frozen=True)
class Eraser:
    """By how much the run's full-text predictor believes less in its label, on average.

    comprehensiveness: without the highlight. sufficiency: with the highlight alone.
    """

    comprehensiveness: float
    sufficiency: float


@dataclass(frozen=True)
class Transplants:
    """Highlights of a class in texts of other classes: how many, and the share that is given the highlight's class.

    at_mask: by the predictor, the pasted highlight marked. by_model: by the whole model, its generator choosing anew.
    before: by the whole model without the highlight. All are None where nothing could be pasted.
    """

    texts: int
    at_mask: float | None
    by_model: float | None
    before: float | None


@dataclass(frozen=True)
class Audit:
    """All figures. texts: the number of test rows. empty: the share of these in which nothing is marked.

    model_clf_f1, guessing_clf_f1: what other figures are read beside. pasted: over all classes; pasted_by_class: of
    every class by its name.
    """

    texts: int
    empty: float
    model_clf_f1: float
    guessing_clf_f1: float
    mask_alone: MaskAlone
    gaps: Gaps
    eval_x: EvalX
    rest: Rest
    eraser: Eraser
    pasted: Transplants
    pasted_by_class: dict[str, Transplants]

    @property
    def mask_gain(self) -> float:
        """By how much the label can be told better from the mask alone than by guessing."""
        return max(0.0, self.mask_alone.mask_clf_f1 - self.guessing_clf_f1)

    @property
    def share_left(self) -> float | None:
        """The share of what the full text tells beyond guessing that the unmarked tokens tell; None where that is 0."""
        told = self.rest.full_text_clf_f1 - self.guessing_clf_f1
        left = max(self.rest.rest_clf_f1, self.rest.rest_words_clf_f1) - self.guessing_clf_f1
        return max(0.0, left / told) if told > 0 else None

    def figures(self) -> dict[str, Any]:
        """Return everything as JSON values, rounded."""
        found: dict[str, Any] = _rounded(asdict(self))
        return found

    @classmethod
    def of(cls, figures: dict[str, Any]) -> "Audit":
        """Read what `figures` gave."""
        kinds = get_type_hints(cls)
        found = {name: kinds[name](**part) if is_dataclass(kinds[name]) else part for name, part in figures.items()}
        found["pasted_by_class"] = {name: Transplants(**part) for name, part in figures["pasted_by_class"].items()}
        return cls(**found)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
