"""Reports in a real browser, Debian's Chromium without a window. `make browser` installs it; else they are skipped."""

import shutil
from collections import Counter
from dataclasses import replace

import pytest

from conftest import DECIDING
from genspp.data.corpus import as_corpus
from genspp.report.comparison import outcomes
from genspp.report.deciding_words import deciding_words
from genspp.report.html import comparison_page, report_page
from report_tools import EVIL, decided, finished, large_run, sentence_run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make browser)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (make browser)")

RUN = sentence_run()
LABELS = list(DECIDING)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a page; at the end, see to it that it asked for nothing, opened nothing and had no error."""
    opened, trouble = [], []

    def show(made, **media):
        path = tmp_path / "report.html"
        path.write_text(made, encoding="utf-8")
        context = browser.new_context(**media)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or trouble.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        return page

    yield show
    for context in opened:
        context.close()
    assert trouble == []


def count(page):
    return int(page.inner_text("#count").split()[0].replace(",", ""))


def rows(page):
    return page.locator("#rows > li").count()


def test_fifty_texts_at_a_time(show):
    page = show(report_page(RUN))
    assert (count(page), rows(page)) == (120, 50)
    page.click("#more")
    assert rows(page) == 100
    page.click("#more")
    assert rows(page) == 120
    assert not page.is_visible("#more")


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


def luminance(colour):
    """Return the relative luminance of `rgb(...)`, as WCAG has it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def colour(page, selector, name):
    return page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}")


def contrast(page, selector, ground):
    pair = sorted(
        luminance(found) for found in (colour(page, selector, "color"), colour(page, ground, "backgroundColor"))
    )
    return (pair[1] + 0.05) / (pair[0] + 0.05)


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
    page = show(report_page(run))
    assert (count(page), rows(page)) == (5000, 50)
    page.fill("#word", "word17")
    assert count(page) == sum("word17" in one.text for one in run.rationales)
    assert rows(page) <= 50


def test_the_page_s_own_policy_forbids_requests(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report_page(RUN), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    refused = page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
            fetch("https://example.invalid/").catch(() => undefined);
        })"""
    )
    assert refused == "connect-src"


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
