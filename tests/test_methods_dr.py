import numpy as np
import pytest

from genspp.methods.dr import DR
from genspp.methods.rnp import RNP
from gradient_tools import LENGTHS, again, choices, drawn, each_reading, lanes, parameter_count, prepared


@each_reading
def test_the_predictor_s_rate_is_the_generator_s_times_the_share_of_selected_tokens(reading):
    model, session, batch = prepared(DR, **reading, learning_rate=0.01)
    mask = drawn(choices(model.model_.generator, batch), batch, again(session))
    share = sum(mask[cells[: LENGTHS[text]]].sum() for text, cells in lanes(batch)) / LENGTHS.sum()
    assert 0 < share < 1
    model._update(session, batch)
    (optimizer,) = session.optimizers
    rates = [optimizer._rates[optimizer.vector.places([p])] for p in model.model_.predictor.parameters()]
    assert np.concatenate(rates) == pytest.approx(0.01 * share, rel=1e-6)
    rates = [optimizer._rates[optimizer.vector.places([p])] for p in model.model_.generator.parameters()]
    assert (np.concatenate(rates) == np.float32(0.01)).all()


@each_reading
def test_losses_and_gradients_are_those_of_rnp(reading):
    (model, session, batch), (other, fresh, _) = prepared(DR, **reading), prepared(RNP, **reading)
    assert model._update(session, batch) == other._update(fresh, batch)
    np.testing.assert_array_equal(session.optimizers[0].gradient, fresh.optimizers[0].gradient)
    before, after = prepared(DR, **reading)[1].optimizers[0].vector, session.optimizers[0].vector
    moved, rnp = after.numbers - before.numbers, fresh.optimizers[0].vector.numbers - before.numbers
    reading_places = after.places(model.model_.predictor.parameters())
    choosing_places = after.places(model.model_.generator.parameters())
    np.testing.assert_array_equal(moved[choosing_places], rnp[choosing_places])
    assert np.abs(moved[reading_places]).max() < np.abs(rnp[reading_places]).max()


def test_it_has_rnp_s_parameters():
    assert parameter_count(DR, "toy") == parameter_count(RNP, "toy")
