"""A saved model that explains without torch: its networks, as its folder describes them, on the folder's arrays.

`networks` in `config.json` says what the method's class would: which kind every network is of, its sizes, how
highlights are chosen. Folders of earlier versions do not say it; these are opened by the method's class.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from genspp.data.tokenize import NAMES as TOKENIZERS
from genspp.errors import ModelFolderError
from genspp.kernels.gru import Sizes
from genspp.model.explainer import Explainer
from genspp.model.folder import SavedModel
from genspp.model.forms import (
    Arrays,
    Form,
    KernelPair,
    MarkedWords,
    SalientTo,
    Together,
    Weighed,
    WordMargins,
    check_shapes,
    kernel_order,
    pack,
    padded_hidden,
    parameter_shapes,
)
from genspp.settings import FLAG, Check, number, optional, whole

_SIZES, _KINDS = ("inputs", "units", "ways", "outputs"), ("selected", "skipping", "gated")
_WHOLE, _MEMBERS = whole(1), optional(whole(1, 1000))
_WORDS, _SALIENCY = "words", "saliency"  # generators that are no networks
_PLACES = {"generator": "model.generator", "predictor": "model.predictor", "full_text": "full_text"}


def described(pair: KernelPair, full_text: Weighed | Together) -> dict[str, Any]:
    """Return what a folder says of the networks of a model."""
    if isinstance(pair.generator, WordMargins):
        generator: dict[str, Any] = {"kind": _WORDS, "rows": len(pair.generator.margins)}
    elif isinstance(pair.generator, SalientTo):
        generator = {"kind": _SALIENCY, **_fields(pair.generator.predictor.form)}
    else:
        generator = _fields(pair.generator.form)
    return {
        "generator": generator,
        "predictor": _deciding(pair.predictor),
        "full_text": _deciding(full_text),
        "sampled": pair.sampled,
        "share": pair.share,
    }


def _deciding(predictor: Weighed | Together) -> dict[str, Any]:
    """Return what is said of a predictor, or of several that decide together: the same, and how many they are.

    words: how many rows a regression on the marked words knows, where there is one.
    """
    if not isinstance(predictor, Together):
        return _fields(predictor.form)
    told = {"members": len(predictor.members)}
    if predictor.words is not None:
        told["words"] = len(predictor.words.idf)
    return _fields(predictor.members[0].form) | told


def _fields(form: Form) -> dict[str, Any]:
    every = form.sizes._asdict() | form._asdict()
    return {name: every[name] for name in (*_SIZES, "normed", *_KINDS)}


class SavedExplainer(Explainer):
    """A model from its folder, as it was saved."""

    def __init__(self, folder: Path, saved: SavedModel) -> None:
        self.classes_, self.vectors_ = np.array(saved.classes), saved.vectors
        self._saved, tokenizer, most = saved, saved.settings["tokenizer"], saved.settings.get("truncate")
        try:
            if tokenizer not in TOKENIZERS:
                raise ValueError(f"tokenizer is {tokenizer!r}; it takes one of {', '.join(TOKENIZERS)}.")
            if not optional(_WHOLE)[0](most):
                raise ValueError(f"truncate is {most!r}; it takes {optional(_WHOLE)[1]}.")
            self._kernels = _pair_of(saved)
        except ValueError as error:
            raise ModelFolderError(f"{folder} cannot be used: {error}") from None

    @property
    def method(self) -> str:
        """What its method is called."""
        return self._saved.title

    @property
    def cut_by(self) -> str:
        """The tokeniser of texts that are given as strings."""
        return str(self._saved.settings["tokenizer"])

    @property
    def most_tokens(self) -> int | None:
        """How many tokens of a text are read at most, the first ones; None: all."""
        return self._saved.settings.get("truncate")

    def _pair(self) -> KernelPair:
        return replace(self._kernels, vectors=self.vectors_.table)


def _pair_of(saved: SavedModel) -> KernelPair:
    """Return the pair that a folder holds, every array of the folder in its place; ValueError where one is not."""
    networks, table = saved.networks or {}, saved.vectors.table
    shapes, forms = {"model.vectors": table.shape}, dict[str, Form]()
    for name, place in _PLACES.items():
        fields = networks.get(name)
        if not isinstance(fields, Mapping):
            raise ValueError(f"its networks have no {name}.")
        kind = fields.get("kind") if name == "generator" else None
        if kind == _WORDS:
            shapes[f"{place}.margins"] = (_checked(fields, "rows", _WHOLE),)
            continue
        outputs = (1, 2) if name == "generator" and kind != _SALIENCY else (len(saved.classes),)
        form = _form(name, fields, table.shape[1], saved.settings["hidden"], outputs)
        for own in _own_places(name, place, fields):
            forms[own] = form
            shapes |= {f"{own}.{key}": shape for key, shape in parameter_shapes(form.sizes).items()}
        if fields.get("words") is not None:
            rows = len(table)
            if name == "generator" or fields.get("members") is None or fields["words"] != rows:
                raise ValueError(
                    f"the {name} names a regression that does not fit its predictors and its {rows:,} rows."
                )
            shapes |= _word_shapes(place, rows, form.sizes.outputs)
    check_shapes(shapes, saved.weights)

    def weighed(place: str) -> Weighed:
        return _weighed(place, forms[place], saved.weights)

    generator: Weighed | WordMargins | SalientTo
    if "model.generator" in forms:
        generator = weighed("model.generator")
    elif "model.generator.predictor" in forms:
        generator = SalientTo(weighed("model.generator.predictor"))
    else:
        generator = WordMargins(saved.weights["model.generator.margins"])
    members = tuple(weighed(place) for place in forms if place.startswith("model.predictor"))
    words = [saved.weights[name] for name in _word_shapes("model.predictor", 0, 0) if name in shapes]
    return KernelPair(
        table,
        generator,
        members[0] if "model.predictor" in forms else Together(members, MarkedWords(*words) if words else None),
        _checked(networks, "sampled", optional(whole(0))),
        _checked(networks, "share", optional(number(0, 1))),
    )


def _word_shapes(place: str, rows: int, classes: int) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a regression on the marked words."""
    words = f"{place}.words"
    return {f"{words}.idf": (rows,), f"{words}.weights": (rows, classes), f"{words}.bias": (classes,)}


def _own_places(name: str, place: str, fields: Mapping[str, Any]) -> list[str]:
    """Return where a network's weights are; of predictors that decide together, each one's."""
    if name == "generator":
        return [f"{place}.predictor" if fields.get("kind") == _SALIENCY else place]
    members = _checked(fields, "members", _MEMBERS)
    return [place] if members is None else [f"{place}.members.{number}" for number in range(members)]


def _form(name: str, fields: Mapping[str, Any], inputs: int, hidden: Any, outputs: tuple[int, ...]) -> Form:
    """Return what a network is; ValueError where it does not fit the vectors, the settings and the classes."""
    sizes = {size: _checked(fields, size, _WHOLE) for size in _SIZES}
    form = Form(
        Sizes(hidden=padded_hidden(sizes["units"]), normed=_checked(fields, "normed", FLAG), **sizes),
        **{kind: _checked(fields, kind, FLAG) for kind in _KINDS},
    )
    known = sizes["inputs"] == inputs and sizes["units"] == hidden and sizes["outputs"] in outputs
    if not known or sizes["ways"] > 2 or (form.gated and sizes["outputs"] != 2):
        raise ValueError(f"the {name} that its networks name does not fit its vectors, its settings and its classes.")
    return form


def _checked(fields: Mapping[str, Any], name: str, check: Check) -> Any:
    value = fields.get(name)
    if not check[0](value):
        raise ValueError(f"{name} among its networks is {value!r}; it takes {check[1]}.")
    return value


def _weighed(place: str, form: Form, arrays: Arrays) -> Weighed:
    flat = np.concatenate([arrays[f"{place}.{name}"].ravel() for name in parameter_shapes(form.sizes)])
    return Weighed(form, pack(flat, kernel_order(form.sizes)))
