import json
import re
from pathlib import Path
from typing import ClassVar

import pytest

from genspp.errors import DataError, SettingsError
from genspp.experiments import names
from genspp.experiments.grid import FULL, QUICK, Trial, expand, expected_seconds, longest_first
from genspp.experiments.pool import duration
from genspp.experiments.results import read_result
from genspp.methods import FR, METHODS

GLOVE = Path("glove.6B.25d-pca.hatexplain.txt")  # what the committed runs on HateXplain had


def test_names_and_numbers_of_runs():
    trials = expand("table1", sources=["toy", "hatexplain:somewhere/posts"])
    found = {trial.name for trial in trials}
    assert len(found) == len(trials) == 2 * len(METHODS) * 5 + 5 * 5 + 3
    assert {"toy-sound-genspp-seed1", "hatexplain-sound-grat-seed5"} <= found
    assert {"toy-trivial-random-k3-seed2", "toy-trivial-matching-ba-aa-bc-seed1"} <= found
    first = trials[0]
    assert first.file == Path("table1/toy-sound-genspp-seed1.json")
    assert first.settings == {"workers": 1}
    assert Trial(**json.loads(json.dumps(first.to_json()))) == first


def test_the_order_is_ours_then_the_paper_s_then_by_name():
    assert names.methods()[:5] == ("genspp", "fr", "mgr", "mcd", "grat")
    assert list(names.methods()[5:]) == sorted(set(METHODS) - set(names.methods()[:5]))
    assert names.data_sets()[:2] == ("toy", "hatexplain")
    assert "files" not in names.data_sets()
    assert [names.method_title(name) for name in ("genspp", "grat", "random")] == [
        "GenSPP",
        "G-RAT",
        "Random highlights",
    ]


def test_the_sweep_shares_its_middle_with_table1():
    everything = expand("alpha", sources=["toy", "hatexplain:x"], seeds=1, preset="paper")
    trials = [trial for trial in everything if trial.method != "genspp"]
    assert {trial.method for trial in trials} == {name for name in METHODS if "alpha" in METHODS[name].declared}
    assert {(t.data, t.variant, t.benchmark) for t in trials} == {
        ("toy", "alpha=0.10", "alpha"),
        ("toy", "", "table1"),
        ("toy", "alpha=0.20", "alpha"),
        ("hatexplain", "alpha=0.10", "alpha"),
        ("hatexplain", "alpha=0.16", "alpha"),
        ("hatexplain", "", "table1"),
        ("hatexplain", "alpha=0.28", "alpha"),
    }
    assert trials[0].name == "toy-paper-fr-alpha0.10-seed1"
    assert trials[0].settings["alpha"] == 0.10


def test_genspp_is_in_the_sweep_at_other_pressures():
    def settings(preset):
        trials = expand("alpha", sources=["hatexplain:x"], methods=["genspp"], seeds=1, preset=preset)
        for trial in trials:
            METHODS["genspp"](preset=preset, **trial.settings).settings(2)  # none is refused
        assert [trial.benchmark for trial in trials] == ["table1", *["alpha"] * (len(trials) - 1)]
        return {trial.variant: {**trial.settings, "workers": None} for trial in trials}

    usual = METHODS["genspp"]().settings(2)
    sound = settings("sound")
    assert 3 <= len(sound) <= 4
    quarter = {name: usual[name] / 4 for name in ("completeness", "insufficiency")}
    assert sound["weight=0.25"] == {**quarter, "workers": None}
    assert settings("paper") == {
        "": {"workers": None},
        **{f"threshold={level:.2f}": {"threshold": level, "workers": None} for level in (0.57, 0.58)},
    }


def test_ten_seeds_add_to_the_five_that_there_are():
    trials = expand("table1", sources=["toy", "hatexplain:x"], methods=["genspp", "mcd"], seeds=10, vectors=GLOVE)
    assert [trial.seed for trial in trials] == 4 * list(range(1, 11))
    results = Path(__file__).resolve().parents[1] / "results"
    # Of what is committed none is run again, and none is taken for another.
    finished = {trial.name for trial in trials if (results / trial.file).exists()}
    assert {trial.name for trial in trials if trial.seed <= 5} <= finished
    assert all(t.is_what(read_result(results / t.file).content["asked"]) for t in trials if t.name in finished)
    assert not trials[0].is_what({"workers": 1, "population": 3})


def test_efforts_keep_their_results_apart():
    quick = expand("table1", sources=["toy"], methods=["grat", "genspp"], seeds=1, effort=QUICK)
    assert [trial.file.parts[0] for trial in quick] == ["quick", "quick"]
    assert quick[0].settings["population"] < 50
    assert {"max_epochs", "pretrain_epochs"} <= set(quick[1].settings)
    assert "--quick" in quick[1].command()
    assert FULL.of("fr") == {}


def test_a_guest_is_in_the_grid_without_another_line(monkeypatch):
    class Guest(FR):
        title: ClassVar[str] = "A guest"

    monkeypatch.setitem(METHODS._guests, "guest", Guest)
    names.methods.cache_clear()
    try:
        trials = expand("table1", sources=["toy"], methods=["guest"], seeds=1, effort=QUICK)
        assert [trial.name for trial in trials] == ["toy-sound-guest-seed1"]
        assert trials[0].settings == {**QUICK.of("fr"), "workers": 1} and QUICK.of("fr")
        assert names.method_title("guest") == "A guest"
    finally:
        names.methods.cache_clear()


def test_vectors_are_for_data_that_come_without_their_own():
    trials = expand("table1", sources=["toy", "hatexplain:x"], methods=["fr"], seeds=1, vectors=Path("/a/glove.txt"))
    assert [trial.settings.get("vectors") for trial in trials] == [None, "/a/glove.txt"]


def test_commands_name_no_folder():
    trials = expand("table1", sources=["hatexplain:/home/me/posts"], vectors=Path("/home/me/glove.txt"), seeds=2)
    assert trials[1].command() == (
        "genspp train hatexplain:FOLDER --method genspp --preset sound --seed 2 --vectors glove.txt --workers 1 "
        "--out runs/hatexplain-sound-genspp-seed2"
    )
    sweep = expand("alpha", sources=["toy"], methods=["fr"], seeds=1)
    assert sweep[0].command() == "genspp benchmark alpha --data toy --methods fr --seeds 1 --preset sound"
    assert not any("/home" in trial.command() for trial in trials)


def test_people_s_own_files_go_by_their_names():
    trials = expand("table1", sources=["toy", "/home/me/my posts.csv"], seeds=1, vectors=Path("/home/me/glove.txt"))
    own = [trial for trial in trials if trial.data == "my posts"]
    assert {trial.method for trial in own} == {*METHODS, "random"}
    first = own[0]
    assert first.file == Path("table1/my posts-sound-genspp-seed1.json")
    assert first.settings == {"workers": 1, "vectors": "/home/me/glove.txt"}
    assert first.command().startswith("genspp train 'my posts.csv' --method genspp --preset sound --seed 1 --vectors")
    assert "/home" not in json.dumps([first.key(), first.asked(), first.command()])
    assert (names.data_title("my posts"), names.family("my posts")) == ("my posts", "files")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"methods": ["lime"]}, SettingsError, "method is 'lime'"),
        ({"preset": "fast"}, SettingsError, "preset is 'fast'"),
        ({"seeds": 0}, SettingsError, "seeds is 0"),
        ({"sources": ["posts"]}, DataError, "The source 'posts' is not known; give "),
        ({"sources": ["mine/toy.csv"]}, DataError, "the file mine/toy.csv has the name of a data set, toy; give it"),
        ({"sources": ["a/posts.csv", "b/posts.jsonl"]}, DataError, "twice"),
        ({"sources": ["hatexplain:a", "hatexplain:b"]}, DataError, "twice"),
    ],
)
def test_what_cannot_be_run_is_said(arguments, error, words):
    with pytest.raises(error, match=re.escape(words)):
        expand("table1", **{"sources": ["toy"], **arguments})


def test_a_sweep_is_for_data_with_levels_in_the_paper():
    with pytest.raises(
        DataError, match=r"the data is 'eraser:x'; choose from toy, hatexplain:FOLDER, toy-contaminated"
    ):
        expand("alpha", sources=["eraser:x"])


def test_the_longest_go_first():
    trials = expand("table1", sources=["toy", "hatexplain:x"], methods=["fr", "genspp"], seeds=1)
    order = [(t.data, t.method) for t in longest_first(trials, {})]
    assert order[:2] == [("hatexplain", "genspp"), ("toy", "genspp")]
    assert longest_first(trials, {("toy", "sound", "fr"): 1e6})[0].method == "fr"
    assert expected_seconds(trials[1], {("toy", "sound", "fr"): 42.0, ("toy", "paper", "fr"): 1.0}) == 42.0
    assert expected_seconds(expand("table1", sources=["toy"], methods=["random"], seeds=1)[0], {}) == 0
    assert (duration(42), duration(150), duration(7300)) == ("42 s", "2.5 min", "2.0 h")
