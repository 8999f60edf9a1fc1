"""Pages: what is marked, what is unknown, and that nothing in a text, a label or a name is markup."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import pytest

from genspp.data.corpus import as_corpus
from genspp.model.rationale import Rationale, cut
from genspp.report.explained import page
from genspp.report.html import comparison_page, report_page
from report_tools import EVIL, decided, finished, large_run, sentence_run

NOTHING = "Nothing is marked: no word of this text decided. The label is the default one"
LEGEND = "are unknown to it"


def rationale(text: str, mask: list[int], unknown: tuple[int, ...] = (), label: str = "x") -> Rationale:
    return Rationale(as_corpus([text]).documents[0], label, {label: 0.75, "y": 0.25}, mask, unknown)


def body(*rationales: Rationale) -> str:
    return page(rationales, "GenSPP").partition("<main>")[2]


@pytest.mark.parametrize(
    ("stretch", "spans", "found"),
    [
        ((0, 5), [], [((0, 5), False)]),
        ((0, 5), [(0, 5)], [((0, 5), True)]),
        ((0, 9), [(1, 3), (3, 4)], [((0, 1), False), ((1, 3), True), ((3, 4), True), ((4, 9), False)]),
        ((3, 6), [(0, 2), (3, 4), (7, 9)], [((3, 4), True), ((4, 6), False)]),
        ((0, 0), [], []),
    ],
)
def test_a_stretch_is_cut_at_the_spans_in_it(stretch, spans, found):
    assert cut(stretch, spans) == found


def test_a_highlight_of_known_words_has_neither_note_nor_legend():
    shown = body(rationale("a goal now", [0, 1, 0]))
    assert "a <mark>goal</mark> now</p>" in shown
    assert NOTHING not in shown and LEGEND not in shown and "unknown" not in shown


def test_no_evidence_is_said_of_the_text_it_is_true_of():
    shown = body(rationale("a goal", [0, 1]), rationale("a soup", [0, 0]))
    articles = shown.split("<article>")[1:]
    assert [NOTHING in article for article in articles] == [False, True]
    assert LEGEND not in shown


def test_unknown_words_are_underlined_inside_and_outside_of_the_highlight():
    shown = body(rationale("zig a zag goal zog", [0, 0, 1, 1, 0], (0, 2, 4)))
    unknown = [f'<span class="unknown">{word}</span>' for word in ("zig", "zag", "zog")]
    assert f"{unknown[0]} a <mark>{unknown[1]} goal</mark> {unknown[2]}</p>" in shown
    assert shown.count(LEGEND) == 1 and NOTHING not in shown


def test_one_legend_for_all_texts():
    assert body(*[rationale("zig", [0], (0,))] * 3, rationale("a", [1])).count(LEGEND) == 1


def shown_shares(article: str) -> list[tuple[str, str]]:
    return re.findall(r"<dt[^>]*>(.*?)</dt>.*?<dd>(.*?) %</dd>", article)


def shared(text: str, **shares: float) -> Rationale:
    document = as_corpus([text]).documents[0]
    return Rationale(document, max(shares, key=lambda label: shares[label]), shares, [1] * len(document.tokens))


def test_classes_stand_in_one_order_whatever_is_decided():
    articles = body(shared("one", a=0.1, b=0.7, c=0.2), shared("two", a=0.6, b=0.1, c=0.3)).split("<article>")[1:]
    assert shown_shares(articles[0]) == [("a", "10.0"), ("b", "70.0"), ("c", "20.0")]
    assert [label for label, _ in shown_shares(articles[1])] == ["a", "b", "c"]


def test_of_many_classes_all_texts_show_the_same_and_what_was_decided():
    likely = {f"k{number}": 0.1 for number in range(8)}
    articles = body(shared("one", **likely, rare=0.2), shared("two", **likely | {"k3": 0.3}, rare=0.0))
    found = [[label for label, _ in shown_shares(article)] for article in articles.split("<article>")[1:]]
    assert found[0] == found[1] == ["k0", "k1", "k2", "k3", "k4", "k5", "rare"]


def test_bars_begin_where_they_begin_whatever_stands_before_them():
    columns = re.search(r"grid-template-columns: ([^;]*);", page([shared("one", a=1.0)], "GenSPP"))
    assert columns and "content" not in columns[1] and "auto" not in columns[1]


def test_texts_are_numbered_and_say_whether_their_label_is_right():
    texts = [rationale("a goal", [0, 1]), rationale("a soup", [0, 1]), rationale("a chip", [0, 1])]
    names = [("1", "x"), ("u-7", "<y>"), ("3", None)]
    texts = [replace(t, document=replace(t.document, id=i, label=k)) for t, (i, k) in zip(texts, names, strict=True)]
    shown = body(*texts)
    found = re.findall(r'<p class="number">(.*?)</p>', shown)
    right, wrong = '<span class="right">right</span>', '<span class="wrong">wrong</span>'
    assert found == [f"1 · {right}", f"2 · u-7 · {wrong}: is &lt;y&gt;", "3"]
    assert "1 of 2 texts with a label are right." in shown
    alone = body(rationale("a goal", [0, 1]))
    assert "with a label" not in alone and re.findall(r'<p class="number">(.*?)</p>', alone) == ["1"]


def test_the_page_says_which_model_and_when():
    made = page([shared("one", a=1.0)], "GenSPP on <i>posts", "2026-01-02")
    assert "Model: GenSPP on &lt;i&gt;posts. 2026-01-02." in made
    assert "Model: GenSPP.</span>" in page([shared("one", a=1.0)], "GenSPP")


def test_lines_that_end_as_windows_has_it_are_lines():
    shown = body(rationale("a goal\r\nnow", [0, 1, 0]))
    assert "a <mark>goal</mark> \nnow</p>" in shown and "\ufffd" not in shown


def test_the_page_s_policy_lets_nothing_run_and_asks_nobody():
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page([shared("one", a=1.0)], "GenSPP")


def test_nothing_in_a_text_or_a_label_steers_the_page():
    steering = "\x1b[31m\u202e\u2066\ud800"
    document = as_corpus([[f"a{steering}", "goal"]]).documents[0]
    shown = body(Rationale(document, f"x{steering}\ny", {f"x{steering}\ny": 1.0}, [0, 1]))
    assert not set("\x1b\u202e\u2066\ud800") & set(shown) and "<mark>goal</mark>" in shown


@pytest.mark.parametrize("mask", [0, 1])
def test_hostile_words_and_labels_are_escaped(mask):
    evil = """<script>alert("x")</script> </p></mark> {{ 7 * 7 }} &amp;"""
    document = as_corpus([evil.split()]).documents[0]
    tokens = len(document.tokens)
    given = Rationale(document, "<b>x", {"<b>x": 1.0}, [mask] * tokens, tuple(range(tokens)))
    shown = body(given)
    assert "<script" not in shown and "<b>" not in shown and "49" not in shown and "&amp;amp;" in shown
    assert shown.count("<p") == shown.count("</p>") and shown.count("<mark") == shown.count("</mark>")
    assert '<span class="unknown">&lt;/p&gt;&lt;/mark&gt;</span>' in shown


@pytest.fixture(scope="module")
def hostile():
    """Return a run in which texts, labels, names, columns and warnings are markup."""
    names = (EVIL, "fine")
    corpus = as_corpus([EVIL, f"a {EVIL} 🙂"], labels=[EVIL, "fine"])
    said = [decided(document, EVIL, [1] * len(document.tokens), classes=names) for document in corpus]
    header = {"Data": f"{EVIL}.csv; text in “{EVIL}”", "Command": EVIL, EVIL: EVIL}
    run = finished(said, name=EVIL, title=EVIL, header=header)
    return replace(run, metrics={**run.metrics, "warnings": [EVIL]})


def elements(page_text):
    """Return the names of all elements of a page, and what its scripts hold."""
    found, scripts = [], []

    class Reader(HTMLParser):
        in_script = False

        def handle_starttag(self, tag, attrs):
            found.append(tag)
            self.in_script = tag == "script"
            scripts.extend([""] * self.in_script)
            assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "srcset")]

        def handle_endtag(self, tag):
            self.in_script = False

        def handle_data(self, data):
            if self.in_script:
                scripts[-1] += data

    Reader().feed(page_text)
    return found, scripts


def test_a_report_s_texts_labels_and_names_are_inert(hostile):
    for made in (report_page(hostile), comparison_page(hostile, hostile)):
        found, scripts = elements(made)
        assert found.count("script") == 2 == len(scripts)
        assert "img" not in found and "iframe" not in found and "link" not in found
        assert json.loads(scripts[0])["classes"] == [EVIL, "fine"]
        assert "49" not in made.partition("<main>")[2].partition("<script")[0]


def test_a_report_s_policy_lets_its_own_script_run_and_nothing_else(hostile):
    made = report_page(hostile)
    script = elements(made)[1][1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert f'content="{escape(policy)}"' in made or f'content="{policy}"' in made
    assert "://" not in made


def test_nothing_in_a_text_a_label_or_a_name_steers_a_report():
    steering = "\x1b[31m\x9b\u202e\u2066\ud800"
    label = f"x{steering}\ny"
    document = replace(as_corpus([[f"a{steering}", "goal"]], labels=[label]).documents[0], id=f"7{steering}")
    said = decided(document, label, [0, 1], classes=(label, "fine"))
    run = finished([said], name=f"run{steering}", title=f"on {steering}", header={f"Data{steering}": steering})
    for made in (report_page(run), comparison_page(run, run)):
        told = json.loads(elements(made)[1][0])
        (row,) = told["rows"]
        assert not set(steering[:1] + steering[5:]) & set(made + json.dumps(told, ensure_ascii=False))
        assert "\\u001b" not in json.dumps(told) and "\n" not in told["classes"][0]
        start, end = row[4][0][2][0]
        assert row[1][start:end] == "goal"


def test_a_report_of_a_file_whose_name_is_not_utf_8_can_be_written():
    made = report_page(sentence_run(title="posts\udcff"))
    assert "posts\ufffd" in made
    made.encode("utf-8")


def test_a_report_of_5_000_texts_is_a_few_megabytes():
    assert len(report_page(large_run(5000)).encode("utf-8")) < 4_000_000


def test_a_report_without_audit_or_log_says_so():
    made = report_page(sentence_run(audit=None, log=[]))
    assert "has not been audited yet" in made and "How the search went" not in made
    assert "has not been audited yet" not in report_page(sentence_run())
    audited, not_yet = sentence_run(), sentence_run(audit=None)
    assert "Not both of these runs have been audited yet" in comparison_page(audited, not_yet)
    assert "been audited yet" not in comparison_page(audited, audited)
