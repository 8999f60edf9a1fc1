"""The estimator contract that every method fulfils, and all that does not differ between methods.

A method says which settings it has (`own`), how it is trained (`_train`) and what its networks are (`_networks`);
reading texts, predicting and explaining (`model/explainer.py`), saving and loading are the same for all.
"""

import logging
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import nn
from torch.random import fork_rng

from genspp.data.corpus import Corpus, Texts, as_corpus, check_labels, stratified_split
from genspp.data.encode import Encoded, encode
from genspp.data.label_columns import inform
from genspp.data.tokenize import NAMES as TOKENIZERS
from genspp.data.vectors import MOST_ONEHOT, UNKNOWN, Vectors, build_vectors
from genspp.errors import DataError, ModelFolderError, NotFittedError, SettingsError
from genspp.methods.arguments import class_numbers, class_weights, classes_of
from genspp.methods.declaration import constructor, merged
from genspp.methods.lesson import Lesson, mark_costs
from genspp.methods.recorder import Forgetful, Recorder
from genspp.model.card import model_card
from genspp.model.explainer import Explainer, shortened
from genspp.model.folder import SavedModel, load_folder, save_folder
from genspp.model.forms import KernelPair
from genspp.model.inference import classify_full_text
from genspp.model.networks import read_rows
from genspp.model.saved import described
from genspp.model.weights import check_hidden, check_words, deciding, load_arrays, on_kernels
from genspp.registry import Registry
from genspp.settings import FLAG, PRESETS, Setting, check_one, number, one_of, optional, resolve, whole

logger = logging.getLogger("genspp")

METHODS: Registry[type["Rationalizer"]] = Registry("method", "genspp.methods")

MOST_HIDDEN, MOST_AT_ONCE = 1024, 65_536  # hidden units per direction, and texts per update
# What a model is does not depend on how many processes trained it, nor on where they were.
_NOT_SAVED = ("workers", "on")
_LABELS = (
    lambda value: value is None or (isinstance(value, list | tuple) and len(value) > 0),
    "None, or a list of labels",
)
_CLASS_WEIGHT = (
    lambda value: value is None or value == "balanced" or isinstance(value, Mapping),
    "None, 'balanced', or a dictionary from label to weight",
)
_VECTORS = (lambda value: isinstance(value, str | Path | Vectors), "corpus, onehot, the name of a file, or Vectors")


class Rationalizer(Explainer, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A classifier that selects the tokens it decides from.

    A subclass declares its own settings in `own`, and in `on_source` those that go with a family of data sources, or
    with one under a preset; both come on top of what its parents declare. They are its keyword arguments.

    Learnt: `classes_` (sorted), `vectors_`, `model_` (the pair), `full_text_` (a predictor of the same size that sees
    everything), `history_` (one dictionary per generation or epoch), `shares_` (of the full text's information, on
    validation rows: what the highlight has, and what an adversary finds in the rest, where there is one).
    """

    title: ClassVar[str]
    own: ClassVar[dict[str, Setting]] = {
        "preset": Setting("sound", one_of(*PRESETS), "which values settings take that are left at None"),
        "seed": Setting(0, whole(0), "same seed, same result"),
        "hidden": Setting(
            None,
            optional(whole(1, MOST_HIDDEN)),
            "hidden units per direction; None: 16 for up to 4 classes, else 32 (under preset paper 8 and 16)",
        ),
        "vectors": Setting("corpus", _VECTORS, "where word vectors come from; corpus: the training texts"),
        "label_columns": Setting(
            True, FLAG, "give word vectors further columns that say what a word speaks for", paper=False
        ),
        "skip_gaps": Setting(
            True, FLAG, "let the predictor read the selected tokens only, not where they stand", paper=False
        ),
        "evidence_for": Setting(None, _LABELS, "the labels whose evidence is wanted; None: all"),
        "vector_width": Setting(None, optional(whole(1, MOST_ONEHOT)), "columns of one-hot vectors, spare ones zero"),
        "tokenizer": Setting("words", one_of(*TOKENIZERS), "how texts that are given as strings are cut"),
        "truncate": Setting(None, optional(whole(1)), "tokens of a text that are read, at most; None: all"),
        "class_weight": Setting(None, _CLASS_WEIGHT, "what a text of a class weighs in the loss"),
        "validation_fraction": Setting(
            0.2, number(0, 1, open_ends=True), "share of the texts set apart where no validation texts are given"
        ),
        "workers": Setting(
            None, optional(whole(1, 1024)), "how many cores to use, None for all; methods without a search use one"
        ),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        # One-hot letters are apart already, and none of them speaks for a class.
        "toy": {"vectors": "onehot", "label_columns": False},
        ("toy", "sound"): {"hidden": 16},
        ("toy", "paper"): {"hidden": 8},
        "hatexplain": {"hidden": 16},
        ("hatexplain", "sound"): {"evidence_for": ["toxic"]},
    }
    declared: ClassVar[dict[str, Setting]]
    model_: Any
    full_text_: Any
    history_: list[dict[str, Any]]
    shares_: dict[str, float]

    def __init_subclass__(cls, **options: Any) -> None:
        """Collect the declared settings, parents' first, and make them the keyword arguments of the class."""
        super().__init_subclass__(**options)
        cls.declared = merged(own for kind in reversed(cls.__mro__) if (own := vars(kind).get("own")))
        if "__init__" not in vars(cls):
            cls.__init__ = constructor(cls.declared)  # type: ignore[method-assign]

    # ------------------------------------------------------------------ what a method provides

    @abstractmethod
    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        """Return an untrained pair and an untrained full-text predictor."""

    @abstractmethod
    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        """Train `model_` and `full_text_`, which exist with their initial weights, and fill `history_`."""

    # ------------------------------------------------------------------ settings

    @classmethod
    def settings_on(cls, family: str, preset: str) -> dict[str, Any]:
        """Return the settings that go with a family of sources under a preset, a subclass's over its parents'."""
        declared = [vars(kind).get("on_source", {}) for kind in reversed(cls.__mro__)]
        return merged(settings.get(key, {}) for settings in declared for key in (family, (family, preset)))

    @classmethod
    def restored(cls, settings: Mapping[str, Any]) -> Self:
        """Return the untrained estimator that settings from a file describe: all of them known, none left open."""
        for name, value in settings.items():
            if name not in cls.declared:
                raise SettingsError(
                    f"{cls.__name__} has no setting {name!r}; it has {', '.join(sorted(cls.declared))}."
                )
            check_one(name, value, cls.declared)
        return cls(**settings)

    def settings(self, classes: int | None = None) -> dict[str, Any]:
        """Return all settings, checked, the preset's values filled in, and what depends on the number of classes.

        Without gradients, a search finds its way among few weights much better than among many.
        """
        settings = resolve(self.get_params(deep=False), self.declared)
        if settings["hidden"] is None and classes is not None:
            few, many = (8, 16) if settings["preset"] == "paper" else (16, 32)
            settings["hidden"] = few if classes <= 4 else many
        return settings

    # ------------------------------------------------------------------ scikit-learn's manners

    def fit(
        self,
        texts: Texts,
        labels: Sequence[Any] | None = None,
        *,
        validation: Corpus | tuple[Texts, Sequence[Any]] | None = None,
        recorder: Recorder | None = None,
    ) -> Self:
        """Train on texts (strings, or lists of tokens) and their labels, or on a corpus that has labels.

        The validation rows choose the model; they are never trained on. Without `validation` a stratified
        `validation_fraction` of the texts is set apart for it. A corpus's tokeniser becomes the model's.
        """
        asked = self.settings()  # all of them checked before the texts are read
        train = shortened(as_corpus(texts, asked["tokenizer"], labels), asked["truncate"])
        check_labels(train)
        if validation is None:
            train, val = _set_apart(train, asked["validation_fraction"])
        else:
            given = validation if isinstance(validation, tuple) else (validation, None)
            val = shortened(as_corpus(given[0], train.tokenizer, given[1]), asked["truncate"])
            check_labels(val)
        classes = classes_of(train.labels)
        settings = self.settings(len(classes)) | {"tokenizer": train.tokenizer}
        weights = class_weights(settings["class_weight"], classes, train.labels)
        costs = mark_costs(settings["evidence_for"], classes)
        numbers = class_numbers(train.labels, classes, "the training texts")
        val_numbers = class_numbers(val.labels, classes, "the validation texts")
        keys, val_keys = (corpus.keys(train.tokenizer) for corpus in (train, val))
        recorder = recorder or Forgetful()
        recorder.say(f"learning the words of {len(train):,} training texts")
        vectors = build_vectors(settings["vectors"], keys, settings["vector_width"], val_keys)
        informed = inform(vectors, keys, numbers, len(classes)) if settings["label_columns"] else None
        vectors = informed.vectors if informed else vectors
        self._finished = False
        self.classes_, self.vectors_, self._settings_, self.history_ = classes, vectors, settings, []
        self.shares_, self._rows_ = {}, {"train": len(train), "val": len(val)}
        self._make_networks()
        encoded = encode(keys, vectors.index, UNKNOWN, numbers), encode(val_keys, vectors.index, UNKNOWN, val_numbers)
        lesson = Lesson(*encoded, vectors.table, weights, costs, len(vectors.table))
        if informed:
            evidence = informed.evidence(costs == costs.min())
            lesson = replace(lesson, train=informed.for_training(encoded[0]), table=informed.table, evidence=evidence)
        del informed  # what words say for every class takes much memory where there are many of both
        with fork_rng(devices=[]):  # the networks' first weights come from the seed, yet torch's modules draw some too
            self._train(settings, lesson, recorder)
        self.model_.eval()
        self.full_text_.eval()
        self._finished = True
        return self

    def predict_full_text(self, texts: Texts) -> npt.NDArray[Any]:
        """Return what a predictor of the same size says when it sees every token: what do highlights cost?"""
        _, data = self._read(texts)
        found = classify_full_text(self._pair(), deciding(self.full_text_), data)
        return np.asarray(self.classes_[found.argmax(1)])

    def forget(self) -> None:
        """Let go of the words that were looked up or guessed since training, before they fill the memory."""
        self._check_fitted()
        super().forget()

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether training has come to its end; one that was interrupted has left nothing to predict from."""
        return getattr(self, "_finished", False)

    # ------------------------------------------------------------------ folders

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder of JSON and safetensors."""
        self._check_fitted()
        name = next((name for name, kind in METHODS.items() if kind is type(self)), None)
        if name is None:
            raise SettingsError(f"{type(self).__name__} could not be loaded again; register it with METHODS.register.")
        settings = {name: value for name, value in self._settings_.items() if name not in _NOT_SAVED}
        if isinstance(settings["vectors"], Vectors):
            file = self.vectors_.file
            settings["vectors"] = self.vectors_.kind if file is None else file.path
        settings["vectors"] = str(settings["vectors"])
        weights = {f"model.{key}": value.numpy() for key, value in self.model_.state_dict().items()}
        weights |= {f"full_text.{key}": value.numpy() for key, value in self.full_text_.state_dict().items()}
        networks = described(self._pair(), deciding(self.full_text_))
        saved = SavedModel(name, settings, self.classes_.tolist(), self.vectors_, weights, self.title, networks)
        save_folder(Path(folder), replace(saved, card=model_card(saved, rows=getattr(self, "_rows_", None))))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that `save` wrote. `Rationalizer.load` reads any method, a subclass only its own."""
        saved = load_folder(Path(folder))
        if saved.method not in METHODS or not issubclass(kind := METHODS[saved.method], cls):
            raise ModelFolderError(f"{folder} holds a model of the method {saved.method!r}, not of {cls.__name__}.")
        try:
            model = kind.restored(saved.settings)
            model._settings_ = model.settings(len(saved.classes))
            check_hidden(saved.weights, model._settings_["hidden"])
            model.classes_, model.vectors_, model.history_ = np.array(saved.classes), saved.vectors, []
            if model._settings_.get("regression"):
                check_words(saved.weights, len(saved.vectors.table), len(saved.classes))
            model._make_networks()
            load_arrays({"model": model.model_, "full_text": model.full_text_}, saved.weights)
        except ValueError as error:
            raise ModelFolderError(f"{folder} cannot be used: {error}") from None
        model._finished = True
        return model

    # ------------------------------------------------------------------ shared work

    def _make_networks(self) -> None:
        inputs, classes = self.vectors_.table.shape[1], len(self.classes_)
        with fork_rng(devices=[]):
            self.model_, self.full_text_ = self._networks(self._settings_, inputs, classes)
        self.model_.eval()
        self.full_text_.eval()

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not trained yet; call fit or load first.")

    @property
    def method(self) -> str:
        """What the method is called."""
        return self.title

    @property
    def cut_by(self) -> str:
        """The tokeniser of texts that are given as strings."""
        return str(self._settings_["tokenizer"])

    @property
    def most_tokens(self) -> int | None:
        """How many tokens of a text are read at most, the first ones; None: all."""
        most: int | None = self._settings_["truncate"]
        return most

    def _pair(self) -> KernelPair:
        return on_kernels(self.model_)

    def _read(self, texts: Texts) -> tuple[Corpus, Encoded]:
        self._check_fitted()
        return super()._read(texts)

    def _use(self, vectors: Vectors) -> None:
        if vectors is not self.vectors_:
            super()._use(vectors)
            self.model_.read(torch.from_numpy(vectors.table))
            read_rows(self.full_text_, len(vectors.table))


def _set_apart(corpus: Corpus, fraction: float) -> tuple[Corpus, Corpus]:
    """Return the rows to train on and those to validate on, every class spread evenly."""
    train, val = stratified_split([str(label) for label in corpus.labels], [1 - fraction, fraction])
    if not val:
        raise DataError(f"{len(corpus)} texts are too few to set {fraction:g} of them apart; give more.")
    return corpus[train], corpus[val]
