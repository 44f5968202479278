"""The page of a stream in a real browser: `python3 run.py browser`. Skipped where Playwright or Chromium is missing."""

import csv
import shutil
from dataclasses import dataclass

import numpy as np
import pytest

import rankset as rs
from rankset.streams.over_time import OverTime

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("plotly")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

PROBS, LABELS = rs.datasets.load("electricity")
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>"]
TITLE = '</title></script><script>alert("title")</script> \u202e & <i>'
PICTURES = ("coverage", "size", "level", "evidence")


@dataclass(frozen=True)
class Hostile:
    """A score of one's own, whose text is markup."""

    name: str = ""
    features = ("prob",)

    def keys(self, cells):
        return (-cells.prob,)


def followed(stop=7000, batch=50, **options):
    names = np.array(HOSTILE)
    rule = rs.calibrate(PROBS[:1000], names[LABELS[:1000]], classes=HOSTILE)
    stream = rs.Stream(rule, **({"alpha": 0.1, "outputs": PROBS[:1000]} | options))
    for start in range(1000, stop, batch):
        rows = slice(start, start + batch)
        stream.predict(PROBS[rows], ids=[f"<b>{number}</b>" for number in range(start, start + batch)])
        stream.update(names[LABELS[rows]])
    return stream


STREAM = followed()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    def __init__(self, browser, stream, folder, pictures=4, title=TITLE, **options):
        self.page = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options)).new_page()
        self.outside, self.errors = [], []
        self.page.on("request", lambda request: self.outside.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.goto(rs.report_stream(stream, folder / "stream.html", title=title).path.as_uri())
        self.page.wait_for_selector("#words p")
        for name in PICTURES[4 - pictures :]:
            self.page.wait_for_selector(f"#{name}.js-plotly-plot", timeout=20_000)
        assert self.page.locator(".js-plotly-plot").count() == pictures

    def tiles(self, name):
        names = self.page.locator(f"#{name} dt").all_inner_texts()
        values = self.page.locator(f"#{name} dd").all_inner_texts()
        return {one: value.split("\n")[0] for one, value in zip(names, values, strict=True)}

    def trace(self, picture, name):
        found = self.page.evaluate(
            f"document.getElementById('{picture}').data.filter((one) => one.name === '{name}')"
            ".map((one) => [one.x, one.y])"
        )
        return found[0]

    def fits(self):
        return self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def close(self):
        assert self.errors == []
        assert [url for url in self.outside if not url.startswith(("file:", "data:", "blob:"))] == []
        self.page.context.close()


@pytest.fixture
def visit(browser, tmp_path):
    visit = Visit(browser, STREAM, tmp_path)
    yield visit
    visit.close()


def test_the_numbers_are_those_of_the_stream(visit):
    facts, measures = visit.tiles("facts"), visit.tiles("measures")
    assert facts["miss rate"] == f"{STREAM.miss_rate:.4f}"
    assert facts["rows"] == "6,000"
    assert float(facts["mean set size"]) == pytest.approx(STREAM.history["sizes"].sum() / 6000, abs=5.01e-4)
    low, high = map(float, facts["possible miss rate"].split(" to "))
    assert low == pytest.approx(0.1 - STREAM.bound, abs=1.01e-4)
    assert high == pytest.approx(0.1 + STREAM.bound, abs=1.01e-4)
    assert low <= 0.1 - STREAM.bound <= STREAM.miss_rate <= 0.1 + STREAM.bound <= high
    assert f"at most {STREAM.bound:.3g} away from alpha" in visit.page.inner_text("#bound-words")
    assert measures == {
        "level now": f"{STREAM.level:.4f}",
        "window": "1,000 rows",
        "delay": "49 rows",
        "score": "RANK",
        "level by": "Adaptive()",
    }
    assert "Alarm: labels, outputs, coverage." in visit.page.inner_text("#headline")


def test_alarms_say_what_they_saw_since_when_and_what_to_do(visit):
    cards = visit.page.locator("#alarms .alarm")
    assert cards.count() == 3
    for card, alarm in zip(cards.all(), STREAM.alarms, strict=True):
        told = card.inner_text()
        assert "ALARM" in told
        assert f"Raised at row {alarm.at:,}, since about row {alarm.since:,}" in told
        assert f"at most {alarm._chance_text}." in told
        assert alarm.advice in told
    assert visit.page.inner_text("#alarms-title") == "Alarms: 3 of 3 raised"


def test_pictures_show_the_blocks_and_mark_the_alarms(visit):
    numbers = OverTime.of(STREAM.history, 0.1)
    assert len(numbers.row) == 120
    x, y = visit.trace("coverage", "per block")
    assert x[1:] == numbers.row.tolist()
    assert y[1:] == pytest.approx(numbers.coverage)
    assert visit.trace("coverage", "so far")[1][-1] == pytest.approx(1 - STREAM.miss_rate)
    assert visit.trace("coverage", "below the band")[0] == numbers.row[numbers.below].tolist()
    assert visit.trace("size", "mean size")[1][1:] == pytest.approx(numbers.size)
    assert visit.trace("level", "level")[1] == pytest.approx([0.1, *numbers.level])
    for name in ("labels", "outputs", "coverage"):
        x, y = visit.trace("evidence", name)
        assert 2 * np.sinh(y) == pytest.approx([0, *numbers.evidence[name]], rel=1e-6, abs=1e-6)
    for picture in PICTURES:
        shapes = visit.page.evaluate(f"document.getElementById('{picture}').layout.shapes")
        upright = [one["x0"] for one in shapes if one["x0"] == one["x1"] and one.get("yref") == "paper"]
        assert sorted(upright) == sorted(alarm.at for alarm in STREAM.alarms)
        assert visit.page.evaluate(f"document.getElementById('{picture}').layout.xaxis.range") == [0, 6000]
    shapes = visit.page.evaluate("document.getElementById('evidence').layout.shapes")
    flat = sorted(2 * np.sinh(one["y0"]) for one in shapes if one["y0"] == one["y1"])
    assert flat == pytest.approx(np.log10([20, 40]))
    spans = {(one["x0"], one["x1"]) for one in shapes if one["type"] == "rect"}
    assert spans == {(alarm.since, alarm.at) for alarm in STREAM.alarms}


def test_hostile_names_and_titles_are_text(browser, tmp_path):
    names = np.array(HOSTILE)
    rule = rs.calibrate(PROBS[:1000], names[LABELS[:1000]], classes=HOSTILE, score=Hostile(HOSTILE[1]))
    stream = rs.Stream(rule, alpha=0.1)
    stream.predict(PROBS[1000:1100])
    stream.update(names[LABELS[1000:1100]])
    visit = Visit(browser, stream, tmp_path)
    assert visit.page.inner_text("h1") == " ".join(TITLE.split())
    assert visit.page.title() == " ".join(TITLE.split())
    assert HOSTILE[1] in visit.page.inner_text("#measures")
    assert visit.page.locator("main img, main i, main b, h1 i").count() == 0
    visit.close()


def test_the_block_below_the_pointer_is_shown_in_all_pictures(visit):
    visit.page.locator("#size .nsewdrag").scroll_into_view_if_needed()
    box = visit.page.locator("#size .nsewdrag").bounding_box()
    visit.page.mouse.move(box["x"] + 300, box["y"] + 50)
    visit.page.mouse.move(box["x"] + 302, box["y"] + 52)
    for picture in PICTURES:
        visit.page.wait_for_selector(f"#{picture} .hoverlayer .legend", state="attached", timeout=5000)
    told = {visit.page.locator(f"#{picture} .hoverlayer .legendtitletext").text_content() for picture in PICTURES}
    assert len(told) == 1


def test_the_table_opens_by_keyboard_and_numbers_can_be_downloaded(visit, tmp_path):
    assert not visit.page.locator("#blocks").is_visible()
    visit.page.locator("summary").focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.locator("#blocks").is_visible()
    assert visit.page.locator("#blocks tbody tr").count() == 120
    last = visit.page.locator("#blocks tbody tr").last.locator("td").all_inner_texts()
    assert last[:4] == ["6,000", "50", "50", f"{STREAM.history['misses'][-1]:.0f}"]
    assert last[9] == f"{STREAM.level:.4f}"
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name="Numbers as csv").click()
    waiting.value.save_as(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = OverTime.of(STREAM.history, 0.1)
    assert [float(row["covered"]) for row in rows] == pytest.approx(numbers.coverage)
    assert [float(row["log10 evidence: outputs"]) for row in rows] == pytest.approx(numbers.evidence["outputs"])


def test_pictures_have_a_text_for_those_who_do_not_see_them(visit):
    for picture in PICTURES:
        assert visit.page.get_attribute(f"#{picture}", "role") == "img"
        assert len(visit.page.get_attribute(f"#{picture}", "aria-label")) > 30
    assert f"{1 - STREAM.miss_rate:.4f}" in visit.page.get_attribute("#coverage", "aria-label")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (390, "light"), (820, "light"), (1440, "dark")])
def test_it_fits_every_width_in_light_and_dark(browser, tmp_path, width, scheme):
    visit = Visit(
        browser,
        *(STREAM, tmp_path),
        title="Electricity",
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
    )
    assert visit.fits()
    visit.page.locator("summary").click()
    assert visit.fits()
    dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    ink = visit.page.evaluate("document.getElementById('level').layout.font.color")
    assert (dark, ink) == (scheme == "dark", "#e6e8eb" if scheme == "dark" else "#1b1f24")
    inside = """[...document.querySelectorAll('.main-svg')].every((svg) => {
        const box = svg.getBoundingClientRect(), card = svg.closest('section').getBoundingClientRect();
        return box.left >= card.left && box.right <= card.right && box.bottom <= card.bottom; })"""
    assert visit.page.evaluate(inside)
    visit.close()


def test_pictures_stay_in_their_places_on_paper(visit):
    visit.page.emulate_media(media="print")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    inside = """[...document.querySelectorAll('.main-svg')].every((svg) => {
        const box = svg.getBoundingClientRect(), card = svg.closest('section').getBoundingClientRect();
        return box.left >= card.left - 1 && box.right <= card.right + 1 && box.bottom <= card.bottom + 1; })"""
    assert visit.page.evaluate(inside)
    assert visit.page.evaluate("document.getElementById('coverage').getBoundingClientRect().height") > 100
    assert not visit.page.locator("#download").is_visible()


def test_streams_without_rows_and_without_labels(browser, tmp_path):
    stream = rs.Stream(rs.calibrate(PROBS[:1000], LABELS[:1000]), alpha=0.1)
    visit = Visit(browser, stream, tmp_path, pictures=0)
    assert visit.page.inner_text("#headline") == "No rows yet. No alarm."
    assert visit.tiles("facts") == {"miss rate": "–", "possible miss rate": "–", "mean set size": "–", "rows": "0"}
    assert not visit.page.locator("#evidence-section").is_visible()
    visit.close()
    stream.predict(PROBS[1000:1100])
    visit = Visit(browser, stream, tmp_path, pictures=3)
    assert visit.page.inner_text("#headline").startswith("100 rows, and no labels yet.")
    assert visit.page.inner_text("#coverage-note") == "No labels have come yet."
    assert "100 rows are without a label now" in visit.page.inner_text("#words")
    visit.close()


def test_one_block_is_drawn_from_its_first_row_on(browser, tmp_path):
    visit = Visit(browser, followed(1040, batch=40), tmp_path)
    assert visit.trace("coverage", "per block")[0] == [0, 40]
    assert visit.trace("size", "mean size")[0] == [0, 40]
    assert visit.tiles("facts")["possible miss rate"] == "–"
    assert "the bound says nothing before more labels come" in visit.page.inner_text("#bound-words")
    visit.close()


@pytest.mark.parametrize("level", [rs.Fixed(), rs.Experts()], ids=["Fixed", "Experts"])
def test_levels_without_a_bound_say_so(browser, tmp_path, level):
    visit = Visit(browser, followed(2000, level=level), tmp_path)
    assert f"With {type(level).__name__}() nothing is proven" in visit.page.inner_text("#words")
    assert "there is no bound" in visit.page.inner_text("#bound-words")
    visit.close()


def test_a_level_outside_zero_and_one_is_marked(browser, tmp_path):
    stream = rs.Stream(rs.calibrate(PROBS[:1000], LABELS[:1000]), alpha=0.4, level=rs.Adaptive(0.9))
    stream.predict(PROBS[1000])
    stream.update([int(PROBS[1000].argmin())])
    assert stream.level < 0
    visit = Visit(browser, stream, tmp_path)
    texts = visit.page.evaluate("document.getElementById('level').layout.annotations.map((one) => one.text)")
    assert texts == ["alpha", "0 or less: every label"]
    assert "it has every label" in visit.page.inner_text("#measures")
    visit.close()


def test_as_many_blocks_as_there_can_be(browser, tmp_path):
    visit = Visit(browser, followed(21_000), tmp_path, viewport={"width": 390, "height": 800})
    assert visit.page.locator("#blocks tbody tr").count() == 400
    assert visit.fits()
    visit.close()
