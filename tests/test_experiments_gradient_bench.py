import torch
from genspp.methods.networks import Batch

from genspp.experiments.gradient_bench import TorchFR, method_epochs
from genspp.methods import FR
from gradient_tools import parameter_count, prepared


def test_the_reference_is_fr():
    reference = TorchFR(torch.zeros(26, 25), 3, FR(hidden=8).settings())
    assert sum(parameter.numel() for parameter in reference.parameters()) == parameter_count(FR, "toy")


def test_the_reference_computes_what_fr_does():
    model, _, _ = prepared(FR)
    ours, ids = model.model_, torch.randint(1, 9, (5, 6), generator=torch.manual_seed(0))
    reference = TorchFR(ours.vectors, 3, model.settings())
    reference.gru.load_state_dict(ours.generator.encoder.gru.state_dict())
    reference.norm.load_state_dict(ours.generator.encoder.norm.state_dict())
    reference.choose.load_state_dict(ours.generator.output.state_dict())
    reference.classify.load_state_dict(ours.predictor.output.state_dict())
    with torch.no_grad():
        batch, _ = Batch.sort(ours.vectors[ids], torch.ones(5, 6, dtype=torch.bool))
        mask, logits = reference(ids, drawn=False)
        assert torch.equal(ours.generator(batch).argmax(0).t(), mask.long())
        torch.testing.assert_close(ours.predictor(batch, mask.t()), logits)


def test_so_many_epochs_are_measured():
    assert len(method_epochs("fr", 2)) == 2
