from html.parser import HTMLParser

from genspp.data.corpus import Document, as_corpus
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


def test_a_notebook_shows_label_shares_and_highlight():
    shown = Rationale(DOCUMENT, "x", {"x": 0.75, "y": 0.25}, [0, 1, 1, 0], (3,))._repr_html_()
    mark = '<mark style="background:#ffe27a;color:#1d2430;'  # colours of its own, whatever the notebook's are
    assert f"in {mark}" in shown and ">New York,</mark> <span" in shown and ">today</span>" in shown
    assert "<strong>x</strong>" in shown and "(x 75.0%, y 25.0%)" in shown and "Nothing is marked" not in shown
    outside = shown.replace(mark, "")
    assert "color:" not in outside and "background" not in outside  # which are the notebook's
    assert "Nothing is marked" in Rationale(DOCUMENT, "x", {"x": 1.0}, [0, 0, 0, 0])._repr_html_()
    cut = Rationale(DOCUMENT.first(2), "x", {"x": 1.0}, [0, 1])._repr_html_()
    assert "the first 2 words were read" in cut and "were read" not in shown


def test_a_notebook_runs_nothing_of_a_text_and_asks_nobody_for_anything():
    evil = """<script>alert(1)</script> </div><img src=x onerror="alert(1)"> &amp; \x1b\u202e"""
    tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append(tag)
            assert {name for name, _ in attrs} <= {"style", "dir"}

    document = as_corpus([[*evil.split(), "goal"]]).documents[0]
    for mask, unknown in ((0, ()), (1, ()), (0, (0, 1, 2, 3)), (1, (0, 1, 2, 3))):
        given = Rationale(document, evil, {evil: 1.0}, [mask] * len(document.tokens), unknown)
        shown = given._repr_html_()
        Reader().feed(shown)
        assert "&amp;amp;" in shown and not {"\x1b", "\u202e"} & set(shown) and "http" not in shown
        assert shown.count("<div") == shown.count("</div>") == 2
    assert set(tags) <= {"div", "strong", "span", "mark", "em", "br"}
