"""Torch's modules and their weights: as one flat vector and back, and as the kernels have them (`forms.py`).

A parameter that two modules share counts once.
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from genspp.kernels.gru import Sizes
from genspp.kernels.memory import floats
from genspp.model.forms import (
    Arrays,
    Form,
    KernelPair,
    MarkedWords,
    Places,
    SalientTo,
    Together,
    Weighed,
    Weights,
    WordMargins,
    check_shapes,
    kernel_order,
    pack,
    padded_hidden,
)
from genspp.model.networks import Committee, GatedGenerator, Generator, Pair, Predictor, Saliency, WordList


def flatten(module: nn.Module) -> Weights:
    """Return a copy of a module's parameters as one flat vector."""
    return torch.cat([parameter.detach().reshape(-1) for parameter in module.parameters()]).numpy()


def load_flat(module: nn.Module, flat: Weights) -> None:
    """Copy a flat vector into a module's parameters."""
    parameters = list(module.parameters())
    parts = torch.from_numpy(np.array(flat, np.float32)).split([parameter.numel() for parameter in parameters])  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.copy_(part.view_as(parameter))


def count(module: nn.Module) -> int:
    """Return how many numbers a module's parameters hold together."""
    return sum(parameter.numel() for parameter in module.parameters())


def check_hidden(arrays: Arrays, hidden: int) -> None:
    """Refuse saved weights of a pair that has not so many hidden units; networks of that size may then be made."""
    names = [f"model.predictor.{member}encoder.gru.weight_hh_l0" for member in ("", "members.0.")]
    if not any(name in arrays and arrays[name].shape == (3 * hidden, hidden) for name in names):
        raise ValueError(f"hidden is {hidden:,}, and its weights are not of that size.")


def check_words(arrays: Arrays, rows: int, classes: int) -> None:
    """Refuse saved weights without regressions of so many words and classes; such regressions may then be made."""
    for part in ("model.predictor", "full_text"):
        name = f"{part}.words.weights"
        if name not in arrays or arrays[name].shape != (rows, classes):
            raise ValueError(
                f"its regression on marked words ({name}) is not of {rows:,} words and {classes:,} classes."
            )


def load_arrays(modules: Mapping[str, nn.Module], arrays: Arrays) -> None:
    """Copy saved weights into modules, which have them all by the same names, in the same shapes, and no others."""
    wanted = {f"{part}.{name}": own for part, module in modules.items() for name, own in module.state_dict().items()}
    check_shapes({name: tuple(own.shape) for name, own in wanted.items()}, arrays)
    with torch.no_grad():
        for name, own in wanted.items():
            own.copy_(torch.from_numpy(arrays[name].copy()))
    for name, own in wanted.items():  # two names of weights that are shared
        if not np.array_equal(own.numpy(), arrays[name]):
            raise ValueError(f"the weights {name} are there twice, and differ.")


def draw(stream: np.random.Generator, module: nn.Module) -> Weights:
    """Draw fresh weights as torch does by default: U(-1/sqrt(fan), 1/sqrt(fan)), norms 1 and 0.

    The fan is the hidden size of a GRU, and the number of inputs of a linear layer.
    """
    bounds: dict[int, float | None] = {}
    for part in module.modules():
        if isinstance(part, nn.LayerNorm):
            bounds |= {id(part.weight): None, id(part.bias): None}
        elif isinstance(part, nn.GRU | nn.Linear):
            fan = part.hidden_size if isinstance(part, nn.GRU) else part.in_features
            bounds |= {id(parameter): 1 / math.sqrt(fan) for parameter in part.parameters()}
    drawn = []
    for parameter in module.parameters():
        bound = bounds[id(parameter)]
        if bound is None:
            drawn.append(np.full(parameter.numel(), float(parameter.detach().reshape(-1)[0])))
        else:
            drawn.append(stream.uniform(-bound, bound, parameter.numel()))
    return np.concatenate(drawn).astype(np.float32)


def sizes_of(network: Generator | Predictor) -> Sizes:
    """Return the sizes of a network as the kernels have them."""
    gru, outputs = network.encoder.gru, network.output.out_features
    hidden = padded_hidden(gru.hidden_size)
    ways, normed = 2 if gru.bidirectional else 1, network.encoder.norm is not None
    return Sizes(gru.input_size, hidden, gru.hidden_size, ways, outputs, normed)


def form_of(network: Generator | Predictor) -> Form:
    """Return what a network is to the kernels."""
    if isinstance(network, Predictor):
        return Form(sizes_of(network), selected=network.selected, skipping=network.skipping)
    return Form(sizes_of(network), gated=isinstance(network, GatedGenerator))


def kernel_weights(network: Generator | Predictor) -> Weights:
    """Return a network's weights in the kernels' order."""
    return pack(flatten(network), kernel_order(sizes_of(network)))


def weighed(network: Generator | Predictor) -> Weighed:
    """Return a network as the kernels have it, with the weights of now."""
    return Weighed(form_of(network), kernel_weights(network))


def deciding(predictor: Predictor | Committee) -> Weighed | Together:
    """Return what decides, one predictor or several together, as the kernels have it."""
    if not isinstance(predictor, Committee):
        return weighed(predictor)
    words = predictor.words
    known = None if words is None else (part.numpy().copy() for part in (words.idf, words.weights, words.bias))
    members = tuple(weighed(member) for member in predictor.members)  # type: ignore[arg-type]
    return Together(members, None if known is None else MarkedWords(*known))


def on_kernels(pair: Pair) -> KernelPair:
    """Return a pair as the kernels have it, with the weights of now."""
    if isinstance(pair.generator, WordList):
        generator: Weighed | WordMargins | SalientTo = WordMargins(pair.generator.margins.numpy().copy())
    elif isinstance(pair.generator, Saliency):
        generator = SalientTo(weighed(pair.generator.predictor))
    else:
        generator = weighed(pair.generator)
    return KernelPair(pair.vectors.numpy(), generator, deciding(pair.predictor), pair.sampled, pair.share)


class Vector:
    """The parameters of several modules in one vector, and where in it the weights of each network are.

    numbers: the parameters in torch's order, then a zero that stands for all padding.
    """

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self.parameters = list(dict.fromkeys(p for module in modules for p in module.parameters()))
        sizes = [parameter.numel() for parameter in self.parameters]
        self._starts = dict(zip(map(id, self.parameters), np.cumsum([0, *sizes]).tolist(), strict=False))
        self.numbers = floats(sum(sizes))
        self.size = sum(sizes)
        self.fetch()

    def places(self, parameters: Iterable[Tensor]) -> Places:
        """Return where the numbers of some parameters lie, one parameter after the other."""
        starts = [(self._starts[id(parameter)], parameter.numel()) for parameter in parameters]
        return np.concatenate([np.arange(0), *(np.arange(start, start + size) for start, size in starts)])

    def kernel_places(self, network: Generator | Predictor) -> Places:
        """Return where a network's weights lie, in the kernels' order; padding lies behind all of them."""
        own, order = self.places(network.parameters()), kernel_order(sizes_of(network))
        return np.where(order >= 0, own[order], self.size)

    def fetch(self) -> None:
        """Read the parameters."""
        self.numbers[: self.size] = np.concatenate([p.detach().numpy().ravel() for p in self.parameters])

    def put(self) -> None:
        """Write the parameters."""
        with torch.no_grad():
            for parameter in self.parameters:
                start = self._starts[id(parameter)]
                part = self.numbers[start : start + parameter.numel()]
                parameter.copy_(torch.from_numpy(part).view_as(parameter))
