"""Reports in a real browser."""

from collections import Counter
from dataclasses import replace
from time import monotonic

import pytest

from browser_tools import colour, contrast, luminance, refused_request
from cli_tools import invoke
from conftest import DECIDING, sentences, train_nothing
from genspp import GenSPP
from genspp.data.corpus import as_corpus
from genspp.data.rows import write_rows
from genspp.report.comparison import outcomes
from genspp.report.deciding_words import deciding_words
from genspp.report.explained import page as explained_page
from genspp.report.html import comparison_page, report_page
from report_tools import EVIL, decided, finished, large_run, sentence_run

RUN = sentence_run()
LABELS = list(DECIDING)


@pytest.fixture
def show(watched, tmp_path):
    """Open a page that was made."""

    def show(made, **media):
        path = tmp_path / "report.html"
        path.write_text(made, encoding="utf-8")
        return watched(path.as_uri(), **media)

    return show


def count(page):
    return int(page.inner_text("#count").split()[0].replace(",", ""))


def rows(page):
    return page.locator("#rows > li").count()


def test_fifty_texts_at_a_time(show):
    page = show(report_page(RUN))
    assert (count(page), rows(page)) == (120, 50)
    page.click("#more")
    assert rows(page) == 100
    assert page.inner_text("#count") == "120 of 120 texts; the first 100 are shown"  # on paper, too
    page.click("#more")
    assert rows(page) == 120
    assert not page.is_visible("#more") and page.inner_text("#count") == "120 of 120 texts"
    ids = [f"row {one.document.id}" for one in RUN.rationales]
    assert page.locator("#rows .id").all_inner_texts() == ids


def test_filters_find_what_they_say(show):
    page = show(report_page(RUN))
    said = RUN.rationales
    wanted = {
        "all": len(said),
        "right": sum(one.label == one.document.label for one in said),
        "wrong": sum(one.label != one.document.label for one in said),
        "unsure": sum(max(one.probabilities.values()) < 0.5 for one in said),
        "empty": sum(one.no_evidence for one in said),
    }
    assert len(set(wanted.values())) >= 4
    for kind, texts in wanted.items():
        page.select_option("#show", kind)
        assert (kind, count(page)) == (kind, texts)
    page.click("#clear")
    for select, column in (("#gold", RUN.labels), ("#given", RUN.predicted)):
        for number, name in enumerate(LABELS):
            page.select_option(select, str(number))
            assert count(page) == Counter(column)[name]
        page.select_option(select, "")
    page.fill("#word", "GOAL")
    assert count(page) == sum("goal" in one.text for one in said)
    page.check("#marked")
    marked = sum(
        any(mask and token == "goal" for token, mask in zip(one.tokens, one.mask, strict=True)) for one in said
    )
    assert 0 < count(page) == marked < sum("goal" in one.text for one in said)
    page.fill("#word", "no such word")
    assert (count(page), rows(page)) == (0, 0)
    page.click("#clear")
    assert count(page) == 120


def test_a_click_on_a_deciding_word_or_a_cell_shows_its_texts(show):
    page = show(report_page(RUN))
    for number, group in enumerate(deciding_words(RUN.rationales, LABELS, "words")):
        for one in group["words"][:3]:
            chosen = "[data-show=empty]" if one["word"] is None else f"[data-word={one['word']}]"
            page.click(f"#words {chosen}[data-given='{number}']")
            assert (one["word"], count(page)) == (one["word"], one["texts"])
    page.click("#classes [data-gold='0'][data-given='1']")
    assert (
        count(page) == sum(pair == (LABELS[0], LABELS[1]) for pair in zip(RUN.labels, RUN.predicted, strict=True)) > 0
    )
    assert page.locator("#rows .no").count() == count(page)


def test_marked_gold_and_unknown_words_overlap_as_they_should(show):
    document = as_corpus(["🙂 the old red 🙂 goal of zog"], labels=["sport"]).documents[0]
    document = replace(document, highlight=(0, 0, 1, 1, 0, 0, 0, 0))
    said = replace(decided(document, "food", [0, 0, 0, 1, 1, 1, 0, 0]), unknown=(0, 7))
    page = show(report_page(finished([said])))
    assert page.inner_text("#rows .text") == document.text
    assert page.locator("#rows mark").all_inner_texts() == ["red 🙂 goal"]
    assert page.locator("#rows .gold").all_inner_texts() == ["old ", "red"]
    assert page.locator("#rows .unknown").all_inner_texts() == ["🙂", "zog"]
    assert page.inner_text("#rows .said") == "✗ food (is sport)"
    assert page.locator("#rows .shares span:nth-child(3n+1)").all_inner_texts() == LABELS


def test_markup_in_texts_labels_and_names_is_text(show):
    names = (EVIL, "fine")
    document = as_corpus([EVIL], labels=["fine"]).documents[0]
    said = decided(document, EVIL, [1] * len(document.tokens), classes=names)
    run = finished([said], name=EVIL, title=EVIL, header={"Command": EVIL, EVIL: EVIL})
    for made in (report_page(run), comparison_page(run, run)):
        page = show(made)
        assert page.locator("#rows .text").first.text_content() == EVIL
        assert EVIL in page.locator("#rows .said").first.text_content()
        assert page.locator("script").count() == 2 and page.locator("img").count() == 0
        assert page.locator("#gold option").all_text_contents() == ["any", *names]
    page = show(report_page(run))
    page.locator("#words button[data-word]").first.click()
    assert count(page) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_both_be_read(show, scheme):
    page = show(report_page(sentence_run(repeated=1)), color_scheme=scheme)
    assert (luminance(colour(page, "body", "backgroundColor")) < 0.1) == (scheme == "dark")
    for selector in ("h1", ".lead", ".said .yes", ".said .no", ".shares span", "dl.header dt"):
        assert (selector, contrast(page, selector, "body") >= 4.5) == (selector, True)
    for selector in ("mark", "ul.warnings li", "#show"):
        assert (selector, contrast(page, selector, selector) >= 4.5) == (selector, True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_in_light_colours_and_without_controls(show, scheme):
    page = show(report_page(RUN), color_scheme=scheme)
    assert page.is_visible("#controls")
    page.emulate_media(media="print")
    assert not any(page.is_visible(selector) for selector in ("#controls", "#more", "nav"))
    assert page.is_visible("#rows") and page.is_visible("#scores")
    assert luminance(colour(page, "body", "color")) < 0.1
    printed = page.pdf()
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") >= 3


def test_nothing_is_wider_than_a_phone(show):
    page = show(report_page(RUN), viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_5_000_texts(show):
    run = large_run(5000)
    started = monotonic()
    page = show(report_page(run))
    assert (count(page), rows(page)) == (5000, 50)
    assert monotonic() - started < 20  # with all that is filled in
    page.fill("#word", "word17")
    assert count(page) == sum("word17" in one.text for one in run.rationales)
    assert rows(page) <= 50
    for typed in ("w", "word1", ""):  # what a key, and what a filter takes until the page is laid out again
        took = page.evaluate(
            """(typed) => {
                const started = performance.now(), word = document.getElementById("word");
                word.value = typed;
                word.dispatchEvent(new Event("input", { bubbles: true }));
                document.body.getBoundingClientRect();
                return performance.now() - started;
            }""",
            typed,
        )
        assert took < 1000  # milliseconds, of a machine that may be busy


def test_the_page_s_own_policy_forbids_requests(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report_page(RUN), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert refused_request(page) == "connect-src"


def test_two_runs_text_by_text(show):
    said = [
        decided(one.document, LABELS[number % 3], [1] + [0] * (len(one.mask) - 1)) if number % 4 == 0 else one
        for number, one in enumerate(RUN.rationales)
    ]
    other = finished(said, name="other")
    page = show(comparison_page(RUN, other))
    found = outcomes(RUN, other)
    assert page.locator("#rows > li").first.locator(".answer").count() == 2
    assert found["second"] > 0 and found["differ"] > 0
    for kind in ("both", "first", "second", "neither", "differ", "marks"):
        page.select_option("#show", kind)
        assert (kind, count(page)) == (kind, found[kind])
    page.click("[data-show=second]")
    assert count(page) == found["second"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_explained_texts_is_read_on_a_screen_and_on_paper(show, scheme):
    document = as_corpus([f"the goal {EVIL}"], labels=[EVIL]).documents[0]
    said = decided(document, EVIL, [0, 1] + [0] * (len(document.tokens) - 2), classes=(EVIL, "fine"))
    page = show(explained_page([said] * 3, f"GenSPP on {EVIL}", "2026-01-02"), color_scheme=scheme)
    assert page.locator("mark").all_inner_texts() == ["marked words", *["goal"] * 3]
    assert page.locator("article .text").first.text_content() == document.text
    assert page.locator("script").count() == page.locator("img").count() == 0
    assert (luminance(colour(page, "body", "backgroundColor")) < 0.1) == (scheme == "dark")
    for selector, ground in (("h1", "body"), (".lead", "body"), (".right", "body"), ("dd", "body"), ("mark", "mark")):
        assert (selector, contrast(page, selector, ground) >= 4.5) == (selector, True)
    page.emulate_media(media="print")
    assert luminance(colour(page, "body", "color")) < 0.1
    assert luminance(colour(page, "body", "backgroundColor")) > 0.9
    assert page.pdf().startswith(b"%PDF")


def test_markup_in_the_names_of_a_file_and_its_columns_is_text(watched, tmp_path, monkeypatch):
    monkeypatch.setattr(GenSPP, "_train", train_nothing)
    markup = "<img src=x onerror=alert(1)><script>alert(2)<"
    table, run = tmp_path / f"{markup}.csv", tmp_path / f"{markup} run"
    text, label = f"{markup} t", f"{markup} k"
    rows = [{text: f"{one} {EVIL}", label: f"{EVIL} {kind}"} for one, kind in zip(*sentences(60), strict=True)]
    write_rows(table, "csv", rows)
    done = invoke("train", table, "--text", text, "--label", label, "--out", run, "--hidden", "4")
    assert done.exit_code == 0, done.output
    page = watched((run / "report.html").as_uri())
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
    assert page.inner_text("h1") == f"GenSPP on {markup}"
    assert f"text in “{text}”" in page.inner_text("dl.header")
    assert page.locator("#rows .text").first.text_content().endswith(EVIL)
