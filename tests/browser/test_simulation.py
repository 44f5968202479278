"""The simulation on the page about the guarantee, in a real browser: it agrees with rankset, and needs no network."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import rankset as rs

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

SCRIPT = Path(__file__).parents[2] / "docs" / "_static" / "simulation.js"
ROWS = {"9": 1, "19": 3, "100": 8, "1000": 14}
"""Numbers of calibration rows, and where the slider stands for them."""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "page.html"
    script = f'<script src="{SCRIPT.as_uri()}" defer></script>'
    path.write_text(f'<!doctype html><meta charset="utf-8"><div id="simulation"></div>{script}', encoding="utf-8")
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.seen, page.failures = [], []
    page.on("request", lambda request: page.seen.append(request.url))
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("#rs-sim-words p")
    yield page
    assert page.failures == []
    assert all(url.startswith("file:") for url in page.seen)


def words(page, **settings):
    for name, value in settings.items():
        page.eval_on_selector(
            f"#rs-sim-{name}", "(e, value) => { e.value = value; e.dispatchEvent(new Event('input')); }", value
        )
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.inner_text("#rs-sim-words")


def number(text, before):
    return float(re.search(re.escape(before) + r"([\d.]+\d)", text.replace("\u00a0", " "))[1])


def band(n, alpha):
    tops = np.linspace(0.51, 0.99, n)
    return rs.calibrate(np.column_stack((tops, 1 - tops)), np.zeros(n, int)).coverage_band(alpha)


@pytest.mark.parametrize("hundredths", [10, 25])
@pytest.mark.parametrize("n", ROWS)
def test_mean_and_band_are_those_of_rankset(page, n, hundredths):
    text = words(page, rows=ROWS[n], alpha=hundredths)
    law = band(int(n), f"0.{hundredths}")
    low, high = map(float, re.search(r"\): ([\d.]+) to ([\d.]+)\.", text).groups())
    assert (low, high) == pytest.approx((law.low, law.high), abs=6e-5)
    spread = (law.high - law.low) / 3.29
    assert number(text, "1,000 calibrations: ") == pytest.approx(law.mean, abs=4 * spread / 1000**0.5 + 1e-3)


def test_the_model_changes_sizes_and_a_shift_changes_coverage(page):
    good, poor = words(page, accuracy=90), words(page, accuracy=30)
    assert number(good, "size of a set: ") + 3 < number(poor, "size of a set: ")
    assert abs(number(good, "1,000 calibrations: ") - number(poor, "1,000 calibrations: ")) < 0.005
    shifted = words(page, accuracy=70, shift=50)
    assert number(shifted, "1,000 calibrations: ") < 0.85
    assert "Nothing is promised" in shifted


def test_too_few_rows_keep_every_label(page):
    assert "every set contains all 10 labels" in words(page, rows=0)


def test_the_same_settings_give_the_same_picture(page):
    first = words(page, alpha=20), page.inner_html("svg[role=img]")
    words(page, alpha=30)
    assert (words(page, alpha=20), page.inner_html("svg[role=img]")) == first


def test_keys_move_the_sliders_and_labels_name_them(page):
    slider = page.get_by_label("calibration rows")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert "/151 =" in words(page)
    assert slider.get_attribute("aria-valuetext") == "150"
    page.get_by_role("button", name="Reset").press("Enter")
    assert "/101 =" in words(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
