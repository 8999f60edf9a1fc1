"""What `fit` is given besides texts, checked and made into arrays: labels, class weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight

from genspp.errors import DataError, SettingsError


def classes_of(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Return the distinct labels, sorted; there must be two."""
    classes = np.unique(np.asarray(labels))
    if len(classes) < 2:
        raise DataError(
            f"all training labels are {classes.tolist()[0]!r}: one class only; give texts of at least two classes."
        )
    return classes


def class_numbers(labels: Sequence[Any], classes: npt.NDArray[Any], where: str) -> npt.NDArray[np.int32]:
    """Return the number of every label among the classes."""
    names = np.asarray(labels)
    unknown = sorted({str(name) for name in names[~np.isin(names, classes)]})
    if unknown:
        raise DataError(
            f"label {unknown[0]!r} occurs in {where} but in no training text; "
            "correct it, or add training texts of that class."
        )
    return np.searchsorted(classes, names).astype(np.int32)


def class_weights(asked: Any, classes: npt.NDArray[Any], labels: Sequence[Any]) -> npt.NDArray[np.float32]:
    """Return the weight of every class, all above 0: no batch may weigh nothing, for its loss is a mean by weight."""
    try:
        weights = compute_class_weight(asked, classes=classes, y=np.asarray(labels))
        with np.errstate(over="ignore"):
            weights = np.asarray(weights, np.float32)
    except (ValueError, TypeError) as error:
        raise SettingsError(
            f"class_weight is {asked!r}; it takes None, 'balanced' or a dictionary from label to weight ({error})."
        ) from None
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise SettingsError(
            f"class_weight is {asked!r}; weights must be finite and above 0. To ignore a class, leave out its texts."
        )
    return weights
