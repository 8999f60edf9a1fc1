"""A trained model against a corpus: all metrics, and what each text was given."""

from typing import Any

from genspp.data.corpus import Corpus
from genspp.evaluation.metrics import clf_f1, score
from genspp.methods.base import Rationalizer


def evaluate(model: Rationalizer, corpus: Corpus) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the metrics, and one row a text: id, label, predicted label, mask. No text is repeated in the rows."""
    rationales = model.explain(corpus.tokens)
    classes = [str(name) for name in model.classes_]
    predicted = [str(rationale.label) for rationale in rationales]
    full_text = [str(name) for name in model.predict_full_text(corpus.tokens)]
    masks = [rationale.mask for rationale in rationales]
    metrics: dict[str, Any] = dict(score(corpus.labels, predicted, masks, corpus.highlights, classes))
    metrics["full_text_clf_f1"] = clf_f1(corpus.labels, full_text, classes)
    rows = [
        {"id": document.id, "label": document.label, "predicted": label, "mask": mask}
        for document, label, mask in zip(corpus, predicted, masks, strict=True)
    ]
    return metrics, rows
