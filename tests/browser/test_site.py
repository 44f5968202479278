"""The documentation site in a real browser, from its files: `python3 run.py browser` builds it first."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
LOOK = """() => ({
    wider: document.documentElement.scrollWidth - window.innerWidth,
    theme: document.documentElement.dataset.theme,
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    broken: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
    heading: document.querySelector("h1")?.innerText ?? "",
})"""


class Page(HTMLParser):
    """What a page links to, what it loads, and the places inside it that links can name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if (tag, name) in LOADS and not (tag == "link" and dict(attrs).get("rel") in ("canonical", "search")):
                self.loads.append(value)
            elif name == "href" and value:
                self.links.append(value)


def brightness(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


@pytest.fixture(scope="module")
def pages():
    assert (SITE / "index.html").is_file(), "the site is not built: python3 run.py docs"
    paths = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def visits(browser, paths, **options):
    """Every page with what was requested and what went wrong there."""
    tab = browser.new_context(**options).new_page()
    asked, errors = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    for path in paths:
        asked.clear()
        errors.clear()
        tab.goto(path.as_uri())
        yield (
            path.relative_to(SITE).as_posix(),
            tab,
            [url for url in asked if not url.startswith(("file:", "data:"))],
            errors,
        )


def test_every_internal_link_leads_to_a_page_and_a_place(pages):
    wrong = []
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            target, place = urldefrag(link)
            if re.match(r"[a-z]+:", target):
                continue
            file = (path.parent / unquote(target).partition("?")[0]).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            known = pages[file].places if file in pages else {place}
            if not file.is_file() or unquote(place) not in known:
                wrong.append((path.relative_to(SITE).as_posix(), link))
    assert wrong == []


def test_nothing_is_loaded_from_outside(pages):
    outside = {(path.name, url) for path, page in pages.items() for url in page.loads if re.match(r"(https?:)?//", url)}
    assert outside == set()


@pytest.mark.parametrize(("screen", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone-dark", "desk-light"])
def test_every_page_works_from_its_file(browser, pages, screen, scheme):
    wrong = {}
    paths = [path for path in pages if scheme == "dark" or "generated" not in path.parts]  # these look alike: once
    for name, tab, outside, errors in visits(browser, paths, viewport=screen, color_scheme=scheme):
        seen = tab.evaluate(LOOK)
        dark = brightness(seen["ground"]) < brightness(seen["ink"])
        faults = [*outside, *errors, *seen["broken"]]
        faults += [f"{seen['wider']} pixels wider than the screen"] * (seen["wider"] > 0)
        faults += [f"{seen['theme']}: {seen['ink']} on {seen['ground']}"] * (dark != (scheme == "dark"))
        faults += ["no heading"] * (not seen["heading"])
        if faults:
            wrong[name] = faults
    assert wrong == {}


def test_the_search_finds_pages_without_a_server(browser):
    tab = browser.new_context().new_page()
    tab.goto((SITE / "search.html").as_uri() + "?q=logits")
    tab.wait_for_selector("#search-results li a", timeout=20_000)
    assert any("logits" in text.lower() for text in tab.locator("#search-results li a").all_inner_texts())
