"""Text classifiers that show exactly the words they used.

>>> from genspp import GenSPP                                # doctest: +SKIP
>>> model = GenSPP(seed=1).fit(texts, labels)                # doctest: +SKIP
>>> model.explain(["Where is my parcel?"])                    # doctest: +SKIP

Every method can be imported from here by the name of its class.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genspp.data.corpus import Corpus as Corpus
    from genspp.data.frames import read_corpus as read_corpus
    from genspp.data.vectors import Vectors as Vectors
    from genspp.data.vectors import read_glove as read_glove
    from genspp.methods.base import Rationalizer as Rationalizer
    from genspp.methods.genspp import GenSPP as GenSPP
    from genspp.model.rationale import Rationale as Rationale

    __version__: str

__all__ = ["Corpus", "GenSPP", "Rationale", "Rationalizer", "Vectors", "__version__", "read_corpus", "read_glove"]

_PUBLIC = {
    "Corpus": "genspp.data.corpus",
    "Rationale": "genspp.model.rationale",
    "Rationalizer": "genspp.methods.base",
    "Vectors": "genspp.data.vectors",
    "read_corpus": "genspp.data.frames",
    "read_glove": "genspp.data.vectors",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are asked for: `import genspp` alone does not load torch."""
    if name == "__version__":
        from importlib.metadata import version

        return version("genspp")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name[:1].isupper():
        return getattr(import_module("genspp.methods"), name)
    raise AttributeError(f"module 'genspp' has no attribute {name!r}")
