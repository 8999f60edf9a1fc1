"""Where work is done, and by whose code; without Ray, one sentence."""

import sys

import pytest

from genspp import cli, cluster
from genspp.errors import RunError, SettingsError
from genspp.methods import METHODS
from genspp.settings import check_one


@pytest.mark.parametrize("place", [None, "ray", "ray:auto", "ray:10.0.0.1:6379"])
def test_a_place_is_typed(place):
    check_one("on", place, METHODS["genspp"].declared)


@pytest.mark.parametrize("place", ["", "ray:", "rays", "spark", "ray://10.0.0.1:10001", 2, True])
def test_what_is_no_place(place):
    with pytest.raises(SettingsError, match=r"on is .*; it takes ray, for a cluster on this machine, or ray:HOST:PORT"):
        check_one("on", place, METHODS["genspp"].declared)
    with pytest.raises(SettingsError, match="on is "):
        cluster.connect(place)


@pytest.mark.parametrize("command", [["train", "toy", "--out", "run"], ["benchmark", "table1", "--quick"]])
def test_without_ray_there_is_one_sentence_and_no_folder(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["genspp", *command, "--on", "ray"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    sentence = "work can be done on Ray only where that is installed; install genspp[ray], or leave out --on."
    assert said.removeprefix("reading toy ... ") == f"error: {sentence}"
    assert list(tmp_path.iterdir()) == []


def test_a_method_without_a_search_is_not_trained_elsewhere(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["genspp", "train", "toy", "--method", "fr", "--on", "ray", "--out", str(tmp_path)]
    )
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2 and "on is not a setting of fr" in capsys.readouterr().err


def test_a_worker_with_other_code_says_so():
    other = {**cluster.code(), "numba": "0.1"}
    with pytest.raises(
        RunError, match=r"the worker \S+ has numba \d\S+, and this machine 0\.1; install the same on all"
    ):
        cluster._work(other, len, "two")
    assert cluster._work(cluster.code(), len, "two") == 3


def test_code_is_known_by_every_file_of_the_package(tmp_path, monkeypatch):
    for folder in ("a", "b"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "deep" / "one.py").write_text(f"x = '{folder}'")
    found = []
    for folder in ("a", "b"):
        monkeypatch.setattr(cluster.genspp, "__file__", str(tmp_path / folder / "__init__.py"))
        found.append(cluster.code.__wrapped__()["genspp"])
    assert found[0] != found[1]


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid:6379", "127.0.0.1:port"])
def test_where_nobody_answers_there_is_one_sentence(address):
    pytest.importorskip("ray", reason="Ray is not installed (genspp[ray])")
    with pytest.raises(
        RunError, match=rf"^no cluster could be joined at ray:{address} \(.*\); start one with `ray start`"
    ):
        cluster.connect(f"ray:{address}")
