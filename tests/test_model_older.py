"""Folders that 0.1.0 wrote.

tests/made_by_0_1_0 was written by the code of 0.1.0 (the commit before "Foundation: registries, ..."): two models,
trained on 240 sentences as `conftest.sentences` makes them, with what they said of other texts (labels, masks,
probabilities to six digits); and a run folder that was killed after some generations.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from folder_tools import refuses
from genspp.app.predict import open_explainer
from genspp.methods.base import Rationalizer

MADE = Path(__file__).parent / "made_by_0_1_0"


@pytest.fixture
def folder(tmp_path) -> Path:
    shutil.copytree(MADE, tmp_path / "made")
    return tmp_path / "made"


@pytest.mark.parametrize("name", ["genspp", "fr"])
def test_a_model_of_0_1_0_says_what_it_said(folder, name):
    said = json.loads((MADE / f"{name}.json").read_text())
    model, _ = open_explainer(folder / name)
    found = model.explain([row["text"] for row in said])
    assert len({row["label"] for row in said}) > 1 and {mark for row in said for mark in row["mask"]} == {"0", "1"}
    assert [rationale.label for rationale in found] == [row["label"] for row in said]
    assert ["".join(map(str, rationale.mask)) for rationale in found] == [row["mask"] for row in said]
    shares = [list(rationale.probabilities.values()) for rationale in found]
    np.testing.assert_allclose(shares, [row["probabilities"] for row in said], atol=2e-6)


def test_a_model_of_0_1_0_cuts_texts_as_it_did(folder):
    tokens = open_explainer(folder / "genspp")[0].explain(["good!! can`t"])[0].tokens
    assert tokens == ["good", "!", "!", "can", "`", "t"]


@pytest.mark.parametrize("name", ["genspp", "fr"])
def test_a_model_of_0_1_0_that_is_saved_again_is_one_of_this_version(folder, name, tmp_path):
    old = Rationalizer.load(folder / name)
    old.save(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "config.json").read_bytes())["format"] > 1
    texts = ["the coach and a bread", "robot"]
    new = open_explainer(tmp_path / "new")[0].explain(texts)
    assert [r.to_json() for r in new] == [r.to_json() for r in old.explain(texts)]


@pytest.mark.parametrize("command", ["resume", "finish"])
def test_a_run_of_0_1_0_that_was_interrupted_is_one_sentence(folder, capfd, command):
    path = folder / "run" / "config.json"
    config = json.loads(path.read_bytes())
    config["data"]["source"] = str(folder / "rows.csv")
    path.write_text(json.dumps(config))
    said = refuses(capfd, folder / "run", command, folder / "run")
    assert "go on with the version of genspp that wrote it" in said
