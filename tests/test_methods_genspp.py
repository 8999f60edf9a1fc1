import logging
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from conftest import sentences
from genspp import GenSPP, Rationalizer
from genspp.data.encode import Encoded
from genspp.errors import DataError, NotFittedError, SettingsError
from genspp.evolution.search import STRATEGIES
from genspp.methods.first_generators import climb_rate
from genspp.methods.judging import make_evaluator, word_costs
from genspp.methods.lesson import Lesson
from genspp.methods.recorder import Forgetful
from genspp.model.networks import Shape
from genspp.population import evaluator
from genspp.population.evaluator import Evaluation, Task, Training

SMALL = {"population": 4, "generations": 3, "hidden": 8, "min_steps": 60, "max_epochs": 60, "workers": 1}
AS_PUBLISHED = {"search": "genetic", "objective": "paper", "start": "random", "readers": False, "population": 8}
TEXTS, LABELS = sentences(300)


@pytest.fixture(scope="module", autouse=True)
def short_readings():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_READER_STEPS", 300)
        yield


def small(**settings):
    return GenSPP(**(SMALL | settings))


@pytest.fixture(scope="module")
def model():
    return small().fit(TEXTS, LABELS)


def test_it_learns_what_decides(model):
    texts, labels = sentences(60, seed=9)
    assert (model.predict(texts) == np.array(labels)).mean() > 0.7
    assert model.predict_proba(texts).sum(axis=1) == pytest.approx(np.ones(60))
    assert (model.predict_full_text(texts) == np.array(labels)).mean() > 0.7


def test_an_explanation_fits_its_text(model):
    text = "Not the  GOAL, was it?"
    rationale = model.explain([text])[0]
    assert rationale.tokens == ["Not", "the", "GOAL", ",", "was", "it", "?"]
    assert len(rationale.mask) == 7
    assert rationale.label in model.classes_
    assert sum(rationale.probabilities.values()) == pytest.approx(1)
    shown = "".join(text[start:end] for start, end in rationale.spans).replace(" ", "")
    assert shown == "".join(t for t, m in zip(rationale.tokens, rationale.mask, strict=True) if m)


def test_the_decision_is_that_at_its_own_mask(model):
    masks = [rationale.mask for rationale in model.explain(TEXTS[:20])]
    np.testing.assert_array_equal(model.predict_proba(TEXTS[:20], masks), model.predict_proba(TEXTS[:20]))


def test_at_a_fixed_mask_unselected_tokens_change_nothing(model):
    tokens = [text.split() for text in TEXTS[:40]]
    stream = np.random.RandomState(0)
    masks = [stream.randint(0, 2, len(text)) for text in tokens]
    other = [
        [token if chosen else "unheard-of" for token, chosen in zip(text, mask, strict=True)]
        for text, mask in zip(tokens, masks, strict=True)
    ]
    np.testing.assert_array_equal(model.predict_proba(tokens, masks), model.predict_proba(other, masks))


def test_batch_mates_and_padding_change_no_prediction(model):
    long = " ".join(["the"] * 60)
    together = model.predict_proba([*TEXTS[:30], long])[:30]
    alone = np.concatenate([model.predict_proba([text]) for text in TEXTS[:30]])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    masks = [rationale.mask for rationale in model.explain([*TEXTS[:30], long])][:30]
    assert masks == [model.explain([text])[0].mask for text in TEXTS[:30]]


def test_strings_and_token_lists_are_the_same(model):
    np.testing.assert_array_equal(
        model.predict_proba(TEXTS[:9]), model.predict_proba([text.split() for text in TEXTS[:9]])
    )


def test_same_seed_same_model_and_another_seed_another(model):
    again, other = small().fit(TEXTS, LABELS), small(seed=1).fit(TEXTS, LABELS)
    for name, value in model.model_.state_dict().items():
        np.testing.assert_array_equal(value, again.model_.state_dict()[name])
    assert not np.array_equal(model.predict_proba(TEXTS), other.predict_proba(TEXTS))


def test_saved_and_loaded_it_says_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    for loaded in (GenSPP.load(tmp_path / "model"), Rationalizer.load(tmp_path / "model")):
        assert loaded.explain(TEXTS[:20]) == model.explain(TEXTS[:20])
        assert loaded.classes_.tolist() == ["food", "sport", "tech"]
        assert loaded.get_params()["hidden"] == 8


@pytest.mark.parametrize("labels", [[0, 1], [True, False], ["yes", "no"]])
def test_labels_of_any_kind_come_back(labels, tmp_path):
    texts = ["good fine", "bad awful"] * 20
    model = small(generations=0).fit(texts, labels * 20)
    model.save(tmp_path / "m")
    assert set(GenSPP.load(tmp_path / "m").predict(texts).tolist()) <= set(labels)
    assert type(model.explain(texts[:1])[0].label) is type(labels[0])


def test_scikit_learns_manners():
    estimator = small(generations=0)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(seed=3).seed == 3
    assert len(cross_val_score(estimator, TEXTS, LABELS, cv=2)) == 2
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = make_pipeline(lower, estimator).fit(TEXTS, LABELS)
    assert pipeline.predict(TEXTS[:3]).shape == (3,)


def test_validation_rows_are_not_trained_on(monkeypatch):
    tasks = []

    def spy(engine, task, workers):
        tasks.append(task)
        return make_evaluator(engine, task, workers)

    monkeypatch.setattr("genspp.methods.judging.make_evaluator", spy)
    validation = ["unseen goal", "unseen soup", "unseen chip"], ["sport", "food", "tech"]
    given = small(generations=0).fit(TEXTS, LABELS, validation=validation)
    assert "unseen" not in given.vectors_.words
    assert (len(tasks[0].train), len(tasks[0].val)) == (len(TEXTS), 3)
    small(generations=0, validation_fraction=0.25).fit(TEXTS, LABELS)
    assert (len(tasks[-1].train), len(tasks[-1].val)) == (225, 75)
    rows = [part.split(part.ids) for part in (tasks[-1].train, tasks[-1].val)]
    assert sorted(map(len, rows[0] + rows[1])) == sorted(len(text.split()) for text in TEXTS)


def test_class_weight_moves_the_decisions():
    texts = ["a b", "a c", "a d", "a e"] * 30
    labels = (["x"] * 9 + ["y"]) * 12
    plain = small(generations=0).fit(texts, labels)
    heavy = small(generations=0, class_weight={"x": 1, "y": 40}).fit(texts, labels)
    balanced = small(generations=0, class_weight="balanced").fit(texts, labels)
    y = list(plain.classes_).index("y")
    assert heavy.predict_proba(texts)[:, y].mean() > balanced.predict_proba(texts)[:, y].mean()
    assert balanced.predict_proba(texts)[:, y].mean() > plain.predict_proba(texts)[:, y].mean() + 0.05


def test_nobody_feasible_is_said_and_the_least_bad_returned(caplog):
    with caplog.at_level(logging.WARNING, logger="genspp"):
        model = small(**AS_PUBLISHED, threshold=1e-6, generations=2).fit(TEXTS, LABELS)
    assert caplog.text.count("has nobody feasible") == 1
    assert "the least bad individual is returned" in caplog.text
    assert len(model.predict(TEXTS[:2])) == 2
    losses = [line["best_task_loss"] for line in model.history_]
    assert losses == sorted(losses, reverse=True)


def test_another_search_goes_through_the_same_contract():
    settings = AS_PUBLISHED | {"search": "sepcma"}
    model = small(**settings).fit(TEXTS, LABELS)
    assert [line["generation"] for line in model.history_] == [0, 1, 2, 3]
    fitness = [line["best_fitness"] for line in model.history_]
    assert fitness == sorted(fitness) and fitness[-1] > fitness[0]
    again = small(**settings).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(model.predict_proba(TEXTS), again.predict_proba(TEXTS))


def test_an_unknown_search_is_one_sentence():
    with pytest.raises(SettingsError, match=r"^search is 'hillclimb'; it takes one of genetic, guided, sepcma\.$"):
        small(search="hillclimb").fit(TEXTS, LABELS)


@pytest.mark.parametrize("search", STRATEGIES)
def test_a_search_goes_on_from_its_last_recorded_state(search):
    class Interrupted(Exception):  # noqa: N818
        pass

    class Recorder(Forgetful):
        state = None

        def __init__(self, stop=None):
            self.stop = stop

        def restore(self):
            return Recorder.state

        def record(self, line, state, total):
            Recorder.state = {**state, "history": list(state["history"])}
            if line["generation"] == self.stop:
                raise Interrupted

    whole = small(search=search).fit(TEXTS, LABELS)
    for stop in range(3):  # after every generation
        with pytest.raises(Interrupted):
            small(search=search).fit(TEXTS, LABELS, recorder=Recorder(stop=stop))
    resumed = small(search=search).fit(TEXTS, LABELS, recorder=Recorder())
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.predict_proba(TEXTS), whole.predict_proba(TEXTS))


def test_the_log_has_every_field_of_the_best_evaluation(model):
    assert {f"best_{field.name}" for field in fields(Evaluation)} <= set(model.history_[0])


def test_settings_that_go_with_a_data_set():
    assert GenSPP.settings_on("toy", "paper") == {
        "hidden": 8,
        "label_columns": False,
        "vectors": "onehot",
        "vector_width": 26,
        "threshold": 0.1,
        "regression": False,
        "commonness": 0.0,
    }
    assert "threshold" not in GenSPP.settings_on("hatexplain", "sound")
    assert GenSPP.settings_on("hatexplain", "sound") == {"hidden": 16, "evidence_for": ["toxic"]}
    assert GenSPP.settings_on("files", "sound") == {}


def test_the_paper_preset_differs_as_the_table_says():
    paper, sound = GenSPP(preset="paper").settings(), GenSPP().settings()
    different = {name: (sound[name], paper[name]) for name in sound if sound[name] != paper[name]}
    assert different == {
        "preset": ("sound", "paper"),
        "search": ("guided", "genetic"),
        "population": (6, 50),
        "generations": (60, 100),
        "start": ("informed", "random"),
        "cell": ("bigru", "gru"),
        "objective": ("evidence", "paper"),
        "epsilon": (0.01, 0.05),
        "readers": (True, False),
        "beliefs": (True, False),
        "predictors": (5, 1),
        "regression": (True, False),
        "commonness": (20.0, 0.0),
        "epochs": (1, 3),
        "learning_rate": (3e-3, 1e-2),
        "label_columns": (True, False),
        "skip_gaps": (True, False),
        "normalise_loss": (True, False),
        "graded_failures": (True, False),
        "min_steps": (300, 0),
        "retrain": (True, False),
    }


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"preset": "best"}, "preset is 'best'; it takes one of sound, paper."),
        ({"population": 5}, "population is 5; it takes an even number"),
        ({"generations": -1}, "generations is -1"),
        ({"objective": "paper"}, "the paper's objective has no gradient; choose search genetic and start random"),
        ({"evidence_for": ["music"]}, "evidence_for names 'music', which is no label; the labels are food, sport, "),
        ({"evidence_for": []}, "evidence_for is []; it takes None, or a list of labels."),
        ({"evidence_for": "sport"}, "evidence_for is 'sport'; it takes None, or a list of labels."),
        ({"hidden": 0}, "hidden is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"validation_fraction": 1.0}, "validation_fraction is 1.0"),
        ({"cell": "lstm"}, "cell is 'lstm'; it takes one of gru, bigru."),
        ({"class_weight": "heavy"}, "class_weight is 'heavy'"),
        ({"tokenizer": "bpe"}, "tokenizer is 'bpe'"),
    ],
)
def test_a_wrong_setting_is_one_sentence(settings, sentence):
    with pytest.raises(SettingsError) as caught:
        small(**settings).fit(TEXTS, LABELS)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("texts", "labels", "sentence"),
    [
        ("a text", ["x"], "texts is a str"),
        (["a", "b"], ["x"], "there are 2 texts but 1 labels"),
        (["a", " "], ["x", "y"], "text 1 (from 0) is empty"),
        (["a", 7], ["x", "y"], "text 1 (from 0) is a int"),
        (["a", "b"], ["x", None], "label 1 (from 0) is None"),
        (["a", "b"], [1.0, float("nan")], "label 1 (from 0) is nan"),
        (["a"] * 9, ["x"] * 9, "all training labels are 'x': one class only"),
        ([], [], "there are no texts"),
        (np.array([["a"], ["b"]]), ["x", "y"], "texts is an array of shape (2, 1)"),
    ],
)
def test_bad_data_is_one_sentence(texts, labels, sentence):
    with pytest.raises(DataError) as caught:
        small().fit(texts, labels)
    assert str(caught.value).startswith(sentence)


def test_a_label_that_no_training_text_has():
    with pytest.raises(DataError, match="label 'z' occurs in the validation texts but in no training text"):
        small().fit(["a", "b"] * 5, ["x", "y"] * 5, validation=(["a"], ["z"]))


def test_masks_of_the_wrong_length(model):
    with pytest.raises(DataError, match=r"mask of text 1 \(from 0\) has 1 entries, but the text has 2 tokens"):
        model.predict(["a b", "a b"], masks=[[1, 0], [1]])


def test_unfitted_it_says_so():
    with pytest.raises(NotFittedError, match="call fit or load first"):
        GenSPP().predict(["a"])


def test_a_setting_of_another_search_is_refused():
    with pytest.raises(SettingsError, match="mutation_sigma is not a setting of the search 'sepcma'"):
        GenSPP(search="sepcma", mutation_sigma=0.1).settings()
    assert GenSPP(search="genetic", mutation_sigma=0.1).settings()["mutation_sigma"] == 0.1


def test_evidence_for_some_classes_makes_marks_in_the_others_dear(monkeypatch):
    tasks = []

    def spy(engine, task, workers):
        tasks.append(task)
        return make_evaluator(engine, task, workers)

    monkeypatch.setattr("genspp.methods.judging.make_evaluator", spy)
    small(generations=0, evidence_for=["sport"]).fit(TEXTS, LABELS)
    some = tasks[-1]
    small(generations=0).fit(TEXTS, LABELS)
    all_of_them = tasks[-1]
    assert some.mark_costs.tolist() == [3, 1, 3]  # food, sport, tech
    everything = np.ones(len(some.val.ids), np.uint8)
    assert some.selection_rate(everything) == pytest.approx(
        np.mean([1 if label == 1 else 3 for label in some.val.labels])
    )
    assert all_of_them.selection_rate(everything) == 1
    # Texts that want no mark have no gaps: an adversary that saw gaps would see the class.
    assert (some.adversary, all_of_them.adversary) == ("packed", "gaps")


def test_words_that_many_texts_have_count_more():
    ids = np.array([2, 3, 2, 2, 4, 7, 4], np.int32)  # 2 is in two of three texts; 7 is 2 as another fold has it
    data = Encoded(ids, np.array([0, 3, 5, 7]), np.zeros(3, np.int32))
    table, ones = np.zeros((10, 1), np.float32), np.ones(2, np.float32)
    lesson = Lesson(data, data, table, ones, ones, 5, evidence=np.zeros(5, np.float32))
    found = word_costs({"commonness": 3.0}, lesson)
    assert found.tolist() == [1, 1, 4, 2, 3] * 2
    task = replace(Task(Shape(1, 1, 2), "gru", table, data, data, ones, Training(1)), word_costs=found)
    first = np.array([1, 0, 0, 0, 0, 0, 0], np.uint8)
    assert task.selection_rate(first) == pytest.approx(4 / 10 / 3)
    assert task.selection_rate(np.ones(7, np.uint8)) == 1
    assert word_costs({"commonness": 0.0}, lesson) is None
    assert word_costs({"commonness": 3.0}, replace(lesson, evidence=None)) is None


def test_where_validation_texts_tell_nothing_everything_is_marked_and_that_is_said(caplog):
    texts, labels = sentences(40)
    model = small(generations=2).fit(texts, np.random.default_rng(0).permutation(labels))
    assert "9 validation texts tell too little to say which words could be left out, so all are marked" in caplog.text
    others = ["entirely other words", "and ever so many of them, however long it takes to the end of this text"]
    assert all(all(why.mask) for why in model.explain([*texts[:5], *others]))
    assert model.shares_ == {}


def test_without_completeness_there_is_no_adversary(monkeypatch):
    model = small(generations=1, completeness=0.0).fit(TEXTS, LABELS)
    assert model.history_[-1]["best_rest_loss"] is None
    assert model.history_[-1]["best_fitness"] > 0


def test_a_search_ends_when_it_stalls():
    model = small(generations=40, population=2, stall=1).fit(TEXTS, LABELS)
    assert len(model.history_) < 40


@pytest.mark.parametrize(
    ("options", "rate"),
    [
        ({}, 3e-3),  # from word lists in small steps
        ({"label_columns": False}, 1e-2),
        ({"start": "random"}, 1e-2),
        ({"skew_epochs": 1, "skew_sigma": 0.05}, 1e-2),  # copies of a skewed generator know none
        ({"climb_rate": 0.5}, 0.5),
    ],
)
def test_children_climb_from_word_lists_in_smaller_steps(options, rate):
    class Pupil(GenSPP):
        def _train(self, settings, lesson, recorder):
            self.rate = climb_rate(settings, lesson)

    assert Pupil(**options).fit(*sentences(40)).rate == rate
