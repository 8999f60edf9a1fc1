"""One file a method, all behind one estimator contract."""

from genspp.methods.base import Rationalizer
from genspp.methods.fr import FR
from genspp.methods.genspp import GenSPP
from genspp.methods.grat import GRAT
from genspp.methods.mcd import MCD
from genspp.methods.mgr import MGR
from genspp.methods.rnp import RNP

__all__ = ["FR", "GRAT", "MCD", "METHODS", "MGR", "RNP", "GenSPP", "Rationalizer"]

METHODS: dict[str, type[Rationalizer]] = {
    "genspp": GenSPP,
    "rnp": RNP,
    "fr": FR,
    "mgr": MGR,
    "mcd": MCD,
    "grat": GRAT,
}
