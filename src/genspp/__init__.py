"""Text classifiers that show exactly the words they used.

>>> from genspp import GenSPP                                # doctest: +SKIP
>>> model = GenSPP(seed=1).fit(texts, labels)                # doctest: +SKIP
>>> model.explain(["Where is my parcel?"])                    # doctest: +SKIP
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genspp.data.embeddings import Vectors as Vectors
    from genspp.data.embeddings import read_glove as read_glove
    from genspp.methods import FR as FR
    from genspp.methods import GRAT as GRAT
    from genspp.methods import MCD as MCD
    from genspp.methods import MGR as MGR
    from genspp.methods import RNP as RNP
    from genspp.methods import GenSPP as GenSPP
    from genspp.methods.base import Rationalizer as Rationalizer
    from genspp.model.rationale import Rationale as Rationale

__version__ = version("genspp")

__all__ = [
    "FR",
    "GRAT",
    "MCD",
    "MGR",
    "RNP",
    "GenSPP",
    "Rationale",
    "Rationalizer",
    "Vectors",
    "__version__",
    "read_glove",
]

_PUBLIC = {
    "FR": "genspp.methods",
    "GRAT": "genspp.methods",
    "GenSPP": "genspp.methods",
    "MCD": "genspp.methods",
    "MGR": "genspp.methods",
    "RNP": "genspp.methods",
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
