from genspp.data.corpus import Document
from genspp.model.rationale import Rationale, highlight_spans

DOCUMENT = Document("7", "in New York, today", ("in", "New York", ",", "today"), ((0, 2), (3, 11), (11, 12), (13, 18)))


def test_spans_join_neighbours():
    spans = [(0, 3), (4, 6), (7, 9), (9, 10)]
    assert highlight_spans(spans, [1, 1, 0, 1]) == [(0, 6), (9, 10)]
    assert highlight_spans(spans, [0, 0, 0, 0]) == []


def test_text_tokens_and_spans_are_the_documents():
    rationale = Rationale(DOCUMENT, "x", {"x": 0.75, "y": 0.25}, [0, 1, 1, 0])
    assert rationale.text == DOCUMENT.text and rationale.tokens == list(DOCUMENT.tokens)
    assert rationale.spans == [(3, 12)]
    assert rationale.to_json() == {
        "label": "x",
        "probabilities": {"x": 0.75, "y": 0.25},
        "tokens": ["in", "New York", ",", "today"],
        "mask": [0, 1, 1, 0],
        "spans": [[3, 12]],
        "no_evidence": False,
        "unknown": [],
        "unread": 0,
    }


def test_an_empty_highlight_and_unknown_tokens_are_said_in_json():
    rationale = Rationale(DOCUMENT, "x", {"x": 0.75, "y": 0.25}, [0, 0, 0, 0], (1, 3))
    assert rationale.no_evidence and rationale.unknown_spans == [(3, 11), (13, 18)]
    fields = rationale.to_json()
    assert fields["no_evidence"] is True and fields["spans"] == [] and fields["unknown"] == [1, 3]
