"""What all methods share, on GenSPP's networks with a training that only looks."""

import inspect
import logging
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as ScikitNotFitted
from sklearn.utils.validation import check_is_fitted

import genspp
from conftest import sentences
from genspp.data.corpus import Corpus, Document, as_corpus
from genspp.data.encode import Encoded
from genspp.data.vectors import UNKNOWN, onehot
from genspp.errors import DataError, ModelFolderError, NotFittedError, SettingsError
from genspp.methods import METHODS, Rationalizer
from genspp.methods.genspp import GenSPP
from genspp.settings import Setting, number

TEXTS, LABELS = sentences(60)


class Looks(GenSPP):
    """A method that only looks at what it is given."""

    title = "Looks"
    own: ClassVar = {"zeal": Setting(1.0, number(0), "how much", paper=3.0)}
    on_source: ClassVar = {"toy": {"zeal": 2.0}, ("toy", "paper"): {"zeal": 4.0}}

    def _train(self, settings, lesson, recorder):
        self.lesson = lesson
        self.seen = lesson.train, lesson.val, lesson.class_weights
        if self.zeal == 13:
            raise KeyboardInterrupt


@pytest.fixture
def fitted(monkeypatch):
    """A method that can be saved, with its initial weights."""
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    return GenSPP(hidden=4).fit(TEXTS, LABELS)


def words_of(model, data: Encoded) -> list[str]:
    words = ["<pad>", "<unknown>", *model.vectors_.words]  # once, and for every fold of training texts again
    return [" ".join(words[i % len(words)] for i in text) for text in data.split(data.ids)]


# ---------------------------------------------------------------------- long texts


def test_a_model_that_cuts_texts_learns_from_their_beginnings_alone(caplog):
    texts = [f"{text} and so on to the end" for text in TEXTS]
    cut = Looks(truncate=3).fit(texts, LABELS)
    assert "48 of 48 texts cut to their first 3 tokens (--truncate)." not in caplog.text  # said once, of all
    assert "60 of 60 texts cut to their first 3 tokens (--truncate)." in caplog.text
    short = Looks().fit([" ".join(text.split()[:3]) for text in texts], LABELS)
    assert words_of(cut, cut.seen[0]) == words_of(short, short.seen[0])
    assert words_of(cut, cut.seen[1]) == words_of(short, short.seen[1])
    np.testing.assert_array_equal(cut.vectors_.table, short.vectors_.table)
    with pytest.raises(SettingsError, match=r"^truncate is 0; it takes a whole number of at least 1, or None\.$"):
        Looks(truncate=0).fit(texts, LABELS)


def test_it_cuts_later_texts_too_and_says_so(fitted, tmp_path, caplog):
    fitted.set_params(truncate=3)
    cut = clone(fitted).fit(TEXTS, LABELS)
    cut.save(tmp_path / "model")
    loaded, long = GenSPP.load(tmp_path / "model"), f"{TEXTS[0]} and so on"
    caplog.clear()
    long_one, short_one = loaded.explain([long, "the goal"])
    assert caplog.messages == ["1 of 2 texts cut to their first 3 tokens (--truncate)."]
    assert long_one.text == long and len(long_one.mask) == 3 and long_one.to_json()["unread"] > 3
    assert short_one.document.unread == 0
    beginning = loaded.explain([" ".join(long.split()[:3])])[0]
    assert (long_one.mask, long_one.probabilities) == (beginning.mask, beginning.probabilities)


def test_without_it_no_text_is_too_long(fitted):
    long = " ".join(TEXTS * 20)
    rationale = fitted.explain([long, "a goal"])[0]
    assert len(rationale.mask) == len(long.split()) > 5000 and rationale.document.unread == 0


# ---------------------------------------------------------------------- settings


def test_a_method_must_provide_its_networks_and_its_training():
    class Half(Rationalizer):
        title = "Half"

        def _networks(self, settings, inputs, classes):
            raise NotImplementedError

    with pytest.raises(TypeError, match="_train"):
        Half()
    with pytest.raises(TypeError, match="abstract"):
        Rationalizer()


def test_declared_settings_are_the_keyword_arguments():
    names = list(Looks.declared)
    assert names[:2] == ["preset", "seed"] and names[-1] == "zeal" and set(GenSPP.declared) < set(names)
    signature = inspect.signature(Looks)
    assert list(signature.parameters) == names
    assert signature.parameters["zeal"].default is None and signature.parameters["seed"].default == 0
    model = Looks(zeal=5, seed=2)
    assert (model.get_params()["zeal"], clone(model).seed) == (5, 2)
    assert repr(model) == "Looks(seed=2, zeal=5)"
    with pytest.raises(TypeError, match="Looks has no setting 'zael'; it has preset, "):
        Looks(zael=1)


def test_presets_and_classes_fill_in_what_is_none():
    assert (Looks().settings()["zeal"], Looks(preset="paper").settings()["zeal"]) == (1.0, 3.0)
    assert [Looks().settings(classes)["hidden"] for classes in (None, 4, 5)] == [None, 16, 32]
    assert [Looks(preset="paper").settings(classes)["hidden"] for classes in (None, 4, 5)] == [None, 8, 16]
    assert Looks(hidden=3).settings(9)["hidden"] == 3
    settings = Looks().settings(2)
    assert Looks(**settings).settings(2) == settings  # resolved once is resolved for ever


def test_settings_of_a_source_come_along_from_the_parents():
    assert Looks.settings_on("toy", "sound") == GenSPP.settings_on("toy", "sound") | {"zeal": 2.0}
    assert Looks.settings_on("toy", "paper")["zeal"] == 4.0
    assert Looks.settings_on("toy", "sound")["hidden"] == 16
    assert Looks.settings_on("toy", "paper")["hidden"] == 8
    assert Looks.settings_on("hatexplain", "sound")["hidden"] == 16
    assert "zeal" not in Looks.settings_on("files", "paper")


def test_every_registered_method_says_what_it_is():
    for name, kind in METHODS.items():
        assert issubclass(kind, Rationalizer) and kind.title and kind.__doc__
        assert getattr(genspp, kind.__name__) is kind, name
        for preset in ("sound", "paper"):
            for family in ("toy", "hatexplain", "files"):
                kind(**kind.settings_on(family, preset), preset=preset).settings(2)
    with pytest.raises(AttributeError):
        genspp.Nonsense  # noqa: B018


# ---------------------------------------------------------------------- training


def test_validation_rows_are_not_trained_on():
    texts = [f"{text} row{i}" for i, text in enumerate(TEXTS)]
    vectors = onehot([text.split() for text in texts])
    model = Looks(vectors=vectors, validation_fraction=0.25).fit(texts, LABELS)
    train, val, _ = model.seen
    assert (len(train), len(val)) == (45, 15)
    assert sorted(words_of(model, train) + words_of(model, val)) == sorted(texts)
    labels = dict(zip(texts, LABELS, strict=True))
    for data in (train, val):
        assert [model.classes_[i] for i in data.labels] == [labels[text] for text in words_of(model, data)]
    given = Looks(vectors=vectors).fit(texts[:40], LABELS[:40], validation=(texts[40:], LABELS[40:]))
    assert [words_of(given, data) for data in given.seen[:2]] == [texts[:40], texts[40:]]


def test_words_of_validation_texts_alone_are_unknown_to_made_vectors():
    model = Looks().fit(TEXTS, LABELS, validation=(["unseen goal"], ["sport"]))
    assert model.seen[1].ids[0] == UNKNOWN != model.seen[1].ids[1]


def test_no_validation_row_changes_what_is_read():
    """Neither their labels nor their words are in the columns that know the labels, nor in the vectors."""
    one = Looks().fit(TEXTS, LABELS, validation=(["goal soup", "unseen salt"], ["sport", "food"]))
    other = Looks().fit(TEXTS, LABELS, validation=(["goal soup", "chip", "unseen"], ["food", "sport", "tech"]))
    np.testing.assert_array_equal(one.lesson.table, other.lesson.table)
    np.testing.assert_array_equal(one.lesson.train.ids, other.lesson.train.ids)
    np.testing.assert_array_equal(one.lesson.evidence, other.lesson.evidence)
    assert one.vectors_.words == other.vectors_.words and "unseen" not in one.vectors_.words
    assert one.lesson.val.ids.max() < len(one.vectors_.table)  # they read what was learnt on all training texts


@pytest.mark.parametrize(
    "weights", [{"food": 0}, {"food": 1e-60}, {"food": -1}, {"food": float("inf")}, {"food": 1e60}]
)
def test_class_weights_are_above_zero(weights):
    with pytest.raises(SettingsError, match="class_weight is .* above 0. To ignore a class, leave out its texts"):
        Looks(class_weight=weights).fit(TEXTS, LABELS)


def test_class_weights_that_are_no_numbers():
    with pytest.raises(SettingsError, match="from label to weight"):
        Looks(class_weight={"food": "much"}).fit(TEXTS, LABELS)


def test_an_interrupted_fit_is_no_fit():
    model = Looks().fit(TEXTS, LABELS)
    check_is_fitted(model)
    with pytest.raises(DataError):
        model.fit(TEXTS, LABELS[:3])
    assert len(model.predict(TEXTS[:2])) == 2  # nothing had happened yet
    with pytest.raises(KeyboardInterrupt):
        model.set_params(zeal=13).fit(TEXTS, LABELS)
    for use in (model.predict, model.explain, model.predict_full_text, model.save):
        with pytest.raises(NotFittedError, match="not trained yet"):
            use(TEXTS[:1])
    with pytest.raises(ScikitNotFitted):
        check_is_fitted(model)


# ---------------------------------------------------------------------- one way for a text


def test_a_corpus_brings_its_labels_tokens_and_tokeniser():
    documents = [
        Document(f"d{i}", "In  New York!", ("In", "New York"), ((0, 2), (4, 12)), "xy"[i % 2]) for i in range(20)
    ]
    corpus = Corpus(tuple(documents), "spaces")
    model = Looks().fit(corpus, validation=corpus)
    assert model.classes_.tolist() == ["x", "y"] and model.vectors_.words == ("In", "New York")
    rationale = model.explain(corpus)[0]
    assert rationale.document is documents[0] and rationale.tokens == ["In", "New York"]
    assert all(rationale.text[start:end] in ("In", "New York", "In  New York") for start, end in rationale.spans)
    assert model.explain(["New York"])[0].tokens == ["New", "York"]  # a string is cut as the corpus was: at spaces
    with pytest.raises(DataError, match="label 1 .* is None"):
        Looks().fit(Corpus((documents[0], Document("e", "a", ("a",), ((0, 1),)))))


def test_token_lists_are_joined_once():
    model = Looks().fit(TEXTS, LABELS)
    rationale = model.explain([["New York", "was", "cold"]])[0]
    assert rationale.text == "New York was cold" and rationale.document.spans[0] == (0, 8)
    assert as_corpus([np.array(["a", "b"])]).documents[0].tokens == ("a", "b")


def test_words_without_a_vector_of_their_own_are_flagged():
    model = Looks().fit(TEXTS, LABELS)
    first, second = model.explain(["the Zebra, the GOAL zebra", "the goal"])
    assert [first.tokens[number] for number in first.unknown] == ["Zebra", ",", "zebra"]
    assert second.unknown == ()


def test_without_evidence_the_label_is_that_of_an_empty_highlight(monkeypatch):
    model = Looks().fit(TEXTS, LABELS)
    monkeypatch.setattr("genspp.model.explainer.select", lambda _, data: np.zeros(len(data.ids), np.uint8))
    rationales = model.explain(TEXTS[:9])
    assert all(rationale.no_evidence for rationale in rationales)
    default = model.predict([["nonsense"]], masks=[[0]])[0]
    assert {rationale.label for rationale in rationales} == {default}


def test_texts_are_explained_at_given_masks():
    model, texts = Looks().fit(TEXTS, LABELS), TEXTS[:3]
    own = model.explain(texts)
    turned = [1 - bit for bit in own[1].mask]
    masks = [None, turned, None]
    found = model.explain(texts, masks)
    assert [one.mask for one in found] == [own[0].mask, turned, own[2].mask]
    assert (found[0], found[2]) == (own[0], own[2])
    assert found[1].probabilities != own[1].probabilities
    rows = [list(one.probabilities.values()) for one in found]
    np.testing.assert_array_equal(rows, model.predict_proba(texts, masks))
    assert [one.label for one in found] == model.predict(texts, masks).tolist()


@pytest.mark.parametrize(
    ("masks", "said"),
    [
        ([None], "3 texts but 1 masks"),
        ([None, [1], None], "text 1 .from 0. has 1 entries"),
        ([None, 2, None], "0 and 1"),
    ],
)
def test_masks_that_do_not_fit(masks, said):
    model = Looks().fit(TEXTS, LABELS)
    filled = [[mask] * len(TEXTS[1].split()) if mask == 2 else mask for mask in masks]
    with pytest.raises(DataError, match=said):
        model.explain(TEXTS[:3], filled)


def test_words_met_since_training_are_forgotten_when_told_so():
    model = Looks().fit(TEXTS, LABELS)
    words, table = model.vectors_.words, model.vectors_.table
    first = model.explain(["the goals of zebra"])
    assert len(model.vectors_.words) > len(words) and model.vectors_.absent == {"zebra"}
    model.forget()
    assert (model.vectors_.words, model.vectors_.absent) == (words, frozenset())
    np.testing.assert_array_equal(model.model_.vectors.numpy(), table)
    assert model.explain(["the goals of zebra"]) == first


# ---------------------------------------------------------------------- word vectors from a file


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "v.txt"
    words = sorted({word for text in TEXTS for word in text.split()} | {"newcomer", "later"})
    path.write_text("".join(f"{word} {i} 1.5\n" for i, word in enumerate(words)))
    return path


def test_a_new_text_s_word_that_the_file_has_is_known(glove, monkeypatch, tmp_path):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    model = GenSPP(vectors=glove, hidden=4).fit(TEXTS, LABELS)
    known, before = len(model.vectors_.words), model.predict_proba(TEXTS)
    assert "newcomer" not in model.vectors_.words
    model.save(tmp_path / "m")
    for each in (model, GenSPP.load(tmp_path / "m")):
        each.predict(["the newcomer was nowhere"])
        assert each.vectors_.words[known:] == ("newcomer",)
        assert each.explain(["the newcomer was nowhere"])[0].unknown == (3,)
        assert each.model_.vectors[-1].tolist() == each.vectors_.table[-1].tolist()
        assert each.model_.vectors[-1, 1] == 1.5
        np.testing.assert_array_equal(each.predict_proba(TEXTS), before)
    model.save(tmp_path / "m")
    assert "newcomer" in GenSPP.load(tmp_path / "m").vectors_.words


@pytest.mark.parametrize(("change", "said"), [("gone", "no longer there"), ("other", "not the same file any more")])
def test_without_the_file_what_is_lost_is_said(glove, monkeypatch, caplog, change, said):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    model = GenSPP(vectors=str(glove), hidden=4).fit(TEXTS, LABELS)
    if change == "gone":
        glove.unlink()
    else:
        glove.write_text(glove.read_text() + "more 1 2\n")
    with caplog.at_level(logging.WARNING, logger="genspp"):
        model.predict(TEXTS)
        assert caplog.text == ""
        model.predict(["the newcomer and the newcomer, later"])
    assert f"4 tokens (3 words) are unknown: {glove}" in caplog.text and said in caplog.text
    assert "newcomer" not in model.vectors_.words


# ---------------------------------------------------------------------- folders


def test_saved_and_loaded_it_is_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    for loaded in (GenSPP.load(tmp_path / "m"), Rationalizer.load(tmp_path / "m")):
        assert loaded.explain(TEXTS[:9]) == fitted.explain(TEXTS[:9])
    other = next(kind for kind in METHODS.values() if not issubclass(GenSPP, kind))
    with pytest.raises(ModelFolderError, match="a model of the method 'genspp', not of"):
        other.load(tmp_path / "m")


def test_class_weights_of_numpy_labels_are_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    labels = np.array([0, 1] * 30)
    model = GenSPP(hidden=4, class_weight=dict.fromkeys(np.unique(labels), 2.0)).fit(TEXTS, labels)
    model.save(tmp_path / "m")
    loaded = GenSPP.load(tmp_path / "m")
    assert loaded.class_weight == {0: 2.0, 1: 2.0}
    loaded.fit(TEXTS, labels)


def test_labels_of_numpy_whose_evidence_is_wanted_are_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    labels = np.array([0, 1] * 30)
    for place, wanted in enumerate((np.array([1]), [np.int64(1)], (np.int64(1),))):
        GenSPP(hidden=4, evidence_for=wanted).fit(TEXTS, labels).save(tmp_path / str(place))
        assert GenSPP.load(tmp_path / str(place)).evidence_for == [1]


def test_a_folder_whose_fields_do_not_fit_is_one_sentence(fitted, monkeypatch, tmp_path):
    from dataclasses import replace

    from genspp.methods import base
    from genspp.model.folder import load_folder

    fitted.save(tmp_path / "m")
    saved = load_folder(tmp_path / "m")
    few = {name: array for name, array in saved.weights.items() if "output" not in name}
    for change, said in [
        ({"method": "lime"}, "a model of the method 'lime'"),
        ({"settings": {**saved.settings, "colour": "red"}}, "GenSPP has no setting 'colour'"),
        ({"settings": {**saved.settings, "hidden": -1}}, "hidden is -1"),
        ({"settings": {**saved.settings, "hidden": 5}}, "hidden is 5, and its weights are not of that size"),
        ({"settings": {**saved.settings, "skip_gaps": None}}, "skip_gaps is None"),
        ({"weights": few}, "output.bias are missing, and the settings ask for "),
    ]:
        monkeypatch.setattr(base, "load_folder", lambda _, change=change: replace(saved, **change))
        with pytest.raises(ModelFolderError, match=said):
            Rationalizer.load(tmp_path / "m")


def test_a_method_that_nobody_could_load_is_not_saved(tmp_path):
    with pytest.raises(SettingsError, match="register it"):
        Looks().fit(TEXTS, LABELS).save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
