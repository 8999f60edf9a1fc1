"""Six questions about a finished run's highlights, answered on its test rows; none needs gold highlights.

What is trained here is trained on the training rows and stopped by the validation rows. All random choices belong to
the run's seed, so an audit gives the same figures whenever it is made.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from genspp.data.corpus import Splits
from genspp.evaluation.answers import IN_FRONT, Audit, Eraser, EvalX, Gaps, MaskAlone, Rest, Transplants
from genspp.evaluation.beside import guessing_clf_f1
from genspp.evaluation.judges import Subject, subject_of
from genspp.evaluation.made_texts import Marked, paste
from genspp.evaluation.mask_only import empty_features, length_features, mask_features, predicted_from
from genspp.evaluation.metrics import clf_f1
from genspp.methods.base import Rationalizer
from genspp.streams import Purpose, stream

logger = logging.getLogger("genspp")

_READER, _REST, _WORDS_LEFT, _FULL = range(4)  # the judges
_FRONT, _PASTE = range(2)  # the texts that are made


def audit(model: Rationalizer, splits: Splits) -> Audit:
    """Ask the six questions of a trained model, on the rows that it was trained with."""
    logger.info("looking at the highlights of %d training and %d test texts", len(splits.train), len(splits.test))
    subject = subject_of(model, splits)
    labels, test_labels = ([str(label) for label in part.labels] for part in (splits.train, splits.test))
    by_class = transplants(subject, [str(name) for name in model.classes_])
    return Audit(
        texts=len(splits.test),
        empty=float((subject.test.counts == 0).mean()),
        model_clf_f1=_score(subject, subject.says(subject.test).argmax(1)),
        guessing_clf_f1=guessing_clf_f1(labels, test_labels),
        mask_alone=mask_alone(subject),
        gaps=gaps(subject),
        eraser=eraser(subject),
        pasted=together(list(by_class.values())),
        pasted_by_class=by_class,
        eval_x=eval_x(subject),
        rest=rest(subject),
    )


def mask_alone(subject: Subject) -> MaskAlone:
    """Can the label be told from the mask alone?"""
    train, test = subject.train, subject.test

    def score(features: Callable[[Marked], npt.NDArray[np.float64]]) -> float:
        return _score(subject, predicted_from(features(train), train.data.labels, features(test)))

    return MaskAlone(score(mask_features), score(length_features), score(empty_features))


def gaps(subject: Subject) -> Gaps:
    """Do the gaps matter?"""
    before = subject.says(subject.test)

    def change(made: Marked) -> tuple[float, float]:
        after = subject.says(made)
        return float((after.argmax(1) != before.argmax(1)).mean()), float(np.abs(after - before).max())

    random = stream(subject.seed, Purpose.AUDIT_TEXTS, _FRONT)
    return Gaps(*change(subject.test.without_gaps()), *change(subject.test.behind_others(IN_FRONT, random)))


def eval_x(subject: Subject) -> EvalX:
    """Do the highlights mean to others what they mean to the model's own predictor?"""
    logger.info("training a predictor on random highlights")
    train, val = (subject.random_marks(i, part.data) for i, part in enumerate((subject.train, subject.val)))
    reader = subject.judge(_READER, train, val, skipping=subject.skipping)
    test, whole = subject.test, Marked.whole(subject.test.data)
    nothing = Marked(test.data, np.zeros(len(test.mask), np.uint8))
    read, full, default = (subject.says(texts, reader) for texts in (test, whole, nothing))
    on_highlights, on_full = (_score(subject, found.argmax(1)) for found in (read, full))
    marked = np.flatnonzero(test.counts)
    if not len(marked):
        return EvalX(on_highlights, on_full, None, None, None)
    own = subject.says(test).argmax(1)[marked]
    agreement, by_default = (float((found[marked].argmax(1) == own).mean()) for found in (read, default))
    gain = float((read - default)[marked, own].mean())
    return EvalX(on_highlights, on_full, agreement, by_default, gain)


def rest(subject: Subject) -> Rest:
    """What is left in the unmarked tokens?"""
    unmarked = [part.rest for part in (subject.train, subject.val, subject.test)]
    whole = [Marked.whole(part.data) for part in unmarked]

    def score(number: int, parts: Sequence[Marked], skipping: bool) -> float:
        train, val, test = parts
        judge = subject.judge(number, train, val, skipping=skipping)
        return _score(subject, subject.says(test, judge).argmax(1))

    logger.info("training predictors on the unmarked tokens")
    left, words_left = score(_REST, unmarked, False), score(_WORDS_LEFT, unmarked, True)
    logger.info("training a predictor on the full text")
    return Rest(left, words_left, score(_FULL, whole, False))


def eraser(subject: Subject) -> Eraser:
    """Comprehensiveness and sufficiency as ERASER has them (DeYoung et al. 2020), tokens being taken out."""
    whole, marks = Marked.whole(subject.test.data), subject.test.mask != 0
    full = subject.says(whole, subject.full_text)
    label = full.argmax(1)[:, None]

    def fall(kept: npt.NDArray[np.bool_]) -> float:
        found = subject.says(whole.keeping(kept), subject.full_text)
        return float(np.take_along_axis(full - found, label, 1).mean())

    return Eraser(comprehensiveness=fall(~marks), sufficiency=fall(marks))


def transplants(subject: Subject, names: Sequence[str]) -> dict[str, Transplants]:
    """Does a highlight take its class along? Those of test texts that the model has right are pasted into others."""
    test, labels = subject.test, subject.test.data.labels
    right = subject.says(test).argmax(1) == labels
    found = {}
    for number, name in enumerate(names):
        random = stream(subject.seed, Purpose.AUDIT_TEXTS, _PASTE, number)
        made = paste(test, np.flatnonzero(right & (labels == number)), np.flatnonzero(labels != number), random)
        if made is None:
            found[name] = Transplants(0, None, None, None)
            continue
        seen = (made.texts, subject.choosing(made.texts.data), subject.choosing(made.hosts.data))
        shares = (float((subject.says(texts).argmax(1) == number).mean()) for texts in seen)
        found[name] = Transplants(len(made.texts.data), *shares)
    return found


def together(classes: Sequence[Transplants]) -> Transplants:
    """Return the shares among the pasted highlights of all classes."""
    texts = sum(one.texts for one in classes)
    if not texts:
        return Transplants(0, None, None, None)

    def share(name: str) -> float:
        return float(sum(one.texts * getattr(one, name) for one in classes if one.texts)) / texts

    return Transplants(texts, share("at_mask"), share("by_model"), share("before"))


def _score(subject: Subject, predicted: npt.NDArray[np.integer]) -> float:
    """Return the Clf-F1 of class numbers that were predicted for the test texts."""
    names = [str(number) for number in range(subject.classes)]
    return clf_f1([str(label) for label in subject.test.data.labels], [str(label) for label in predicted], names)
