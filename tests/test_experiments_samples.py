"""Small samples of real data beside TF-IDF."""

import csv
from collections import Counter

import pytest

from genspp.experiments import samples as tested
from genspp.experiments.samples import drawn, samples, samples_table, texts_of, without_parts
from genspp.experiments.scale import Case, made_texts, train_on
from genspp.experiments.telling import read_facts


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.csv"
    texts = made_texts(Case("some", 400, 8, 4))
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([("text", "label"), *texts, texts[0]])
    return path


def test_all_texts_of_a_source_are_found_and_none_twice(file):
    assert sorted(texts_of(str(file))) == sorted(set(made_texts(Case("some", 400, 8, 4))))


def test_a_sample_has_as_many_rows_as_asked_of_few_enough_classes_and_shares_none_with_its_test_texts(file):
    texts = texts_of(str(file))
    train, test = drawn(texts, 30, 1)
    assert len(train) == 30 and not set(train) & set(test)
    kept = {label for _, label in train + test}
    assert len(kept) == 3 and len(train) + len(test) == sum(label in kept for _, label in texts)
    assert (train, test) == drawn(texts, 30, 1) != drawn(texts, 30, 2)


def test_every_class_of_a_sample_has_some_rows_whatever_the_source():
    texts = [(f"{label} {number}", label) for label, rows in zip("abcdef", (900, 90, 40, 9, 3, 1), strict=True)
             for number in range(rows)]  # fmt: skip
    for draw in range(1, 20):
        sample = drawn(texts, 300, draw)
        assert sample is not None
        train, test = sample
        found = Counter(label for _, label in train)
        assert len(train) == 300 and len(found) > 1 and min(found.values()) >= 3
        assert {label for _, label in test} <= set(found) and len(test) >= 100
    assert drawn(texts, 1_000, 1) is None  # nothing would be left to be tested on
    assert drawn([text for text in texts if text[1] in "af"], 300, 1) is None  # all but one row of one class


def test_samples_are_measured_and_shown_beside_tfidf(file, tmp_path, monkeypatch, capsys):
    trained = []

    def train_on(train, test, folder):
        trained.append(len(train))
        return {"test_texts": len(test), "seconds": 1.0, "clf_f1": 0.9, "tfidf_clf_f1": 0.8, "selection_rate": 0.3}

    monkeypatch.setattr(tested, "train_on", train_on)
    monkeypatch.setattr(tested, "without_parts", lambda *_: {"no_regression": 0.85, "one_predictor": 0.9})
    found = samples([str(file)], tmp_path / "samples.json", sizes=(20, 1_000), draws=2)
    assert trained == [20, 20, 20]  # the first one twice
    assert [(one["data"], one["rows"], one["draw"], one["classes"]) for one in found] == [
        ("texts", 20, 1, 2),
        ("texts", 20, 2, 2),
    ]
    written = read_facts(tmp_path / "samples.json")
    assert written["command"].endswith("genspp.experiments.samples texts.csv") and written["samples"] == found
    assert "| texts, 20 rows " in samples_table(written).to_markdown()
    assert "texts, 1000 rows, draw 1: too few texts" in capsys.readouterr().out


def test_a_sample_is_trained_on(file, tmp_path):
    train, test = drawn(texts_of(str(file)), 20, 1)
    measured = train_on(train, test, tmp_path)
    assert measured["test_texts"] == len(test) and 0 <= measured["clf_f1"] <= 1
    parts = without_parts(tmp_path / "run" / "model", test)
    assert parts.keys() == {"no_regression", "one_predictor"} and len({*parts.values(), measured["clf_f1"]}) > 1


def test_samples_far_below_are_counted():
    def one(ours, theirs):
        parts = {"no_regression": ours - 0.02, "one_predictor": ours}
        return {"clf_f1": ours, "tfidf_clf_f1": theirs, "seconds": 8.0, "selection_rate": 0.2, **parts}

    runs = [one(0.8, 0.82), one(0.7, 0.75), one(0.9, 0.8)]
    same = {"data": "mine", "rows": 30, "classes": 2}
    table = samples_table({"samples": [{**same, "draw": draw, **run} for draw, run in enumerate(runs)]})
    for row in table.rows:
        assert row.cells[5] == "1 of 3" and row.cells[4].mean == pytest.approx(1.0)
        assert [cell.mean for cell in row.cells[7:]] == pytest.approx([2.0, 0.0])
    assert [row.name for row in table.rows] == ["mine, 30 rows", "All"]


def test_what_was_not_measured_is_no_table_and_no_data_is_said(tmp_path, monkeypatch):
    assert samples_table(read_facts(tmp_path / "samples.json")) is None
    monkeypatch.setattr(tested.sys, "argv", ["samples"])
    with pytest.raises(SystemExit, match="no data was named"):
        tested.main()
