"""Text classifiers that show exactly the words they used.

>>> from genspp import GenSPP                                # doctest: +SKIP
>>> model = GenSPP(seed=1).fit(texts, labels)                # doctest: +SKIP
>>> model.explain(["The parcel never came, I want a refund"])  # doctest: +SKIP
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genspp.data.embeddings import Vectors as Vectors
    from genspp.data.embeddings import read_glove as read_glove
    from genspp.methods.base import Rationalizer as Rationalizer
    from genspp.methods.genspp import GenSPP as GenSPP
    from genspp.model.rationale import Rationale as Rationale

__version__ = version("genspp")

__all__ = ["GenSPP", "Rationale", "Rationalizer", "Vectors", "__version__", "read_glove"]

_PUBLIC = {
    "GenSPP": "genspp.methods",
    "Rationale": "genspp.model.rationale",
    "Rationalizer": "genspp.methods.base",
    "Vectors": "genspp.data.embeddings",
    "read_glove": "genspp.data.embeddings",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are asked for: `import genspp` alone does not load torch."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'genspp' has no attribute {name!r}")
