"""What may know what: a room imports only from rooms on its left."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import genspp
from genspp.data.formats import FORMATS
from genspp.data.sources import SOURCES
from genspp.evolution.search import STRATEGIES
from genspp.methods import METHODS
from genspp.methods.masks import MASKS

PACKAGE = Path(genspp.__file__).parent
BASEMENT = ["errors", "registry", "settings", "harmless", "files", "streams", "cluster"]
STREET = ["kernels", "data", "model", "population", "evolution", "methods", "evaluation", "report", "app"]
ROOMS = [*BASEMENT, *STREET, "experiments", "cli"]
REGISTRIES: dict[str, Any] = {
    "METHODS": METHODS,
    "MASKS": MASKS,
    "SOURCES": SOURCES,
    "FORMATS": FORMATS,
    "STRATEGIES": STRATEGIES,
}
# `genspp/__init__` offers names of all rooms, and imports none of them before it is asked.
MODULES = {
    ".".join(("genspp", *path.relative_to(PACKAGE).with_suffix("").parts)): ast.parse(path.read_text("utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the names of what a module imports, at its top or inside of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            if node.module == "genspp":
                yield from (f"genspp.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def room_of(module: str) -> str:
    return module.split(".")[1]


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_only_from_rooms_on_its_left(module):
    own = ROOMS.index(room_of(module))
    names = {name for name in imported(MODULES[module]) if name.startswith("genspp.")} - {"genspp.__version__"}
    assert {name for name in names if ROOMS.index(room_of(name)) > own} == set()


def test_every_room_is_known():
    assert {room_of(module) for module in MODULES} == set(ROOMS)


def test_the_compiler_is_called_from_one_room():
    users = {
        room_of(module)
        for module, tree in MODULES.items()
        if {name.split(".")[0] for name in imported(tree)} & {"numba", "llvmlite"}
    }
    assert users == {"kernels"}


def test_no_module_is_longer_than_a_reader_has_patience():
    lines = {
        str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")
    }
    assert {name: count for name, count in lines.items() if count > 400} == {}


def registered() -> Iterator[tuple[str, str, str]]:
    """Yield registry, name and module of everything that says it registers itself."""
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            for decorator in getattr(node, "decorator_list", []):
                match decorator:
                    case ast.Call(ast.Attribute(ast.Name(registry), "register"), [ast.Constant(str(name))]):
                        yield registry, name, module


def test_every_guest_is_found_and_is_a_file_of_its_registry_s_package():
    found = list(registered())
    assert {registry for registry, _, _ in found} == set(REGISTRIES)
    for registry, guests in REGISTRIES.items():
        assert {name for kind, name, _ in found if kind == registry} == set(guests)
    for registry, name, module in found:
        assert REGISTRIES[registry][name].__module__ == module
        assert module.rpartition(".")[0] == REGISTRIES[registry].package


@pytest.mark.parametrize("registry", REGISTRIES)
def test_no_guest_is_mentioned_elsewhere(registry):
    """A new one is one new file: nothing lists them. `genspp toy` and the experiments are about certain ones."""
    guests = {guest.__module__ for guest in REGISTRIES[registry].values()} - {"genspp.methods.masks"}
    others = {module: set(imported(tree)) for module, tree in MODULES.items() if module not in guests}
    knowing = {module for module, names in others.items() if names & guests}
    assert {module for module in knowing if room_of(module) not in ("cli", "experiments")} == set()


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_is_whole(name):
    method = METHODS[name]
    assert not inspect.isabstract(method)
    assert method.title
    assert (method.__doc__ or "").strip()
