"""The contract of every gradient-trained method."""

import copy
import logging
import math
import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone

from conftest import sentences
from genspp.app.runs import read_checkpoint
from genspp.errors import SettingsError
from genspp.methods import METHODS, Rationalizer
from genspp.methods.fr import FR
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.in_training import Tally
from genspp.model.weights import flatten
from gradient_tools import QUICK, Notebook, choices, classified, cross_entropy, likelier, omega, prepared

KINDS = [kind for kind in METHODS.values() if issubclass(kind, GradientRationalizer)]
SHORT = QUICK | {"max_epochs": 6, "patience": 4}
# Behind predictors that skip gaps, an unselected token is heard of only through selected ones. With 4 hidden units MCD
# then often selects nothing until early stopping ends it (seeds 3, 4, 5); with the default 16 it learns (seeds 3 to 7).
# So it is with MRD; and what is salient to a full-text predictor of 4 units is less to the point than to one of 16.
LARGER: dict[type, dict[str, int]] = {METHODS[name]: {"hidden": 16} for name in ("fresh", "mcd", "mrd")}
TEXTS, LABELS = sentences(180)
DRAWING = [kind for kind in KINDS if kind(preset="paper").settings()["eval_mask"] == "sample"]  # at evaluation
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def trained():
    """Every method, trained once."""
    return {kind: kind(**QUICK | LARGER.get(kind, {})).fit(TEXTS, LABELS) for kind in KINDS}


def same_weights(one, other):
    pairs = zip(one.state_dict().items(), other.state_dict().items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


# ---- the contract of every method ----------------------------------------------------------------


@each_kind
def test_it_learns_and_keeps_near_its_sparsity_level(kind, trained):
    texts, labels = sentences(90, seed=9)
    model = trained[kind]
    masks = [rationale.mask for rationale in model.explain(texts)]
    assert (model.predict(texts) == np.array(labels)).mean() > 0.85
    assert (model.predict_full_text(texts) == np.array(labels)).mean() > 0.85
    assert 0.03 < np.mean([np.mean(mask) for mask in masks]) < 0.45
    assert model.history_[-1]["train_loss"] < model.history_[0]["train_loss"]


@each_kind
def test_saving_and_loading_changes_no_prediction(kind, trained, tmp_path):
    trained[kind].save(tmp_path)
    loaded = Rationalizer.load(tmp_path)
    assert type(loaded) is kind
    assert loaded.parameter_count == trained[kind].parameter_count
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), trained[kind].predict_proba(TEXTS))
    np.testing.assert_array_equal(loaded.predict_full_text(TEXTS), trained[kind].predict_full_text(TEXTS))
    assert [r.mask for r in loaded.explain(TEXTS)] == [r.mask for r in trained[kind].explain(TEXTS)]


@each_kind
@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_resumed_from_every_epoch_is_uninterrupted(kind, preset, tmp_path):
    settings = SHORT | {"preset": preset}
    settings |= {"pretrain_epochs": 2} if "pretrain_epochs" in kind.declared else {}
    whole = Notebook(folder=tmp_path)
    expected = kind(**settings).fit(TEXTS, LABELS, recorder=whole)
    for line in whole.lines[:-1]:
        rest = Notebook(read_checkpoint(tmp_path / str(line["epoch"])))
        resumed = kind(**settings).fit(TEXTS, LABELS, recorder=rest)
        assert same_weights(resumed.model_, expected.model_)
        assert same_weights(resumed.full_text_, expected.full_text_)
        assert resumed.history_ == expected.history_
        assert [other["epoch"] for other in rest.lines] == list(range(line["epoch"] + 1, len(whole.lines)))


@each_kind
@pytest.mark.parametrize("sampled", [False, True])
def test_batch_mates_and_padding_change_no_bit(kind, sampled, trained):
    model = copy.deepcopy(trained[kind])
    model.model_.sampled = 5 if sampled else None
    together, full = model.predict_proba(TEXTS[:50]), model.predict_full_text(TEXTS[:50])
    masks = [rationale.mask for rationale in model.explain(TEXTS[:50])]
    for number in range(0, 50, 7):
        text = TEXTS[number : number + 1]
        assert model.explain(text)[0].mask == masks[number]
        np.testing.assert_array_equal(model.predict_proba(text), together[number : number + 1])
        assert model.predict_full_text(text)[0] == full[number]


@each_kind
def test_at_a_fixed_mask_unselected_tokens_change_nothing(kind, trained):
    tokens = [text.split() for text in TEXTS[:40]]
    stream = np.random.RandomState(0)
    masks = [stream.randint(0, 2, len(text)) for text in tokens]
    other = [
        [token if chosen else "goal" for token, chosen in zip(text, mask, strict=True)]
        for text, mask in zip(tokens, masks, strict=True)
    ]
    model = trained[kind]
    np.testing.assert_array_equal(model.predict_proba(tokens, masks), model.predict_proba(other, masks))


@each_kind
def test_the_same_seed_gives_the_same_model_and_leaves_torch_alone(kind):
    settings = QUICK | {"max_epochs": 2}
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = kind(**settings).fit(TEXTS, LABELS)
    assert one.parameter_count > 0
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert same_weights(kind(**settings).fit(TEXTS, LABELS).model_, one.model_)
    assert not same_weights(kind(**settings | {"seed": 4}).fit(TEXTS, LABELS).model_, one.model_)


@pytest.mark.parametrize("kind", DRAWING, ids=lambda kind: kind.__name__)
def test_in_preset_paper_highlights_are_samples_that_can_be_repeated(kind):
    model = kind(**SHORT | {"preset": "paper", "max_epochs": 1}).fit(TEXTS, LABELS)
    masks = [rationale.mask for rationale in model.explain(TEXTS)]
    assert [rationale.mask for rationale in model.explain(TEXTS)] == masks
    assert [rationale.mask for rationale in model.explain(TEXTS[::-1])] == masks[::-1]
    model.model_.sampled = None
    assert [rationale.mask for rationale in model.explain(TEXTS)] != masks


@each_kind
@pytest.mark.parametrize("preset", ["sound", "paper"])
@pytest.mark.parametrize(("hidden", "batch_size"), [(1, 1), (3, 1000)])
def test_the_smallest_of_sizes_work(kind, preset, hidden, batch_size):
    texts, labels = [["a"], ["b"], ["a", "b", "c"], ["c"], ["b", "b"], ["c", "a"]] * 5, ["x", "y"] * 15
    sizes = {"hidden": hidden, "batch_size": batch_size, "max_epochs": 2, "preset": preset}
    model = kind(**QUICK | sizes).fit(texts, labels)
    assert np.isfinite(model.predict_proba([["a"], ["c", "b"]])).all()
    assert [len(rationale.mask) for rationale in model.explain([["b"]])] == [1]


@each_kind
def test_a_training_that_diverges_says_so_or_keeps_an_epoch_of_numbers(kind, caplog):
    caplog.set_level(logging.WARNING, "genspp")
    model = kind(**QUICK | {"learning_rate": 1e30, "max_epochs": 3}).fit(TEXTS, LABELS)
    finite = all(bool(parameter.isfinite().all()) for parameter in model.model_.parameters())
    assert finite or "Lower learning_rate" in caplog.text


@each_kind
def test_copies_and_second_fits(kind, trained):
    model = kind(**QUICK | LARGER.get(kind, {}) | {"max_epochs": 2}).fit(TEXTS, LABELS)
    expected = model.predict_proba(TEXTS)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(TEXTS), expected)
    np.testing.assert_array_equal(model.fit(TEXTS, LABELS).predict_proba(TEXTS), expected)
    model.model_.load_state_dict(trained[kind].model_.state_dict(), assign=True)
    np.testing.assert_array_equal(model.predict_proba(TEXTS), trained[kind].predict_proba(TEXTS))


@each_kind
def test_every_epoch_is_logged(kind):
    notebook = Notebook()
    model = kind(**QUICK | {"max_epochs": 3}).fit(TEXTS, LABELS, recorder=notebook)
    assert list(notebook.lines[0]) == ["epoch", "train_loss", "val_loss", "selection_rate", "seconds"]
    assert notebook.totals == {len(notebook.lines)}
    assert [{k: v for k, v in line.items() if k != "seconds"} for line in notebook.lines] == model.history_


@each_kind
def test_settings_behave_as_scikit_learn_wants(kind):
    model = kind(alpha=0.3, preset="paper")
    assert clone(model).get_params() == model.get_params()
    assert model.settings()["alpha"] == 0.3
    with pytest.raises(SettingsError, match="alpha is 2"):
        kind(alpha=2).settings()
    with pytest.raises(SettingsError, match="eval_mask"):
        kind(eval_mask="mean").settings()


@each_kind
def test_presets_differ_in_masks_and_padding(kind):
    sound, paper = kind().settings(), kind(preset="paper").settings()
    differing = {name for name in sound if sound[name] != paper[name]} - {"preset"}
    own = set(vars(kind).get("own", {}))
    assert differing - own == {"eval_mask", "padding_in_losses", "skip_gaps", "label_columns"} - own
    assert (sound["eval_mask"], paper["eval_mask"]) == ("argmax", "sample" if kind in DRAWING else "argmax")
    assert (sound["skip_gaps"], sound["label_columns"]) == (True, True)
    assert (paper["skip_gaps"], paper["label_columns"]) == (False, False)
    assert (sound["alpha"], sound["lambda_c"], sound["hidden"]) == (0.2, 0.0, 16)


@each_kind
def test_the_paper_s_data_sets_have_the_paper_s_settings(kind):
    for preset, hidden, wanted in (("sound", 16, ["toxic"]), ("paper", 8, None)):
        on_toy, on_hate = (kind.settings_on(family, preset) for family in ("toy", "hatexplain"))
        assert (on_toy["hidden"], on_toy["alpha"], on_toy["lambda_c"]) == (hidden, 0.15, 2.0)
        assert (on_toy["vectors"], on_toy["vector_width"], on_toy["label_columns"]) == ("onehot", 25, False)
        assert (on_hate["hidden"], on_hate["alpha"], on_hate.get("lambda_c", 0.0)) == (16, 0.22, 0.0)
        assert (on_toy.get("evidence_for"), on_hate.get("evidence_for")) == (None, wanted)


@each_kind
def test_class_weights_enter_training(kind):
    weighted = kind(**SHORT | {"max_epochs": 2, "class_weight": {"sport": 9, "food": 1, "tech": 1}})
    plain = kind(**SHORT | {"max_epochs": 2}).fit(TEXTS, LABELS)
    assert not same_weights(weighted.fit(TEXTS, LABELS).model_, plain.model_)


# ---- the loop that they share --------------------------------------------------------------------


def test_a_loss_that_is_never_a_number_keeps_the_last_weights_and_says_so(caplog, monkeypatch):
    caplog.set_level(logging.WARNING, "genspp")
    monkeypatch.setattr(Tally, "loss", lambda _: math.nan)
    whole = Notebook()
    model = FR(**SHORT | {"max_epochs": 3}).fit(*sentences(60), recorder=whole)
    assert [line["val_loss"] for line in model.history_] == [None] * 3
    assert "never a number" in caplog.text
    untrained, _ = model._networks(model._settings_, model.vectors_.table.shape[1], 3)
    assert not np.array_equal(flatten(model.model_), flatten(untrained))


def test_the_best_epoch_s_weights_are_kept():
    settings = QUICK | {"patience": 4, "learning_rate": 0.1}
    long = FR(**settings).fit(TEXTS, LABELS)
    losses = [line["val_loss"] for line in long.history_]
    best = losses.index(min(losses))
    assert best < len(losses) - 1  # otherwise this would show nothing
    short = FR(**settings | {"max_epochs": best + 1}).fit(TEXTS, LABELS)
    assert same_weights(short.model_, long.model_)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_validation_is_on_the_likelier_mask_or_on_a_drawn_one(preset):
    model, session, batch = prepared(FR, preset=preset)
    tally = Tally(session.losses)
    model._measure(session, batch, tally)
    mask = likelier(choices(model.model_.generator, batch), batch)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    expected += omega(mask, batch, session.losses)
    assert (tally.loss() == pytest.approx(expected, rel=1e-5)) == (preset == "sound")
