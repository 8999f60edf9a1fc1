"""The page of `genspp serve` in a real browser, with a real server behind it."""

import re

import numpy as np
import pytest

from browser_tools import colour, contrast, luminance, refused_request
from report_tools import EVIL
from serve_tools import served, trained

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make browser)")

HOSTILE = f"tech {EVIL}"
CLASSES = ["food", "sport", HOSTILE]
NOTHING = "Nothing is marked: no word of this text decided; the label is the default one."


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    """Serve a model whose labels are markup; not where there is no browser to look at it."""
    folder = tmp_path_factory.mktemp("serve") / "posts"
    model = trained()
    model.classes_ = np.array(CLASSES)
    model.save(folder)
    with served(folder) as found:
        yield found


@pytest.fixture
def show(watched, address):
    """Open the page, which may ask its own server, and nobody else."""
    return lambda **media: watched(f"{address}/", f"{address}/explain", "data:,", **media)


def card(page, number=0):
    return page.locator("li.card").nth(number)


def ask(page, text, number=0):
    """Put a text into a card, as if it were typed, and wait for the answer."""
    one = card(page, number)
    one.locator("textarea").fill(text)
    playwright.expect(one).not_to_have_class(re.compile("waiting"))
    return one


def marked(one):
    return one.locator(".word[aria-pressed=true]").all_text_contents()


def word(one, text):
    return one.locator(".word", has_text=re.compile(f"^{text}$"))


def says(one, label):
    playwright.expect(one.locator(".said")).to_have_text(f"decides {label}")


def shares(one):
    return one.locator(".shares span.number").all_text_contents()


def test_typing_shows_label_marks_and_all_classes(show):
    page = show()
    page.keyboard.type("the goal of ")
    one = card(page)
    says(one, "sport")
    page.keyboard.press("Control+A")
    page.keyboard.type("the zebra had bread and soup")
    says(one, "food")
    playwright.expect(one.locator(".text")).to_have_text("the zebra had bread and soup")
    assert marked(one) == ["bread", "soup"]
    assert one.locator(".unknown").all_text_contents() == ["zebra"]
    assert one.locator(".shares span:nth-child(3n+1)").all_text_contents() == CLASSES
    starts = [bar.bounding_box()["x"] for bar in one.locator(".shares .bar").all()]
    assert len(starts) == 3 and len(set(starts)) == 1
    assert one.locator(".own + .number").text_content() == max(shares(one), key=lambda share: float(share[:-2]))
    assert page.locator(".yours:visible").count() == 0 == page.locator(".nothing:visible").count()
    one.locator("textarea").fill(" ")
    assert not one.locator(".answer").is_visible()


def test_a_click_on_a_word_changes_the_decision_and_can_be_taken_back(show):
    page = show()
    one = ask(page, "the match of the salt")
    says(one, "sport")
    before = shares(one)
    word(one, "match").click()
    says(one, "food")
    assert marked(one) == ["salt"] and shares(one) != before
    assert "your marks, not the model’s" in one.locator(".yours").text_content()
    assert "From its own it decides sport" in one.locator(".yours").text_content()
    assert one.locator(".dropped").all_text_contents() == ["match"]
    word(one, "salt").click()
    playwright.expect(one.locator(".nothing")).to_have_text(NOTHING)
    playwright.expect(one.locator(".nothing")).to_be_visible()
    word(one, "of").click()
    playwright.expect(one.locator(".nothing")).to_be_hidden()
    one.locator(".reset").click()
    playwright.expect(one.locator(".yours")).to_be_hidden()  # the label may be the same before
    says(one, "sport")
    assert marked(one) == ["match", "salt"] and shares(one) == before and not one.locator(".yours").is_visible()
    word(one, "match").click()
    says(one, "food")
    word(one, "match").click()  # these are the model's marks again
    says(one, "sport")
    assert not one.locator(".yours").is_visible()
    word(one, "match").click()
    says(one, "food")
    ask(page, "the match of the salt, yes")  # other words: the model marks them
    says(one, "sport")
    assert marked(one) == ["match", "salt"] and not one.locator(".yours").is_visible()


def test_where_nothing_is_marked_it_is_said(show):
    one = ask(show(), "of the and")
    assert marked(one) == [] and one.locator(".nothing").is_visible()


def test_the_keyboard_is_enough(show):
    page = show()
    page.keyboard.type("the match of the salt")
    one = card(page)
    says(one, "sport")
    page.keyboard.press("Tab")
    playwright.expect(word(one, "the").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    playwright.expect(word(one, "match")).to_be_focused()
    page.keyboard.press("Space")
    says(one, "food")
    playwright.expect(word(one, "match")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    playwright.expect(one.locator(".nothing")).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")  # there is nothing before the first word
    playwright.expect(word(one, "the").first).to_be_focused()
    page.keyboard.press("Tab")
    playwright.expect(one.locator(".reset")).to_be_focused()
    page.keyboard.press("Enter")
    says(one, "sport")
    playwright.expect(word(one, "the").first).to_be_focused()
    assert one.locator(".word[tabindex='0']").count() == 1
    assert page.get_by_role("button", name="match", pressed=True).count() == 1


def test_several_texts(show):
    page = show()
    one = ask(page, "a goal\n\nsome soup\nthe goal")
    one.get_by_role("button", name="Make 3 texts of it, one per line").click()
    for number, label in enumerate(("sport", "food", "sport")):
        says(card(page, number), label)
    assert page.locator(".split:visible").count() == 0
    page.click("#add")
    playwright.expect(card(page, 3).locator("textarea")).to_be_focused()
    page.keyboard.type("bread")
    says(card(page, 3), "food")
    word(card(page, 1), "soup").click()
    playwright.expect(card(page, 1).locator(".nothing")).to_be_visible()
    card(page, 0).locator(".remove").click()
    assert page.locator("textarea").count() == 3
    assert page.locator(".typed span").all_text_contents() == ["Text 1", "Text 2", "Text 3"]
    says(card(page, 2), "food")


def test_markup_in_texts_and_labels_is_text(show):
    page = show()
    one = ask(page, f"{EVIL} robot")
    says(one, HOSTILE)
    assert one.locator(".text").text_content() == f"{EVIL} robot"
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
    word(one, "robot").click()
    playwright.expect(one.locator(".yours")).to_be_visible()
    assert HOSTILE in one.locator(".yours").text_content()


def test_what_would_steer_the_page_is_replaced(show):
    page = show()
    one = card(page)
    page.evaluate(
        r"""() => {
            const input = document.querySelector("textarea");
            input.value = "match\u202e \u0007of\ud800 salt 🙂\u2066";
            input.dispatchEvent(new Event("input"));
        }"""
    )
    says(one, "sport")
    assert one.locator(".text").text_content() == "match\ufffd \ufffdof\ufffd salt 🙂\ufffd"
    assert marked(one) == ["match", "salt"]


def test_a_text_that_runs_from_right_to_left(show):
    page = show()
    one = ask(page, "مرحبا goal soup")
    assert colour(page, ".text", "direction") == "rtl"
    word(one, "goal").focus()
    page.keyboard.press("ArrowLeft")  # onwards, there
    playwright.expect(word(one, "soup")).to_be_focused()
    ask(page, "goal مرحبا")
    assert colour(page, ".text", "direction") == "ltr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_both_be_read(show, scheme):
    page = show(color_scheme=scheme)
    one = ask(page, "the goal of zebra soup")
    word(one, "soup").click()
    playwright.expect(one.locator(".yours")).to_be_visible()
    assert (luminance(colour(page, "body", "backgroundColor")) < 0.1) == (scheme == "dark")
    for selector in ("h1", ".lead", ".said b", ".shares span", ".yours span", ".remove", ".word[aria-pressed=false]"):
        assert (selector, contrast(page, selector, "body") >= 4.5) == (selector, True)
    for selector in ("mark", "textarea", ".reset", ".word[aria-pressed=true]"):
        assert (selector, contrast(page, selector, selector) >= 4.5) == (selector, True)


def test_nothing_is_wider_than_a_phone(show):
    page = show(viewport={"width": 390, "height": 800})
    ask(page, "goal " + "x" * 500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.fixture
def page(browser, address):
    """The page, where errors on the console are expected: a browser tells of every request that is not answered."""
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(address)
        yield opened


def test_a_text_that_is_refused_leaves_the_others_alone(page):
    page.click("#add")
    card(page, 0).locator("textarea").fill("a goal")
    card(page, 1).locator("textarea").fill("\u202e")
    says(card(page, 0), "sport")
    playwright.expect(card(page, 1).locator(".fault")).to_have_text(re.compile("is empty"))
    assert not card(page, 1).locator(".answer").is_visible() and not card(page, 0).locator(".fault").is_visible()
    ask(page, "some soup", 1)
    says(card(page, 1), "food")
    assert not card(page, 1).locator(".fault").is_visible()


def test_a_busy_server_is_asked_again(page):
    refused = []

    def refuse_once(route):
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, headers={"Retry-After": "1"}, json={"error": "wait."})

    page.route("**/explain", refuse_once)
    page.locator("textarea").fill("a goal")
    playwright.expect(page.locator("#state")).to_have_text("The server is busy; a moment.")
    says(card(page), "sport")
    playwright.expect(page.locator("#state")).to_have_text("")


def test_a_server_that_is_gone_is_said_to_be(page):
    page.route("**/explain", lambda route: route.abort())
    page.locator("textarea").fill("a goal")
    playwright.expect(page.locator("#state")).to_have_text(re.compile("does not answer"))
    page.unroute("**/explain")
    page.locator("textarea").fill("a goal again")
    says(card(page), "sport")


def test_the_policy_forbids_to_ask_others(page):
    assert refused_request(page) == "connect-src"


def test_of_a_text_that_is_cut_it_is_said_and_the_rest_cannot_be_marked(browser, tmp_path):
    trained(truncate=9).save(tmp_path / "cut")
    with served(tmp_path / "cut") as address:
        page = browser.new_page()
        page.goto(address)
        one = ask(page, "the goal of the match and so on and on soup")
        playwright.expect(one.locator(".unread")).to_have_text("Of this text, the first 9 words are read.")
        assert one.locator(".text").text_content() == "the goal of the match and so on and on soup"
        assert one.locator(".word").count() == 9 and "soup" not in marked(one)
        ask(page, "the goal")
        playwright.expect(one.locator(".unread")).to_be_hidden()
        page.close()
