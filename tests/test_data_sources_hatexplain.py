import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from genspp.data.sources import Options, load_source
from genspp.data.sources.hatexplain import hatexplain, majority_highlight
from genspp.errors import DataError, SettingsError

REAL = Path(__file__).parents[2] / "shared" / "data" / "hatexplain"


def post(tokens, labels, rationales=()):
    return {
        "post_tokens": tokens.split(),
        "annotators": [{"label": label, "target": ["None"]} for label in labels],
        "rationales": list(rationales),
    }


@pytest.fixture
def folder(tmp_path):
    posts = {
        "p1": post("a b c", ["hatespeech", "offensive", "normal"], [[1, 0, 1], [1, 1, 0]]),
        "p2": post("d e", ["normal", "normal", "offensive"]),
        "p3": post("f g h i", ["offensive"] * 3, [[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]]),
        "p4": post("j k", ["normal"] * 3),
        "unused": post("z", ["normal", "hatespeech", "offensive"]),
    }
    (tmp_path / "dataset.json").write_text(json.dumps(posts))
    (tmp_path / "post_id_divisions.json").write_text(json.dumps({"train": ["p1", "p2"], "val": ["p3"], "test": ["p4"]}))
    return tmp_path


def test_labels_are_merged_and_highlights_voted(folder):
    splits = hatexplain(folder)
    first, second = splits.train
    assert (first.id, first.label, first.tokens, first.highlight) == (
        "p1",
        "toxic",
        ("a", "b", "c"),
        (1, 0, 0),
    )
    assert (first.text, first.spans) == ("a b c", ((0, 1), (2, 3), (4, 5)))
    assert (second.label, second.highlight) == ("normal", (0, 0))
    assert splits.val.documents[0].highlight == (0, 1, 1, 0)
    assert splits.tokenizer == "spaces" and splits.notes == ()


def test_majority_is_strict_over_the_masks_that_fit():
    assert majority_highlight([], 2) == (0, 0)
    assert majority_highlight([[1, 0]], 2) == (1, 0)
    assert majority_highlight([[1, 0], [0, 0]], 2) == (0, 0)
    assert majority_highlight([[1, 0], [1, 1], [0, 1, 1]], 2) == (1, 0)


def test_long_posts_are_left_out_and_counted(folder):
    splits = hatexplain(folder, max_length=4)
    assert splits.notes == ()
    posts = json.loads((folder / "dataset.json").read_text())
    posts["p1"]["post_tokens"] = list("abcdef")
    (folder / "dataset.json").write_text(json.dumps(posts))
    splits = hatexplain(folder, max_length=4)
    assert [document.id for document in splits.train] == ["p2"]
    assert "1 of 4 texts" in splits.notes[0]
    with pytest.raises(DataError, match="val"):
        hatexplain(folder, max_length=3)
    with pytest.raises(SettingsError):
        load_source(f"hatexplain:{folder}", Options(max_length=0))


@pytest.mark.parametrize("name", [None, "dataset.json", "post_id_divisions.json"])
def test_missing_says_where_to_get_it(folder, name):
    if name:
        (folder / name).unlink()
    with pytest.raises(DataError, match=r"github\.com/hate-alert/HateXplain"):
        hatexplain(folder if name else folder / "nowhere")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"p1":\n nonsense}', "dataset.json, line 2: invalid JSON"),
        (b"[]", "no JSON object"),
        (b'{"p1": "\xff"}', "not UTF-8"),
        (b'{"p1": {}, "p2": {}, "p3": {}, "p4": {}}', "post p1: not in the official format"),
        (b"{}", "names 2 posts, such as 'p1'"),
    ],
)
def test_bad_files(folder, content, said):
    (folder / "dataset.json").write_bytes(content)
    with pytest.raises(DataError, match=said):
        hatexplain(folder)


def test_unknown_label_and_missing_part(folder):
    posts = json.loads((folder / "dataset.json").read_text())
    posts["p4"]["annotators"][0]["label"] = "spam"
    (folder / "dataset.json").write_text(json.dumps(posts))
    with pytest.raises(DataError, match=r"post p4.*spam"):
        hatexplain(folder)
    (folder / "post_id_divisions.json").write_text(json.dumps({"train": ["p1"], "test": ["p2"]}))
    with pytest.raises(DataError, match="no list 'val'"):
        hatexplain(folder)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the HateXplain files are not in {REAL}")
def test_the_real_files_give_the_published_counts():
    splits = hatexplain(REAL)
    parts = (splits.train, splits.val, splits.test)
    assert [len(part) for part in parts] == [10783, 1369, 1355]
    counts = [Counter(part.labels) for part in parts]
    assert [(c["toxic"], c["normal"]) for c in counts] == [(6378, 4405), (816, 553), (791, 564)]
    sizes = np.array([sum(document.highlight) for document in splits.train])
    rates = sizes / np.array([len(document.tokens) for document in splits.train])
    assert (round(sizes.mean(), 3), round(sizes.std(), 3)) == (1.569, 2.524)
    assert (round(rates.mean(), 3), round(rates.std(), 3)) == (0.117, 0.174)
    assert round(np.mean([sum(document.highlight) for document in splits.test]), 3) == 1.422
    assert "5,722 of 19,229 texts" in splits.notes[0]
    for part in parts:
        for document in part:
            assert len(document.tokens) == len(document.highlight) == len(document.spans) <= 30
            if not all(document.text[a:b] == t for t, (a, b) in zip(document.tokens, document.spans, strict=True)):
                pytest.fail(f"the spans of {document.id} do not fit")  # without printing the text
