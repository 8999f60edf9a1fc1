"""Small samples of real data beside TF-IDF."""

import csv

import pytest

from genspp.experiments import samples as tested
from genspp.experiments.samples import drawn, samples, samples_table, texts_of
from genspp.experiments.scale import Case, made_texts
from genspp.experiments.telling import read_facts


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.csv"
    texts = made_texts(Case("some", 120, 8, 4))
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([("text", "label"), *texts, texts[0]])
    return path


def test_all_texts_of_a_source_are_found_and_none_twice(file):
    assert sorted(texts_of(str(file))) == sorted(set(made_texts(Case("some", 120, 8, 4))))


def test_a_sample_has_as_many_rows_as_asked_of_few_enough_classes_and_shares_none_with_its_test_texts(file):
    texts = texts_of(str(file))
    train, test = drawn(texts, 30, 1)
    assert len(train) == 30 and not set(train) & set(test)
    kept = {label for _, label in train + test}
    assert len(kept) == 3 and len(train) + len(test) == sum(label in kept for _, label in texts)
    assert (train, test) == drawn(texts, 30, 1) != drawn(texts, 30, 2)


def test_samples_are_measured_and_shown_beside_tfidf(file):
    found = samples([str(file)], sizes=(30,), draws=1)
    (one,) = found["samples"]
    assert one["data"] == "texts" and one["rows"] == 30 and one["test_texts"] > 50 and 0 <= one["clf_f1"] <= 1
    assert found["command"].endswith("genspp.experiments.samples texts.csv")
    assert "| texts, 30 rows " in samples_table(found).to_markdown()


def test_samples_far_below_are_counted():
    def one(ours, theirs):
        return {"clf_f1": ours, "tfidf_clf_f1": theirs, "seconds": 8.0, "selection_rate": 0.2}

    runs = [one(0.8, 0.82), one(0.7, 0.75), one(0.9, 0.8)]
    same = {"data": "mine", "rows": 30, "classes": 2}
    table = samples_table({"samples": [{**same, "draw": draw, **run} for draw, run in enumerate(runs)]})
    assert table.rows[0].cells[5] == "1 of 3" and table.rows[0].cells[4].mean == pytest.approx(1.0)


def test_what_was_not_measured_is_no_table_and_no_data_is_said(tmp_path, monkeypatch):
    assert samples_table(read_facts(tmp_path / "samples.json")) is None
    monkeypatch.setattr(tested.sys, "argv", ["samples"])
    with pytest.raises(SystemExit, match="no data was named"):
        tested.main()
