"""A saved model without torch says what its method's class says, to the bit, and refuses what does not fit."""

import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import sentences
from folder_tools import GONE, edit_field, sign
from genspp.app.predict import open_explainer
from genspp.errors import ModelFolderError
from genspp.methods import METHODS, Rationalizer
from genspp.model.folder import load_folder
from genspp.model.saved import SavedExplainer

TEXTS, LABELS = sentences(40)
NEW = [*sentences(12, seed=5)[0], "zebra goals breads", "entirely unheard-of wordings"]
SMALL = {"generations": 0, "population": 2, "max_epochs": 1, "pretrain_epochs": 1, "lists": 2}


@pytest.fixture(scope="module", params=["sound", "paper"])
def preset(request):
    return request.param


@pytest.fixture(scope="module", params=list(METHODS))
def model(request, preset):
    kind = METHODS[request.param]
    small = {name: value for name, value in SMALL.items() if name in kind.declared}
    if kind.title == "Word list":
        small["label_columns"] = True
    return kind(preset=preset, hidden=5, seed=3, workers=1, **small).fit(TEXTS, LABELS)


def test_every_method_s_model_explains_the_same_without_its_class(model, tmp_path):
    model.save(tmp_path / "m")
    saved, _ = open_explainer(tmp_path / "m")
    assert isinstance(saved, SavedExplainer)
    assert (saved.method, saved.cut_by, saved.classes_.tolist()) == (model.title, "words", model.classes_.tolist())
    assert saved.explain(NEW) == model.explain(NEW)
    np.testing.assert_array_equal(saved.predict(NEW), model.predict(NEW))
    masks = [[number % 2 for number in range(len(why.mask))] for why in saved.explain(NEW)]
    np.testing.assert_array_equal(saved.predict_proba(NEW, masks), model.predict_proba(NEW, masks))
    model.save(tmp_path / "m")  # now with words that were asked for
    again = Rationalizer.load(tmp_path / "m"), open_explainer(tmp_path / "m")[0]
    assert again[0].explain(NEW) == again[1].explain(NEW)


def explained(model):
    return model.explain(NEW), model.explain(NEW, [None, *([0] * len(why.mask) for why in model.explain(NEW)[1:])])


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("members", [1, 3])
def test_predictors_that_decide_together_say_the_same_without_their_class(tmp_path, members, regression):
    settings = {"hidden": 5, "generations": 0, "population": 2, "max_epochs": 2, "workers": 1, "truncate": 4}
    model = METHODS["genspp"](predictors=members, regression=regression, **settings).fit(TEXTS, LABELS)
    model.save(tmp_path)
    networks = load_folder(tmp_path).networks
    assert [networks[name].get("members") for name in ("generator", "predictor", "full_text")] == [
        None, *[None if members == 1 and not regression else members] * 2
    ]  # fmt: skip
    saved, _ = open_explainer(tmp_path)
    assert isinstance(saved, SavedExplainer) and saved.most_tokens == 4
    before = explained(model)
    assert explained(saved) == before
    assert any(why.document.unread for why in before[0])
    for one in (model, saved):
        assert len(one.vectors_.words) > len(load_folder(tmp_path).vectors.words)
        one.forget()
        assert one.vectors_.words == load_folder(tmp_path).vectors.words
        assert explained(one) == before


def test_a_word_list_forgets_the_words_that_it_was_asked_about(tmp_path):
    model = METHODS["wordlist"](label_columns=True, lists=2, predictors=1, max_epochs=1, workers=1).fit(TEXTS, LABELS)
    before, rows = model.explain(NEW), len(model.vectors_.trained().table)
    assert len(model.model_.generator.margins) > rows
    model.forget()
    assert len(model.model_.generator.margins) == rows
    model.save(tmp_path)
    assert model.explain(NEW) == open_explainer(tmp_path)[0].explain(NEW) == before


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    model = METHODS["genspp"](hidden=4, generations=0, population=2, workers=1, start="random").fit(TEXTS, LABELS)
    model.save(folder)
    return folder


def test_a_folder_that_says_nothing_of_its_networks_is_opened_by_its_method(plain, tmp_path):
    copy = tmp_path / "m"
    copy.mkdir()
    for path in plain.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    edit_field(copy / "config.json", "networks", GONE)
    sign(copy)
    older, _ = open_explainer(copy)
    assert isinstance(older, METHODS["genspp"])
    assert older.explain(NEW) == open_explainer(plain)[0].explain(NEW)


WRONG = [
    ("networks", []), ("networks", {}), ("networks", "gru"), ("title", None), ("networks.generator", None),
    ("networks.generator", {}), ("networks.generator.kind", "words"), ("networks.generator.kind", "saliency"),
    ("networks.generator.ways", 1), ("networks.generator.ways", 3), ("networks.generator.outputs", 2),
    ("networks.generator.gated", True), ("networks.generator.normed", True), ("networks.predictor", GONE),
    ("networks.predictor.units", 5), ("networks.predictor.units", 10**9), ("networks.predictor.units", True),
    ("networks.predictor.inputs", 1), ("networks.predictor.outputs", 4), ("networks.predictor.skipping", None),
    ("networks.full_text", GONE), ("networks.full_text.selected", 1), ("networks.sampled", -1),
    ("networks.sampled", "x"), ("networks.share", 2), ("networks.share", True), ("settings.tokenizer", "bytes"),
    ("settings.hidden", 5), ("settings.truncate", 0), ("networks.predictor.members", GONE),
    ("networks.predictor.members", 4), ("networks.predictor.members", 6), ("networks.predictor.members", 0),
    ("networks.predictor.words", GONE), ("networks.predictor.words", 3), ("networks.predictor.words", 10**400),
    ("networks.predictor.words", True), ("networks.full_text.words", "x"), ("networks.generator.words", 2),
    ("networks.predictor.members", 10**9), ("networks.full_text.members", "5"), ("networks.full_text.members", True),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_networks_that_do_not_fit_are_one_sentence(plain, tmp_path, field, value):
    for path in plain.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edit_field(tmp_path / "config.json", field, value)
    sign(tmp_path)
    with pytest.raises(ModelFolderError, match=str(tmp_path)):
        open_explainer(tmp_path)


def test_what_a_folder_says_of_its_networks_is_plain(plain):
    networks = load_folder(plain).networks
    assert json.loads(json.dumps(networks)) == networks
    assert networks["generator"]["units"] == 4 and networks["predictor"]["skipping"] is True


HEAVY = ("torch", "sklearn", "scipy.linalg", "scipy.sparse", "matplotlib", "pandas")
COMMANDS = {
    "--help": ["--help"],
    "explain": ["explain", "MODEL", "a goal"],
    "explain --html": ["explain", "MODEL", "a goal", "--html", "OUT/p.html"],
    "predict": ["predict", "MODEL", "OUT/t.csv", "--out", "OUT/o.csv"],
}
CHECKS = f"""
found = [name for name in {HEAVY!r} if name in sys.modules]
kernels = [value for name, module in list(sys.modules.items()) if name.startswith("genspp.kernels")
           for value in vars(module).values() if hasattr(value, "stats")]
missed = [kernel.__name__ for kernel in kernels if sum(kernel.stats.cache_misses.values())]
print("found", found, "compiled", sorted(set(missed)))
"""


def loads_nothing(code):
    for _ in range(2):  # the first may have to compile
        done = subprocess.run([sys.executable, "-c", code + CHECKS], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "found [] compiled []"


def test_a_server_loads_neither_torch_nor_scikit_learn_and_compiles_nothing(plain):
    pytest.importorskip("uvicorn", reason="genspp[serve] is not installed")
    loads_nothing(f"""
import sys
from pathlib import Path
from genspp.app.predict import open_explainer
from genspp.app.serve.question import answer
from genspp.app.serve.web import make_app
model, _ = open_explainer(Path({str(plain)!r}))
make_app(model, "plain", None)
assert answer(model, b'{{"texts": ["a goal"], "masks": [[0, 1]]}}')[0]["mask"] == [0, 1]
""")


@pytest.mark.parametrize("command", COMMANDS)
def test_explaining_loads_neither_torch_nor_scikit_learn_and_compiles_nothing(plain, tmp_path, command):
    (tmp_path / "t.csv").write_text("text\na goal\n")
    arguments = [part.replace("MODEL", str(plain)).replace("OUT", str(tmp_path)) for part in COMMANDS[command]]
    loads_nothing(f"""
import sys
sys.argv = ["genspp", *{arguments!r}]
from genspp import cli
try:
    cli.main()
except SystemExit as ended:
    assert not ended.code, ended.code
""")
