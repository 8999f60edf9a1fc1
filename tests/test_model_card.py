from dataclasses import replace

import numpy as np

from conftest import sentences
from genspp.data.vectors import Vectors
from genspp.methods.genspp import GenSPP
from genspp.model.card import model_card
from genspp.model.folder import SavedModel

TABLE = np.zeros((4, 3), np.float32)
MODEL = SavedModel(
    "genspp",
    {"preset": "sound", "seed": 7, "hidden": 4, "tokenizer": "words"},
    ["x", "y"],
    Vectors(("a", "b"), TABLE, "corpus"),
    {"model.vectors": TABLE, "model.output": np.ones(1234, np.float32)},
    "GenSPP",
)


def test_it_says_what_is_known():
    card = model_card(MODEL, "posts", {"train": 1000, "test": 20}, [("Clf-F1", "75.00 %", "macro F1")], ["be careful."])
    for line in ("| Method | GenSPP (`genspp`), preset sound |", "| Data | `posts` – 1,000 train, 20 test rows |",
                 "| Classes | `x`, `y` |", "| Seed | 7 |", "| Words | 2 with vectors (`corpus`) |",
                 "| Size | 4 hidden units per direction, 1,234 weights beside the vectors |",
                 "| Clf-F1 | 75.00 % | macro F1 |", "- Warning: be careful.", "## Limits"):  # fmt: skip
        assert line in card.splitlines()
    unknown = model_card(MODEL)
    assert "| Data | not named |" in unknown and "None are known" in unknown and "| Reads |" not in unknown
    cut = model_card(replace(MODEL, settings={**MODEL.settings, "truncate": 50}))
    assert "| Reads | the first 50 tokens of a text |" in cut
    one_sided = model_card(replace(MODEL, settings={**MODEL.settings, "evidence_for": ["y", 2]}))
    assert "| Evidence | wanted of `y`, `2` |" in one_sided and "| Evidence |" not in card


def test_nothing_of_the_user_s_is_markup():
    evil = "<b>`x`|y\n# z\x1b\u202e"
    card = model_card(replace(MODEL, classes=[evil, "z"]), evil)
    assert card.count("`<b>´x´¦y\ufffd# z\ufffd\ufffd`") == 2
    assert "\x1b" not in card and "\n# z" not in card


def test_many_classes_are_counted():
    card = model_card(replace(MODEL, classes=list(range(60))))
    assert "`49` and 10 more |" in card and "`50`" not in card


def test_a_model_that_was_trained_in_python_says_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    texts, labels = sentences(60)
    model = GenSPP(hidden=4, seed=2).fit(texts, labels)
    model.save(tmp_path / "m")
    card = (tmp_path / "m" / "MODEL_CARD.md").read_text()
    assert "| Data | not named – 48 train, 12 val rows |" in card
    assert not any(text in card for text in texts)
    GenSPP.load(tmp_path / "m").save(tmp_path / "again")
    assert "| Data | not named |" in (tmp_path / "again" / "MODEL_CARD.md").read_text()
