"""A trained model against a corpus: all metrics, and what it says of each text."""

from dataclasses import replace
from typing import Any

from genspp.data.corpus import Corpus
from genspp.evaluation.metrics import clf_f1, score
from genspp.methods.base import Rationalizer
from genspp.model.rationale import Rationale


def evaluate(model: Rationalizer, corpus: Corpus) -> tuple[dict[str, Any], list[Rationale]]:
    """Return the metrics, and one rationale per text; its document has the gold label and highlight."""
    rationales = model.explain(corpus)
    corpus = replace(corpus, documents=tuple(rationale.document for rationale in rationales))  # as far as it is read
    classes, labels = [str(name) for name in model.classes_], [str(label) for label in corpus.labels]
    predicted = [str(rationale.label) for rationale in rationales]
    full_text = [str(name) for name in model.predict_full_text(corpus)]
    masks = [rationale.mask for rationale in rationales]
    metrics: dict[str, Any] = dict(score(labels, predicted, masks, corpus.highlights, classes))
    metrics["full_text_clf_f1"] = clf_f1(labels, full_text, classes)
    return metrics, rationales
