"""A real browser for the tests of pages: Debian's Chromium without a window. `make browser` installs it.

Without it these tests are skipped. `browser` and `watched` are fixtures of all test files (conftest.py names this one).
"""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 120_000  # milliseconds: a machine may be busy


@pytest.fixture(scope="module")  # not of the session: while it is open, nothing else has an event loop
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make browser)")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here (make browser)")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


@pytest.fixture
def watched(browser) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end, see to it that they asked for nothing else, opened nothing and had no error."""
    opened, trouble = [], []

    def watched(address: str, *allowed: str, **media: Any) -> Any:
        context = browser.new_context(reduced_motion="reduce", **media)  # no waiting for what scrolls smoothly
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        asked = (address, *allowed)
        page.on("request", lambda request: request.url in asked or trouble.append(f"request: {request.url}"))
        page.goto(address)
        return page

    yield watched
    for context in opened:
        context.close()
    assert trouble == []


def refused_request(page: Any) -> str:
    """Let a page ask another host for something, and return which of its rules forbids that."""
    return page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
            fetch("https://example.invalid/").catch(() => undefined);
        })"""
    )


def colour(page: Any, selector: str, name: str) -> str:
    return page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}")


def luminance(colour: str) -> float:
    """Return the relative luminance of `rgb(...)`, as WCAG has it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page: Any, selector: str, ground: str) -> float:
    pair = sorted(
        luminance(found) for found in (colour(page, selector, "color"), colour(page, ground, "backgroundColor"))
    )
    return (pair[1] + 0.05) / (pair[0] + 0.05)
