from dataclasses import replace

import numpy as np
import pytest

from folder_tools import alter, sign
from genspp.data.vector_file import VectorFile
from genspp.data.vectors import Vectors
from genspp.errors import ModelFolderError
from genspp.model.folder import SavedModel, load_folder, save_folder, write_card

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
MODEL = SavedModel(
    "genspp",
    {"preset": "sound", "seed": 0, "hidden": 4, "tokenizer": "words", "skip_gaps": True, "class_weight": None},
    ["x", "y"],
    Vectors(("a", "ü"), TABLE, "glove:v.txt", VectorFile("/some/v.txt", "0" * 64)),
    {"model.vectors": TABLE, "model.output": np.ones(2, np.float32)},
    card="What a model is.",
)


FILES = ("config.json", "vocabulary.json", "weights.safetensors", "MODEL_CARD.md")


@pytest.fixture
def folder(tmp_path):
    save_folder(tmp_path / "m", MODEL)
    return tmp_path / "m"


def test_a_folder_comes_back_and_holds_no_pickle(folder):
    back = load_folder(folder)
    assert (back.method, back.settings, back.classes) == (MODEL.method, MODEL.settings, MODEL.classes)
    assert (back.vectors.words, back.vectors.kind, back.vectors.file) == (("a", "ü"), "glove:v.txt", MODEL.vectors.file)
    np.testing.assert_array_equal(back.vectors.table, TABLE)
    np.testing.assert_array_equal(back.weights["model.output"], np.ones(2))
    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors", ".md"}


@pytest.mark.parametrize("keys", [("x", "y"), (0, 1), (np.int64(0), np.int64(1)), (np.str_("x"), np.str_("y"))])
def test_class_weights_come_back_with_labels_of_their_kind(folder, keys):
    save_folder(
        folder, replace(MODEL, settings={**MODEL.settings, "class_weight": {keys[0]: np.float32(2), keys[1]: 1}})
    )
    weights = load_folder(folder).settings["class_weight"]
    assert weights == {keys[0]: 2.0, keys[1]: 1}
    assert [type(key) for key in weights] == [str if isinstance(keys[0], str) else int] * 2


def test_a_save_that_fails_leaves_the_old_model_whole(folder):
    with pytest.raises(TypeError):
        save_folder(folder, replace(MODEL, settings={"hidden": object()}))
    assert load_folder(folder).settings == MODEL.settings


@pytest.mark.parametrize("content", ["{}", "not JSON", '{"method": "mine", "settings": {}}', None])
def test_a_foreign_folder_is_not_overwritten(tmp_path, content):
    name = "config.json" if content is not None else "thesis.tex"
    (tmp_path / name).write_text(content or "years of work")
    with pytest.raises(ModelFolderError, match="not a model; save to a new or an empty folder"):
        save_folder(tmp_path, MODEL)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == (content or "years of work")


def test_a_model_that_was_half_written_is_written_again(folder):
    (folder / "manifest.json").unlink()
    (folder / "weights.safetensors").unlink()
    (folder / ".weights.safetensors.0a1b").write_bytes(b"")
    save_folder(folder, MODEL)
    assert load_folder(folder).classes == ["x", "y"]


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_a_missing_or_altered_file_is_named(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    with pytest.raises(ModelFolderError, match=name):
        load_folder(folder)
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFolderError, match=name):
        load_folder(folder)
    (folder / name).write_bytes(content.replace(b"a", b"b", 1))
    with pytest.raises(ModelFolderError):
        load_folder(folder)


def test_a_card_is_written_anew_with_its_checksum_and_earlier_folders_have_none(folder):
    write_card(folder, "Ünd more.")
    assert (folder / "MODEL_CARD.md").read_text(encoding="utf-8") == "Ünd more."
    assert load_folder(folder).classes == ["x", "y"]
    assert {path.name for path in folder.iterdir()} == {*FILES, "manifest.json"}
    (folder / "MODEL_CARD.md").unlink()
    sign(folder)
    assert load_folder(folder).networks is None


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("config.json", lambda config: {**config, "format": 99}, "format 99"),
        ("config.json", lambda config: {**config, "format": "2"}, "'format'"),
        ("config.json", lambda config: [config], "'format'"),
        ("config.json", lambda config: {**config, "method": None}, "'method'"),
        ("config.json", lambda config: {**config, "settings": []}, "'settings'"),
        ("config.json", lambda config: {**config, "settings": {**MODEL.settings, "class_weight": [1]}}, "class_weight"),
        ("config.json", lambda config: {**config, "settings": {**MODEL.settings, "tokenizer": None}}, "'tokenizer'"),
        ("config.json", lambda config: {**config, "settings": {}}, "no setting 'preset'"),
        ("config.json", lambda config: {**config, "classes": ["y", "x"]}, "classes"),
        ("config.json", lambda config: {**config, "classes": ["x", 1]}, "classes"),
        ("config.json", lambda config: {**config, "classes": ["x"]}, "classes"),
        ("config.json", lambda config: {**config, "classes": ["x", "x"]}, "classes"),
        ("config.json", lambda config: {**config, "classes": [["x"], ["y"]]}, "classes"),
        ("config.json", lambda config: {**config, "vectors": "glove"}, "'vectors'"),
        ("config.json", lambda config: {**config, "vectors": {"kind": "g", "file": {"path": 1}}}, "'path'"),
        ("vocabulary.json", lambda words: {"a": 1}, "not a list of words"),
        ("vocabulary.json", lambda words: [*words, 3], "not a list of words"),
        ("vocabulary.json", lambda words: [*words, "more"], "no table of vectors for the 3 words"),
    ],
)
def test_every_field_is_checked(folder, name, change, said):
    alter(folder, name, change)
    with pytest.raises(ModelFolderError, match=said):
        load_folder(folder)


def test_a_folder_of_0_1_0_is_read(folder):
    names = ("model.generator.gru.weight_ih_l0", "model.predictor.gru.bias_hh_l0", "full_text.gru.bias_hh_l0")
    save_folder(folder, replace(MODEL, weights={**MODEL.weights, **dict.fromkeys(names, np.ones(3, np.float32))}))
    alter(folder, "config.json", lambda config: {**config, "format": 1, "method": "GenSPP", "vectors": "corpus"})
    back = load_folder(folder)
    assert (back.method, back.vectors.kind, back.vectors.file) == ("genspp", "corpus", None)
    assert {name.replace(".gru.", ".encoder.gru.") for name in names} < back.weights.keys()
    alter(folder, "config.json", lambda config: {**config, "method": "FR"})
    assert load_folder(folder).weights.keys() >= set(names)


@pytest.mark.parametrize("number", [1, 2])
def test_settings_of_older_folders_are_completed_so_that_predictions_stay(folder, number):
    old = {"preset": "sound", "hidden": 4, "cell": "bigru", "penalise_empty": True}
    save_folder(folder, replace(MODEL, settings=old | MODEL.settings))
    assert load_folder(folder).settings == old | MODEL.settings  # of this version: nothing is touched
    save_folder(folder, replace(MODEL, settings=old))
    kind = "corpus" if number == 1 else {"kind": "corpus"}
    alter(folder, "config.json", lambda config: {**config, "format": number, "vectors": kind})
    new = {"label_columns": False, "skip_gaps": False}
    searched = {"search": "genetic", "objective": "paper", "start": "random", "readers": False}
    searched |= {"beliefs": False, "predictors": 1}
    searched |= {"regression": False, "commonness": 0.0}
    assert load_folder(folder).settings == {"preset": "sound", "hidden": 4, "cell": "bigru"} | new | searched
    alter(folder, "config.json", lambda config: {**config, "method": "fr"})
    assert load_folder(folder).settings == {"preset": "sound", "hidden": 4, "cell": "bigru"} | new
    kept = {"skip_gaps": True, "label_columns": True}  # as development versions of format 2 wrote them
    alter(folder, "config.json", lambda config: {**config, "settings": kept})
    assert load_folder(folder).settings == kept
