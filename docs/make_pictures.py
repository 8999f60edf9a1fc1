"""Makes the pictures of the documentation from a finished run on examples/messages.csv: `make pictures`.

python docs/make_pictures.py RUN
"""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

IMAGES = Path(__file__).parent / "images"
NEW = Path(__file__).parent.parent / "examples" / "new.csv"
GENSPP = [sys.executable, "-c", "from genspp.cli import main; main()"]
TEXT = "Dear team, the parcel was wrong again. What about the refund you promised me?"
WIDTH = 900


def new_page(browser: Browser) -> Page:
    """Return an empty page as wide as a README, and sharp."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 600}, device_scale_factor=1.5, color_scheme="light"
    )
    return context.new_page()


def shoot(page: Page, name: str, last: str = "html") -> None:
    """Take a picture of a page from its top to the end of what a selector finds."""
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    box = page.locator(last).bounding_box()
    assert box is not None, f"{last} is not to be seen on the page of {name}"
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"]}
    page.screenshot(path=IMAGES / name, clip=clip, full_page=True)


@contextmanager
def served(run: Path) -> Iterator[str]:
    """Serve a run at a free port, and yield its address."""
    with subprocess.Popen([*GENSPP, "serve", str(run), "--port", "0"], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.match(r"open (http://\S+) in a browser", line):
                    yield found[1]
                    return
            raise RuntimeError(f"{run} cannot be served; see `genspp serve {run}`.")
        finally:
            process.send_signal(signal.SIGINT)


def make(run: Path, browser: Browser) -> None:
    """Make all pictures of a run."""
    explained = run / "explain.html"
    subprocess.run([*GENSPP, "explain", str(run), "--file", str(NEW), "--html", str(explained)], check=True)
    page = new_page(browser)
    page.goto(explained.resolve().as_uri())
    expect(page.get_by_text("Nothing is marked")).to_have_count(1)  # docs/guide.md speaks of it
    shoot(page, "explain.png")

    page.goto((run / "report.html").resolve().as_uri())
    shoot(page, "report.png", last="#scores")

    with served(run) as address:
        page.goto(address)
        page.locator("textarea").fill(TEXT)
        expect(page.locator(".said")).to_have_text("decides delivery")
        page.get_by_role("button", name="parcel", pressed=True).click()
        expect(page.locator(".said")).to_have_text("decides billing")
        shoot(page, "serve.png", last="li.card")


if __name__ == "__main__":
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        make(Path(sys.argv[1]), driver.chromium.launch(executable_path=chromium))
