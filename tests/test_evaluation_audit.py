"""The six questions, each where the answer is known; and the audit of every method."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from audit_tools import TABLE, coded, drawn, honest, subject
from conftest import sentences
from genspp.data.corpus import Splits, as_corpus
from genspp.evaluation import audit as module
from genspp.evaluation.audit import audit, eraser, eval_x, gaps, mask_alone, rest, together, transplants
from genspp.evaluation.judges import subject_of
from genspp.evaluation.made_texts import Marked
from genspp.methods import METHODS
from genspp.methods.first_generators import above, list_thresholds
from genspp.model.networks import Pair


def splits():
    drawn_texts = [sentences(rows, seed) for rows, seed in ((60, 0), (30, 1), (30, 2))]
    return Splits(*(as_corpus(texts, "words", labels) for texts, labels in drawn_texts))


def untrained(name, monkeypatch, **settings):
    """Return a fitted model of a method with its initial weights, and the lesson that it was given."""
    lessons = []
    monkeypatch.setattr(METHODS[name], "_train", lambda self, settings, lesson, recorder: lessons.append(lesson))
    model = METHODS[name](seed=1, hidden=4, **settings).fit(splits().train, validation=splits().val)
    return model, lessons[0]


def test_the_hand_made_model_does_what_it_should():
    made = subject()
    np.testing.assert_array_equal(made.choosing(made.test.data).mask, made.test.mask)
    np.testing.assert_array_equal(made.says(made.test).argmax(1), made.test.data.labels)


# ---------------------------------------------------------------------- 1: the mask alone


def test_a_mask_that_encodes_the_label_is_found_out():
    assert mask_alone(subject(coded)).mask_clf_f1 == 1


def test_an_honest_mask_tells_nothing():
    found = mask_alone(subject(honest))
    assert found.mask_clf_f1 < 0.65
    assert found.length_clf_f1 < 0.65


def test_a_label_that_is_the_length_is_the_length_s():
    made = subject()
    longer = [replace(part.data, labels=(part.data.lengths > 6).astype(np.int32)) for part in (made.train, made.test)]
    known = replace(made, train=honest(longer[0]), test=honest(longer[1]))
    assert mask_alone(known).length_clf_f1 > 0.95


# ---------------------------------------------------------------------- 2: gaps


def test_a_model_that_skips_gaps_is_the_same_to_the_bit():
    for marks in (honest, coded, lambda data: Marked(data, np.zeros(len(data.ids), np.uint8))):
        found = gaps(subject(marks, model=drawn(skipping=True)))
        assert (found.changed_without, found.shift_without, found.changed_behind, found.shift_behind) == (0, 0, 0, 0)


def test_one_that_sees_zero_vectors_is_not():
    found = gaps(subject(model=drawn(skipping=False), skipping=False))
    assert found.shift_without > 1e-3
    assert found.shift_behind > 1e-3
    assert 0 <= found.changed_without <= 1


# ---------------------------------------------------------------------- 3: EVAL-X


def test_honest_highlights_are_understood_and_a_code_is_not():
    understood = eval_x(subject(honest))
    assert understood.highlights_clf_f1 == understood.full_text_clf_f1 == understood.agreement == 1
    assert understood.default_agreement == 0.5
    assert understood.gain > 0.3
    code = eval_x(subject(coded))
    assert code.highlights_clf_f1 < 0.75  # a deciding word is now and then among the first two
    assert code.full_text_clf_f1 == 1


def test_where_nothing_is_marked_nobody_can_agree():
    found = eval_x(subject(lambda data: Marked(data, np.zeros(len(data.ids), np.uint8))))
    assert found.agreement is found.default_agreement is found.gain is None
    assert found.highlights_clf_f1 == pytest.approx(1 / 3)  # always the same class


def test_a_code_of_one_class_is_not_taken_for_evidence():
    """Filler is marked in texts of the frequent class, nothing in others: who always says that class agrees."""

    def one_sided(data):
        data = replace(data, labels=(data.ids[data.starts[:-1]] != 2).astype(np.int32))
        mask = np.zeros(len(data.ids), np.uint8)
        mask[data.starts[1:][data.labels == 1] - 1] = 1
        return Marked(data, mask)

    made = subject(one_sided, deciding=False)
    always = drawn(skipping=True)
    with torch.no_grad():
        always.output.weight.zero_()
        always.output.bias.copy_(torch.tensor([0.0, 9.0]))
    found = eval_x(replace(made, model=Pair(made.model.vectors, made.model.generator, always)))
    assert found.agreement == found.default_agreement == 1
    assert abs(found.gain) < 0.1


# ---------------------------------------------------------------------- 4: the rest


def test_nothing_is_left_beside_the_words_that_decide():
    found = rest(subject(honest))
    assert found.rest_clf_f1 < 0.7
    assert found.rest_words_clf_f1 < 0.7
    assert found.full_text_clf_f1 == 1


def test_all_is_left_beside_filler():
    def one_filler(data):
        first = np.concatenate([a + np.flatnonzero(data.ids[a:b] < 10)[:1] for a, b in pairwise(data.starts)])
        mask = np.zeros(len(data.ids), np.uint8)
        mask[first] = 1
        return Marked(data, mask)

    found = rest(subject(one_filler))
    assert found.rest_clf_f1 == found.rest_words_clf_f1 == 1


def test_gaps_that_tell_the_label_are_seen_where_gaps_are_seen():
    found = rest(subject(coded, deciding=False))
    assert found.rest_clf_f1 > 0.95
    assert found.rest_words_clf_f1 < 0.7


# ---------------------------------------------------------------------- 5: ERASER


def probabilities(predictor, ids):
    """Return what torch's own modules make of a text."""
    with torch.inference_mode():
        vectors, real = torch.from_numpy(TABLE)[torch.tensor(ids)][None], torch.ones(1, len(ids), dtype=torch.bool)
        return torch.softmax(predictor(vectors, real, real)[0].double(), 0).numpy()


@pytest.mark.parametrize("skipping", [True, False])
def test_eraser_by_its_definition(skipping):
    made = subject(coded, model=drawn(skipping), skipping=skipping)
    falls = []
    for ids, mask in map(made.test.text, range(len(made.test.data))):
        full = probabilities(made.full_text, ids.tolist())
        without, alone = (probabilities(made.full_text, ids[kept].tolist()) for kept in (mask == 0, mask == 1))
        falls.append([full.max() - without[full.argmax()], full.max() - alone[full.argmax()]])
    found = eraser(made)
    expected = np.mean(falls, axis=0)
    assert [found.comprehensiveness, found.sufficiency] == pytest.approx(expected, abs=1e-5)


def test_eraser_of_honest_highlights():
    found = eraser(subject())
    assert found.comprehensiveness == pytest.approx(0.4933, abs=1e-3)  # from 0.9933 to one half
    assert found.sufficiency == pytest.approx(0, abs=1e-6)


# ---------------------------------------------------------------------- 6: pasted highlights


def test_honest_highlights_take_their_class_along():
    found = transplants(subject(), ["no", "yes"])
    assert list(found) == ["no", "yes"]
    for one, before in zip(found.values(), (1, 0), strict=True):  # without a highlight the answer is class 0
        assert (one.texts, one.at_mask, one.by_model, one.before) == (40, 1, 1, before)
    assert together(list(found.values())) == module.Transplants(80, 1, 1, 0.5)


def test_a_generator_that_does_not_choose_them_again_is_found_out():
    found = transplants(subject(marking=False), ["no", "yes"])
    assert (found["yes"].at_mask, found["yes"].by_model) == (1, 0)


def test_without_highlights_there_is_nothing_to_paste():
    found = transplants(subject(lambda data: Marked(data, np.zeros(len(data.ids), np.uint8))), ["no", "yes"])
    assert set(found.values()) == {module.Transplants(0, None, None, None)}
    assert together(list(found.values())).by_model is None


# ---------------------------------------------------------------------- the whole


def test_training_texts_are_read_as_training_read_them(monkeypatch):
    model, lesson = untrained("genspp", monkeypatch)
    found = subject_of(model, splits())
    np.testing.assert_array_equal(found.model.vectors.numpy(), lesson.table)
    np.testing.assert_array_equal(found.train.data.ids, lesson.train.ids)
    np.testing.assert_array_equal(found.val.data.ids, lesson.val.ids)
    np.testing.assert_array_equal(found.test.mask, np.concatenate([one.mask for one in model.explain(splits().test)]))


def test_a_word_list_marks_training_texts_as_it_did_in_training(monkeypatch):
    texts, labels = sentences(60, 0)
    rare = replace(splits(), train=as_corpus([f"{text} rare{i}" for i, text in enumerate(texts)], "words", labels))
    monkeypatch.setattr(__name__ + ".splits", lambda: rare)
    model, lesson = untrained("wordlist", monkeypatch)
    own, differing = model.model_.generator, 0
    for least in [*list_thresholds(lesson.evidence_of(lesson.train), 9, 1.0), 100.0]:
        own.keep(torch.from_numpy(lesson.evidence[: lesson.words]), least)
        found = subject_of(model, rare)
        for part, data in ((found.train, lesson.train), (found.val, lesson.val)):
            np.testing.assert_array_equal(part.mask, above(lesson.evidence_of(data), least))
        read = np.concatenate([one.mask for one in model.explain(rare.train)])
        differing += (read != found.train.mask).any()  # as a stranger would read them: their own words speak for them
    assert differing


def test_drawn_highlights_of_new_words_are_those_that_were_evaluated(monkeypatch):
    """Words that training has not seen, alike to known ones, are guessed when they are read."""
    texts, labels = sentences(30, 2)
    val, test = (as_corpus([text.replace(" ", f"{end} ") for text in texts], "words", labels) for end in ("ly", "s"))
    model, _ = untrained("rnp", monkeypatch, preset="paper")
    evaluated = np.concatenate([one.mask for one in model.explain(test)])
    again, _ = untrained("rnp", monkeypatch, preset="paper")
    found = subject_of(again, replace(splits(), val=val, test=test))
    assert len(again.vectors_.table) > len(model.vectors_.table)
    np.testing.assert_array_equal(found.test.mask, evaluated)


@pytest.mark.parametrize("preset", ["sound", "paper"])
@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_is_audited(name, preset, monkeypatch):
    model, _ = untrained(name, monkeypatch, preset=preset)
    monkeypatch.setattr("genspp.evaluation.judges._MOST_STEPS", 1)
    found = audit(model, splits())
    shifts = found.gaps.shift_without, found.gaps.shift_behind
    assert (shifts == (0, 0)) == (preset == "sound" or found.empty == 1)
    assert set(found.pasted_by_class) == {"food", "sport", "tech"}
    assert found.guessing_clf_f1 == pytest.approx(1 / 3)


def test_the_same_run_gives_the_same_audit(monkeypatch):
    model, _ = untrained("genspp", monkeypatch)
    monkeypatch.setattr("genspp.evaluation.judges._MOST_STEPS", 50)
    assert audit(model, splits()) == audit(model, splits())


def test_no_gold_highlight_changes_an_audit(monkeypatch):
    model, _ = untrained("genspp", monkeypatch)
    monkeypatch.setattr("genspp.evaluation.judges._MOST_STEPS", 1)
    plain = splits()
    gold = [replace(part, documents=tuple(replace(one, highlight=(1,) * len(one.tokens)) for one in part))
            for part in (plain.train, plain.val, plain.test)]  # fmt: skip
    assert audit(model, Splits(*gold)) == audit(model, plain)
