"""A task that is solved by single words, and a model with weights set by hand that solves it so.

Words 2 to 9 are filler, 10 to 12 speak for class 0, 13 to 15 for class 1. The generator marks the words that speak for
a class; the predictor says the class whose word is marked, and class 0 where none is. `SOUND` are the figures that
such a model might have.
"""

import numpy as np
import torch

from genspp.data.encode import Encoded
from genspp.evaluation.answers import Audit, Eraser, EvalX, Gaps, MaskAlone, Rest, Transplants
from genspp.evaluation.judges import Subject
from genspp.evaluation.made_texts import Marked
from genspp.model.networks import Encoder, Generator, Pair, Predictor, Shape
from genspp.model.weights import draw, load_flat
from genspp.streams import Purpose, stream

SOUND = Audit(
    texts=1000,
    empty=0.0,
    model_clf_f1=0.9,
    guessing_clf_f1=0.5,
    mask_alone=MaskAlone(0.51, 0.5),
    gaps=Gaps(0.0, 0.0, 0.0, 0.0),
    eval_x=EvalX(0.9, 0.95, 1.0, 0.5, 0.4),
    rest=Rest(0.5, 0.5, 0.95),
    eraser=Eraser(0.4, 0.0),
    pasted=Transplants(900, 1.0, 0.95, 0.5),
    pasted_by_class={"a": Transplants(900, 1.0, 0.95, 0.5), "b": Transplants(0, None, None, None)},
)

TABLE = np.zeros((16, 3), np.float32)
TABLE[1:10, 2] = np.linspace(-1, 1, 9)
TABLE[10:13, 0] = 1
TABLE[13:16, 1] = 1


def texts(rows, seed, deciding=True, longest=8):
    """Return texts of filler with one word that decides in each, or with filler only; classes take turns."""
    random = np.random.RandomState(seed)
    labels = np.arange(rows) % 2
    parts = []
    for label in labels:
        words = random.randint(2, 10, random.randint(3, longest)).tolist()
        if deciding:
            words.insert(random.randint(len(words) + 1), random.randint(10, 13) + 3 * label)
        parts.append(words)
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return Encoded(np.concatenate(parts).astype(np.int32), starts, labels.astype(np.int32))


def honest(data):
    """Mark the word that decides."""
    return Marked(data, (data.ids >= 10).view(np.uint8))


def coded(data):
    """Mark the first token in texts of class 0, the second in the others: the mask is the label, the word is not."""
    mask = np.zeros(len(data.ids), np.uint8)
    mask[data.starts[:-1] + data.labels] = 1
    return Marked(data, mask)


def fluent(encoder):
    """Empty an encoder's gates: its state is tanh of what the last token says."""
    with torch.no_grad():
        for weights in encoder.gru.parameters():
            weights.zero_()
        hidden = encoder.gru.hidden_size
        encoder.gru.bias_ih_l0[hidden : 2 * hidden] = -40.0  # nothing of the old state is kept
        return encoder.gru.weight_ih_l0[2 * hidden :], encoder.gru.bias_ih_l0[2 * hidden :]


def generator(marks=True):
    made = Generator(Encoder(Shape(3, 1, 2), "gru"), 1)
    weights, bias = fluent(made.encoder)
    with torch.no_grad():
        weights[0, :2], bias[0] = 10.0, -5.0 if marks else -50.0
        made.output.weight.fill_(1.0)
        made.output.bias.zero_()
    return made


def predictor(skipping=True):
    made = Predictor(Encoder(Shape(3, 2, 2), "gru"), 2, selected=True, skipping=skipping)
    weights, _ = fluent(made.encoder)
    with torch.no_grad():
        weights[0, 0] = weights[1, 1] = 5.0
        made.output.weight.copy_(5 * torch.eye(2))
        made.output.bias.zero_()
    return made


def drawn(skipping, seed=1):
    """Return a predictor with random weights."""
    made = Predictor(Encoder(Shape(3, 4, 2), "gru"), 2, selected=True, skipping=skipping)
    load_flat(made, 3 * draw(stream(seed, Purpose.WEIGHTS), made))
    return made


def subject(marks=honest, *, model=None, marking=True, skipping=True, deciding=True, rows=160):
    own = model or predictor(skipping)
    train, val, test = (marks(texts(count, seed, deciding)) for seed, count in enumerate((rows, 80, 80)))
    return Subject(
        model=Pair(torch.from_numpy(TABLE), generator(marking), own),
        full_text=own,
        train=train,
        val=val,
        test=test,
        class_weights=np.ones(2, np.float32),
        hidden=4,
        skipping=skipping,
        seed=1,
    )
