import json
from collections import Counter

import pytest
from sklearn.metrics import f1_score

from genspp.data.sources import Options
from genspp.data.sources import toy as toy_module
from genspp.data.sources.tables import load_tables
from genspp.data.sources.toy import (
    CLASSES,
    LETTERS,
    TRIPLES,
    VARIANTS,
    chunks_of_others,
    match,
    matching_prediction,
    toy,
)
from genspp.errors import SettingsError

PAPER = (100.0, 33.33, 53.57)


@pytest.fixture(scope="module", params=VARIANTS)
def made(request):
    return request.param, toy(request.param)


def every(splits):
    return [*splits.train, *splits.val, *splits.test]


def scores(documents):
    gold = [CLASSES.index(document.label) for document in documents]
    return [
        100 * f1_score(gold, [matching_prediction(d.text, triple) for d in documents], average="macro")
        for triple in TRIPLES
    ]


def test_sizes_and_balance(made):
    _, splits = made
    assert [len(splits.train), len(splits.val), len(splits.test)] == [6400, 1600, 2000]
    counts = Counter(document.label for document in every(splits))
    assert set(counts) == set(CLASSES) and max(counts.values()) - min(counts.values()) <= 1
    assert splits.tokenizer == "characters"
    # A shuffled order: every part is near a third of each class.
    for part in (splits.train, splits.val, splits.test):
        assert all(abs(count / len(part) - 1 / 3) < 0.03 for count in Counter(part.labels).values())


def test_every_string_has_exactly_one_highlight(made):
    _, splits = made
    for document in every(splits):
        text = document.text
        assert len(text) == 20 and set(text) <= set(LETTERS) and document.tokens == tuple(text)
        assert document.spans[3] == (3, 4)
        found = [(p, i) for p in CLASSES for i in range(18) if text[i : i + 3] == p]
        assert len(found) == 1
        pattern, start = found[0]
        assert document.label == pattern
        assert document.highlight == tuple(int(start <= i < start + 3) for i in range(20))


def test_letters_are_24_and_all_occur(made):
    _, splits = made
    assert len(LETTERS) == 24 == len({letter for document in splits.train for letter in document.text})


def test_ids_are_numbered_in_order(made):
    _, splits = made
    assert [document.id for document in every(splits)] == [f"toy-{i:05d}" for i in range(1, 10_001)]


def test_light_variant_scores_as_the_paper():
    for seed in (15000, 1, 2):
        got = scores(every(toy(seed=seed)))
        assert got[0] == 100
        assert got[1] == pytest.approx(PAPER[1], abs=0.01)
        assert got[2] == pytest.approx(PAPER[2], abs=1)


def test_contaminated_variant_gives_halves_away_less():
    got = scores(every(toy("toy-contaminated")))
    assert got[0] == 100 and got[1] == pytest.approx(PAPER[1], abs=0.01) and 30 < got[2] < 45


def test_every_contaminated_string_really_carries_chunks():
    for document in every(toy("toy-contaminated", size=3000)):
        start = document.highlight.index(1)
        outside = document.text[:start] + "|" + document.text[start + 3 :]
        assert any(chunk in outside for chunk in chunks_of_others(CLASSES.index(document.label)))


@pytest.mark.parametrize(("variant", "few", "many"), [("toy", 0, 1), ("toy-contaminated", 1, 3)])
def test_chunks_are_planted_beside_the_highlight_and_stay(monkeypatch, variant, few, many):
    log = []
    real = toy_module._plant

    def plant(stream, letters, taken, chunk):
        before = set(taken)
        real(stream, letters, taken, chunk)
        log.append((letters, sorted(taken - before), chunk))

    monkeypatch.setattr(toy_module, "_plant", plant)
    stream = toy_module._Stream(3)
    counts = Counter()
    for label in [0, 1, 2] * 100:
        text, start, count = toy_module._string(stream, label, variant == "toy-contaminated")
        counts[count] += 1
        for letters, places, chunk in log[len(log) - count :]:
            assert "".join(letters) == text and "".join(text[i] for i in places) == chunk
            assert chunk in chunks_of_others(label) and set(places).isdisjoint(range(start, start + 3))
    assert min(counts) == few and max(counts) == many


def test_chunks_are_proper_parts_of_the_other_highlights():
    assert chunks_of_others(0) == ("a", "aa", "ab", "b", "ba", "bc", "c")
    assert chunks_of_others(2) == ("a", "aa", "ab", "b", "ba")


def test_the_strings_are_the_same_on_every_machine():
    splits = toy()
    assert [document.text for document in splits.train.documents[:2]] == [
        "prcrjxphghuabacogmmd",
        "ncskmtlopkbaabxrphsv",
    ]
    assert splits.fingerprint() == "9819805b6d32cb8efd97ea14f5dd69204c9973149e909a74a4a3bfd781bd8e41"
    assert toy(seed=1, size=30).fingerprint() != toy(seed=2, size=30).fingerprint()


def test_match_goes_by_the_order_of_the_triple():
    assert match("xxaaxba", ("ba", "aa", "bc")) == (0, (5, 7))
    assert match("xxaaxbc", ("ba", "aa", "bc")) == (1, (2, 4))
    assert match("xyz", ("ba", "aa", "bc")) is None
    assert matching_prediction("xyz", ("ba", "aa", "bc")) == 0


@pytest.mark.parametrize("wrong", [{"variant": "tyo"}, {"size": 3}, {"seed": -1}])
def test_wrong_settings(wrong):
    with pytest.raises(SettingsError, match=str(next(iter(wrong.values())))):
        toy(**wrong)


def test_written_file_reads_back_equal(tmp_path):
    splits = toy("toy-contaminated")
    path = tmp_path / "deep" / "toy.jsonl"
    toy_module.write_toy(path, "toy-contaminated")
    row = json.loads(path.read_text().splitlines()[0])
    assert set(row) == {"id", "text", "label", "highlight", "split"} and row["split"] == "train"
    back = load_tables(path, Options(tokenizer="characters"))
    assert (back.train, back.val, back.test) == (splits.train, splits.val, splits.test)
    assert back.fingerprint() == splits.fingerprint()
