"""A finished run's texts as its training saw them, and fresh predictors that judge its highlights.

All judges have one recipe, whatever method they judge, so that figures can be compared between methods: a GRU in one
direction of the run's hidden size on the run's word vectors, Adam, early stopping on the validation rows.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from genspp.data.corpus import Corpus, Splits
from genspp.data.encode import Encoded
from genspp.data.label_columns import inform_again
from genspp.evaluation.made_texts import Marked
from genspp.methods.arguments import class_numbers, class_weights
from genspp.methods.base import Rationalizer
from genspp.methods.lesson import mark_costs
from genspp.model.inference import classify, select
from genspp.model.networks import Pair, Predictor, Shape, WordList
from genspp.model.weights import load_flat, on_kernels
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Task, Training, random_mask
from genspp.streams import Purpose, seed_of

COPIES = 8  # of every text that a reader of random highlights is trained on, each with a highlight of its own
_BATCH_SIZE, _LEARNING_RATE = 64, 3e-3
_MOST_STEPS, _PATIENT_STEPS, _PATIENT_EPOCHS = 20_000, 1_500, 3

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Subject:
    """A trained model with the rows of its run, looked up and labelled, and its highlights there.

    model: the pair, whose table of vectors has, behind the rows that new texts read, those that training texts read.
    full_text: the run's own predictor of full texts.
    """

    model: Pair
    full_text: Predictor
    train: Marked
    val: Marked
    test: Marked
    class_weights: npt.NDArray[np.float32]
    hidden: int
    skipping: bool
    seed: int

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_weights)

    def says(self, texts: Marked, predictor: Predictor | None = None) -> npt.NDArray[np.float64]:
        """Return the probabilities, (texts, classes), that the model's or another predictor gives at the marks."""
        pair = self.model if predictor is None else Pair(self.model.vectors, self.model.generator, predictor)
        return classify(on_kernels(pair), texts.data, texts.mask)

    def choosing(self, texts: Encoded) -> Marked:
        """Return texts with the highlights that the model's generator chooses."""
        return Marked(texts, select(on_kernels(self.model), texts))

    def judge(self, number: int, train: Marked, val: Marked, *, skipping: bool) -> Predictor:
        """Train a predictor from scratch behind the marks of labelled texts."""
        table, batches = self.model.vectors.numpy(), math.ceil(len(train.data) / _BATCH_SIZE)
        patience = max(_PATIENT_EPOCHS, math.ceil(_PATIENT_STEPS / batches))
        training = Training(math.ceil(_MOST_STEPS / batches), _BATCH_SIZE, _LEARNING_RATE, patience)
        shape = Shape(table.shape[1], self.hidden, self.classes)
        task = Task(shape, "gru", table, train.data, val.data, self.class_weights, training, skipping=skipping)
        evaluator = CompiledEvaluator(task, workers=1)
        try:
            seed = seed_of(self.seed, Purpose.AUDIT_JUDGES, number)
            (trained,) = evaluator.train_predictors(train.mask, val.mask, [seed], training)
        finally:
            evaluator.close()
        predictor = task.predictor()
        load_flat(predictor, trained.weights)
        return predictor

    def random_marks(self, part: int, data: Encoded) -> Marked:
        """Return `COPIES` of every text, each with a random highlight: of a share of its tokens that is drawn first."""
        copies = Encoded(
            np.tile(data.ids, COPIES),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(np.tile(data.lengths, COPIES))]),
            np.tile(data.labels, COPIES),
        )
        return Marked(copies, random_mask(seed_of(self.seed, Purpose.AUDIT_HIGHLIGHTS, part), 0, 0, copies))


def subject_of(model: Rationalizer, splits: Splits) -> Subject:
    """Return what an audit looks at.

    Where word vectors have columns that know the labels, training texts read columns that were learnt without them.
    They do here too, or the model would seem surer of the texts it was trained on than it was in training, and what
    judges learn there would not hold elsewhere. These columns are not kept with a model; they are made again, from
    the training texts and their labels, as `fit` made them.
    """
    settings = model.settings(len(model.classes_))
    # Test texts first, as when they were evaluated: new words get their rows in the order of reading, and draws see it.
    test, val, train = (_read(model, getattr(splits, part), part) for part in ("test", "val", "train"))
    table, own, generator = model.vectors_.table, model.model_, model.model_.generator
    if settings["label_columns"]:
        columns = len(model.classes_) if len(model.classes_) > 2 else 1
        plain = replace(model.vectors_, table=table[:, :-columns])
        informed = inform_again(plain, splits.train.keys(splits.tokenizer), train.labels, len(model.classes_))
        train, table = informed.for_training(train), np.concatenate([table, informed.table[len(table) :]])
        if isinstance(generator, WordList):
            costs = mark_costs(settings["evidence_for"], model.classes_)
            generator = generator.in_folds(torch.from_numpy(informed.evidence(costs == costs.min())))
    pair = Pair(torch.from_numpy(table), generator, own.predictor, own.sampled, own.share).eval()

    def marked(data: Encoded) -> Marked:
        return Marked(data, select(on_kernels(pair), data))

    return Subject(
        model=pair,
        full_text=model.full_text_,
        train=marked(train),
        val=marked(val),
        test=marked(test),
        class_weights=class_weights(settings["class_weight"], model.classes_, splits.train.labels),
        hidden=settings["hidden"],
        skipping=settings["skip_gaps"],
        seed=settings["seed"],
    )


def _read(model: Rationalizer, corpus: Corpus, part: str) -> Encoded:
    _, data = model._read(corpus)
    return replace(data, labels=class_numbers(corpus.labels, model.classes_, f"the rows of {part}"))
