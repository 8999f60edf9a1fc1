import json

import pytest

from conftest import sentences
from genspp.app.configure import assignments, configure, data_of, estimator_of
from genspp.app.runs import Run
from genspp.data.columns import Columns
from genspp.data.sources import Options
from genspp.data.vectors import Vectors
from genspp.errors import DataError, RunError, SettingsError
from genspp.methods import METHODS


@pytest.fixture
def table(tmp_path):
    texts, labels = sentences(60)
    path = tmp_path / "hatexplain.csv"
    path.write_text("body,label\n" + "".join(f"{t},{k}\n" for t, k in zip(texts, labels, strict=True)))
    return path


OPTIONS = Options(Columns(text="body"))


def test_assignments_are_typed_values():
    typed = [
        "alpha=0.3",
        "retrain=false",
        "retrain2=True",
        "vectors=a=b.txt",
        "threshold=None",
        'class_weight={"a": 2}',
    ]
    assert assignments(typed, {"seed": 1}) == {
        "seed": 1,
        "alpha": 0.3,
        "retrain": False,
        "retrain2": True,
        "vectors": "a=b.txt",
        "threshold": None,
        "class_weight": {"a": 2},
    }
    with pytest.raises(SettingsError, match="--set is 'alpha'; give name=value"):
        assignments(["alpha"], {})
    with pytest.raises(SettingsError, match="seed is given twice"):
        assignments(["seed=2"], {"seed": 1})


def test_what_goes_with_a_source_is_filled_in_and_what_was_chosen_stays():
    config, data = configure("toy", preset="paper", seed=3)
    settings = config["settings"]
    assert (settings["hidden"], settings["vectors"], settings["vector_width"]) == (8, "onehot", 26)
    assert (settings["threshold"], settings["seed"], settings["tokenizer"]) == (0.1, 3, "characters")
    assert settings["min_steps"] == 0  # the preset's, filled in
    assert data.vectors == "onehot" and data.source.title == "Toy"
    settings = configure("toy", hidden=5, vectors="corpus", threshold=None, preset="paper")[0]["settings"]
    assert (settings["hidden"], settings["vector_width"], settings["threshold"]) == (5, None, None)
    settings = configure("toy", "fr")[0]["settings"]
    assert (settings["vector_width"], settings["alpha"], settings["lambda_c"]) == (25, 0.15, 2.0)


def test_a_file_that_is_called_like_a_data_set_is_a_file(table):
    config, data = configure(str(table), options=OPTIONS)
    assert data.source.may_be_shown and config["data"]["source"] == str(table)
    assert config["settings"]["skip_gaps"] and config["settings"]["hidden"] == 16
    assert config["data"]["rows"] == {"train": 39, "val": 9, "test": 12}
    json.dumps(config)


def test_what_is_wrong_is_found_before_anything_is_made(table):
    for wrong, said in [
        ({"alpha": 0.2}, "alpha is not a setting of genspp; it has batch_size, beliefs, bias_sigma, "),
        ({"population": 3}, "population is 3"),
        ({"preset": "best"}, "preset is 'best'"),
        ({"class_weight": {"food": 0}}, "above 0"),
        ({"evidence_for": ["sport", "music"]}, "evidence_for names 'music', which is no label; the labels are food, "),
        ({"validation_fraction": 0.1}, "a split column or --val"),
        ({"vector_width": 30}, "vector_width is 30"),
    ]:
        with pytest.raises(SettingsError, match=said):
            configure(
                str(table), options=OPTIONS, **({"vectors": str(table)} if "vector_width" in wrong else {}), **wrong
            )
    with pytest.raises(SettingsError, match="method is 'lime'; choose one of "):
        configure(str(table), "lime", OPTIONS)
    with pytest.raises(DataError, match="is not known"):
        configure("tyo")


def test_a_run_finds_its_data_again(table, tmp_path):
    glove = tmp_path / "v.txt"
    glove.write_text("goal 1 2\nsoup 3 4\nchip 5 6\n")
    config, data = configure(str(table), options=OPTIONS, vectors=str(glove))
    assert isinstance(data.vectors, Vectors) and "of the tokens have a vector" in data.notes[-1]
    assert data.vectors.words[:3] == ("goal", "soup", "chip")
    run = Run.create(tmp_path / "r", config)
    again = data_of(run)
    assert again.splits.fingerprint() == data.splits.fingerprint()
    glove.write_text("goal 1 2\nsoup 3 4\nchip 5 7\n")
    with pytest.raises(RunError, match=r"v\.txt has changed since"):
        data_of(run)
    # A run of 0.1.0 names a column more and no checksum; it has a setting that is gone, and lacks newer ones.
    old = json.loads(json.dumps(config))
    for name in ("skip_gaps", "label_columns", "objective", "start", "readers", "search"):
        del old["settings"][name]
    old["settings"]["penalise_empty"] = True
    restored = estimator_of(Run(tmp_path / "old", old)).settings(3)
    assert not any(restored[name] for name in ("skip_gaps", "label_columns", "readers"))
    del old["data"]["vectors_sha256"]
    old["data"]["columns"]["id"] = None
    assert data_of(Run(tmp_path / "old", old)).splits.rows == data.splits.rows
    del old["data"]["fingerprint"]
    with pytest.raises(RunError, match="does not say where its data is"):
        data_of(Run(tmp_path / "old", old))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_a_number_of_workers(table, method):
    assert configure(str(table), method, OPTIONS, workers=2)[0]["settings"]["workers"] == 2


def test_a_run_skips_the_rows_that_it_skipped(table, tmp_path):
    table.write_text(table.read_text() + ",food\n")
    with pytest.raises(DataError, match="line 62: the text is empty"):
        configure(str(table), options=OPTIONS)
    config, data = configure(str(table), options=Options(Columns(text="body"), on_bad_row="skip"))
    assert config["data"]["on_bad_row"] == "skip" and "1 of 61 rows" in data.notes[0]
    assert data_of(Run(tmp_path / "r", json.loads(json.dumps(config)))).splits.rows == data.splits.rows


def test_the_tokeniser_is_the_source_s(table):
    config, data = configure(str(table), options=OPTIONS, tokenizer="characters")
    assert config["settings"]["tokenizer"] == config["data"]["tokenizer"] == data.splits.tokenizer == "characters"
    with pytest.raises(SettingsError, match="for your own files, not for toy"):
        configure("toy", tokenizer="words")
