"""The estimator contract that every method fulfils, and all that does not differ between methods.

A method says how it is trained (`_train`) and what its networks are (`_networks`); reading texts, predicting,
explaining, saving and loading are the same for all and live here.
"""

import logging
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from torch import Tensor, nn

from genspp.data.corpus import stratified_split
from genspp.data.embeddings import UNKNOWN, Vectors, build_vectors
from genspp.data.encode import Encoded, Mask, encode
from genspp.data.sources import SourceDefaults
from genspp.data.tokenize import Span, Tokenizer
from genspp.errors import DataError, NotFittedError, SettingsError
from genspp.settings import default_hidden, resolve
from genspp.model.folder import load_folder, save_folder
from genspp.model.inference import classify, select
from genspp.model.rationale import Rationale, highlight_spans

logger = logging.getLogger("genspp")

Texts = Sequence[str] | Sequence[Sequence[str]]
_EMPTY = np.zeros(0, np.int32)


class Recorder(Protocol):
    """What a method tells while it is trained, and where it asks how far it had come."""

    def restore(self) -> dict[str, Any] | None:
        """Return the last recorded state, or None at the start."""
        ...

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Take a line for the log, the state to resume from, and how many lines there will be at most."""
        ...


class Memory:
    """A recorder that keeps the lines and forgets the states; what `fit` uses when it is given none."""

    def restore(self) -> dict[str, Any] | None:
        """Return nothing: a fit in memory starts at the start."""
        return None

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Take nothing: `history_` keeps the lines."""


@dataclass(frozen=True)
class _Read:
    """One text as it was given and as it was cut."""

    text: str
    tokens: list[str]
    spans: list[Span]


class Rationalizer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that selects the tokens it decides from. Subclasses declare their settings in `__init__`.

    Learnt: `classes_` (sorted), `vectors_`, `model_` (a torch module with `select` and `classify`), `full_text_`
    (a predictor of the same size that sees everything), `history_` (one dictionary a generation or epoch).
    """

    presets: ClassVar[dict[str, dict[str, Any]]]
    classes_: npt.NDArray[Any]
    vectors_: Vectors
    model_: Any
    full_text_: Any
    history_: list[dict[str, Any]]

    # ------------------------------------------------------------------ what a method provides

    @classmethod
    @abstractmethod
    def source_defaults(cls, defaults: SourceDefaults, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that this method takes on a named data set, given what the user has chosen."""

    @abstractmethod
    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        """Return an untrained pair and an untrained full-text predictor."""

    @abstractmethod
    def _train(
        self,
        settings: dict[str, Any],
        train: Encoded,
        val: Encoded,
        class_weights: npt.NDArray[np.float32],
        recorder: Recorder,
    ) -> None:
        """Train `model_` and `full_text_`, which exist with their initial weights, and fill `history_`."""

    # ------------------------------------------------------------------ scikit-learn's manners

    def fit(
        self,
        texts: Texts,
        labels: Sequence[Any],
        *,
        validation: tuple[Texts, Sequence[Any]] | None = None,
        recorder: Recorder | None = None,
    ) -> Self:
        """Train on texts (strings, or lists of tokens) and their labels.

        The validation rows choose the model; they are never trained on. Without `validation` a stratified
        `validation_fraction` of the texts is set apart for it.
        """
        settings = self.settings()
        tokenizer = Tokenizer(settings["tokenizer"])
        reads, names = _read(texts, tokenizer), _labels(labels, len(texts))
        if validation is None:
            fraction = settings["validation_fraction"]
            train_rows, val_rows = stratified_split([str(name) for name in names], [1 - fraction, fraction])
            if not val_rows:
                raise DataError(f"{len(names)} texts are too few to set {fraction:g} of them apart; give more.")
            train_reads, val_reads = [reads[i] for i in train_rows], [reads[i] for i in val_rows]
            train_names, val_names = names[train_rows], names[val_rows]
        else:
            train_reads, train_names = reads, names
            val_reads, val_names = _read(validation[0], tokenizer), _labels(validation[1], len(validation[0]))
        self.classes_ = _classes(train_names)
        settings["hidden"] = settings["hidden"] or default_hidden(len(self.classes_))
        # Word vectors made from the corpus see the training texts alone; a file is asked for all words.
        keys = _keys(train_reads, tokenizer)
        known = keys if settings["vectors"] in ("corpus", "onehot") else keys + _keys(val_reads, tokenizer)
        self.vectors_ = build_vectors(settings["vectors"], known, settings.get("vector_width"))
        self._settings_, self.history_ = settings, []
        train = self._encode(train_reads, _numbers(train_names, self.classes_, "the training texts"))
        val = self._encode(val_reads, _numbers(val_names, self.classes_, "the validation texts"))
        self._make_networks()
        self._train(settings, train, val, _class_weights(settings, self.classes_, train_names), recorder or Memory())
        self.model_.eval()
        self.full_text_.eval()
        return self

    def predict(self, texts: Texts, masks: Sequence[Sequence[int]] | None = None) -> npt.NDArray[Any]:
        """Return the label of every text, decided from its own highlight or from the given `masks`."""
        best = self.predict_proba(texts, masks).argmax(1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, texts: Texts, masks: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of every class, (texts, classes), in the order of `classes_`."""
        reads = self._reads(texts)
        data = self._encode(reads)
        flat = self._select(data) if masks is None else _flat_masks(masks, reads)
        return classify(self.model_.classify, data, flat, len(self.classes_))

    def predict_full_text(self, texts: Texts) -> npt.NDArray[Any]:
        """Return what a predictor of the same size says when it sees every token: what do highlights cost?"""
        data = self._encode(self._reads(texts))
        everything = np.ones(len(data.ids), np.uint8)

        def logits(ids: Tensor, real: Tensor, mask: Tensor) -> Tensor:
            answer: Tensor = self.full_text_.full_text(self.model_.vectors[ids], real)
            return answer

        return np.asarray(self.classes_[classify(logits, data, everything, len(self.classes_)).argmax(1)])

    def explain(self, texts: Texts) -> list[Rationale]:
        """Return for every text the decision and the words it was made from."""
        reads = self._reads(texts)
        data = self._encode(reads)
        flat = self._select(data)
        probabilities = classify(self.model_.classify, data, flat, len(self.classes_))
        names = self.classes_.tolist()
        rationales = []
        for read, mask, row in zip(reads, data.split(flat), probabilities, strict=True):
            chosen = mask.tolist()
            rationales.append(
                Rationale(
                    text=read.text,
                    label=names[int(row.argmax())],
                    probabilities=dict(zip(names, row.tolist(), strict=True)),
                    tokens=read.tokens,
                    mask=chosen,
                    spans=highlight_spans(read.spans, chosen),
                )
            )
        return rationales

    def settings(self) -> dict[str, Any]:
        """Return all settings, the preset's values filled in, checked together."""
        return resolve(self.get_params(deep=False), self.presets)

    # ------------------------------------------------------------------ folders

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder of JSON and safetensors."""
        self._check_fitted()
        # What a model is does not depend on how many processes trained it.
        settings = {name: value for name, value in self._settings_.items() if name != "workers"}
        if not isinstance(settings["vectors"], str):
            settings["vectors"] = self.vectors_.kind
        config = {
            "method": type(self).__name__,
            "settings": settings,
            "classes": self.classes_.tolist(),
            "vectors": self.vectors_.kind,
        }
        arrays = {f"model.{name}": value.numpy() for name, value in self.model_.state_dict().items()}
        arrays |= {f"full_text.{name}": value.numpy() for name, value in self.full_text_.state_dict().items()}
        save_folder(Path(folder), config, self.vectors_.words, arrays)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that `save` wrote. `Rationalizer.load` reads any method, a subclass only its own."""
        from genspp.methods import METHODS

        config, words, arrays = load_folder(Path(folder))
        kind = METHODS.get(str(config["method"]).lower())
        if kind is None or not issubclass(kind, cls):
            raise SettingsError(f"{folder} holds a {config['method']} model, which {cls.__name__} cannot read.")
        model = kind(**config["settings"])
        model._settings_ = model.settings()
        model.classes_ = np.array(config["classes"])
        model.vectors_ = Vectors(words, arrays["model.vectors"], config["vectors"])
        model.history_ = []
        model._make_networks()
        for name in ("model", "full_text"):
            weights = {
                key.split(".", 1)[1]: torch.from_numpy(value.copy())
                for key, value in arrays.items()
                if key.split(".", 1)[0] == name
            }
            getattr(model, f"{name}_").load_state_dict(weights)
        return model

    # ------------------------------------------------------------------ shared work

    def _make_networks(self) -> None:
        self.model_, self.full_text_ = self._networks(self._settings_, self.vectors_.table.shape[1], len(self.classes_))
        self.model_.eval()
        self.full_text_.eval()

    def _select(self, data: Encoded) -> Mask:
        """Return the flat highlight of all texts."""
        return select(self.model_.select, data)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not trained yet; call fit or load first.")

    def _reads(self, texts: Texts) -> list[_Read]:
        self._check_fitted()
        return _read(texts, Tokenizer(self._settings_["tokenizer"]))

    def _encode(self, reads: Sequence[_Read], numbers: npt.NDArray[np.int32] = _EMPTY) -> Encoded:
        keys = _keys(reads, Tokenizer(self._settings_["tokenizer"]))
        return encode(keys, self.vectors_.index, UNKNOWN, numbers)  # type: ignore[arg-type]


def _read(texts: Texts, tokenizer: Tokenizer) -> list[_Read]:
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise DataError(f"texts is a {type(texts).__name__}; give a list of strings or of token lists.")
    if isinstance(texts, np.ndarray) and texts.ndim != 1:
        raise DataError(f"texts is an array of shape {texts.shape}; give one text a row, as a list or a flat array.")
    reads = []
    for number, text in enumerate(texts):
        if isinstance(text, str):
            read = _Read(text, *tokenizer(text))
        elif isinstance(text, Sequence | np.ndarray) and all(isinstance(token, str) for token in text):
            joined, spans = tokenizer.join([str(token) for token in text])
            read = _Read(joined, list(text), spans)
        else:
            raise DataError(f"text {number} (from 0) is a {type(text).__name__}; give a string or a list of tokens.")
        if not read.tokens:
            raise DataError(f"text {number} (from 0) is empty; leave it out or fill it in.")
        reads.append(read)
    if not reads:
        raise DataError("there are no texts; give at least one.")
    return reads


def _keys(reads: Sequence[_Read], tokenizer: Tokenizer) -> list[list[str]]:
    return [[tokenizer.key(token) for token in read.tokens] for read in reads]


def _labels(labels: Sequence[Any], texts: int) -> npt.NDArray[Any]:
    if len(labels) != texts:
        raise DataError(f"there are {texts} texts but {len(labels)} labels; give one label a text.")
    for number, label in enumerate(labels):
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise DataError(f"label {number} (from 0) is {label}; give every text a label.")
    return np.asarray(labels)


def _classes(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    classes = np.unique(names)
    if len(classes) < 2:
        raise DataError(
            f"all training labels are {classes.tolist()[0]!r}: one class only; give texts of at least two classes."
        )
    return classes


def _numbers(names: npt.NDArray[Any], classes: npt.NDArray[Any], where: str) -> npt.NDArray[np.int32]:
    unknown = sorted({str(name) for name in names[~np.isin(names, classes)]})
    if unknown:
        raise DataError(
            f"label {unknown[0]!r} occurs in {where} but in no training text; "
            "correct it, or add training texts of that class."
        )
    return np.searchsorted(classes, names).astype(np.int32)


def _class_weights(
    settings: dict[str, Any], classes: npt.NDArray[Any], names: npt.NDArray[Any]
) -> npt.NDArray[np.float32]:
    try:
        weights = compute_class_weight(settings["class_weight"], classes=classes, y=names)
    except ValueError as error:
        raise SettingsError(
            f"class_weight is {settings['class_weight']!r}; it takes None, 'balanced' or a dictionary "
            f"from label to weight ({error})."
        ) from None
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise SettingsError(f"class_weight is {settings['class_weight']!r}; weights must be finite, not negative.")
    return np.asarray(weights, np.float32)


def _flat_masks(masks: Sequence[Sequence[int]], reads: Sequence[_Read]) -> Mask:
    if len(masks) != len(reads):
        raise DataError(f"there are {len(reads)} texts but {len(masks)} masks; give one mask a text.")
    for number, (mask, read) in enumerate(zip(masks, reads, strict=True)):
        if len(mask) != len(read.tokens):
            raise DataError(
                f"the mask of text {number} (from 0) has {len(mask)} entries, but the text has "
                f"{len(read.tokens)} tokens; give one entry a token."
            )
    flat = np.concatenate([np.asarray(mask) for mask in masks])
    if not np.isin(flat, (0, 1)).all():
        raise DataError("a mask holds something other than 0 and 1; give 1 for a selected token, else 0.")
    return flat.astype(np.uint8)
