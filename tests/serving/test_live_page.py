"""The live page in a real browser. Skipped where Playwright or Chromium is missing."""

import shutil
import signal

import numpy as np
import pytest

import rankset as rs

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("uvicorn")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

from serving_process import LABELS, LOGITS, TOKEN, Served  # noqa: E402

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "c", "d", "e", "\u202e{{data}}"]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def start(folder, **options):
    rule = rs.calibrate(LOGITS[:1000], [HOSTILE[label] for label in LABELS[:1000]], kind="logits", classes=HOSTILE)
    rule.save(folder / "rule.rankset")
    triage = rs.triage(LOGITS[:1000], [HOSTILE[label] for label in LABELS[:1000]], kind="logits", classes=HOSTILE)
    triage.save(folder / "triage.rankset")
    files = ("--store", folder / "rows.db", "--triage", folder / "triage.rankset")
    return Served.start(folder / "rule.rankset", folder, *files, **options)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = start(tmp_path_factory.mktemp("live"))
    yield made
    made.stop()


def send(served, first, last, *, labels=True, divided=1):
    ids = [f"row {number}" for number in range(first, last)]
    rows = (LOGITS[first:last] / divided).tolist()
    answer = served.post("/predict", {"rows": rows, "ids": ids, "error": 0.05})
    assert answer.status == 200, answer.content
    if labels:
        known = [HOSTILE[label] for label in LABELS[first:last]]
        assert served.post("/feedback", {"ids": ids, "labels": known}).json["new"] == last - first
    return answer.json


class Visit:
    def __init__(self, browser, served, **options):
        self.page = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options)).new_page()
        self.address = f"http://127.0.0.1:{served.port}/"
        self.outside, self.errors = [], []
        self.page.on("request", lambda request: self.outside.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda one: self.errors.append(one.text) if "Security Policy" in one.text else None)
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.goto(self.address)

    def live(self):
        self.says("#state", "Live.")
        return self

    def says(self, where, text):
        sync_api.expect(self.page.locator(where)).to_contain_text(text, timeout=15_000)

    def tile(self, name):
        box = self.page.locator("#facts > div").filter(has=self.page.locator("dt", has_text=name)).first
        return box.locator("dd").inner_text().split("\n")[0]

    def fits(self):
        return self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def close(self):
        assert self.errors == []
        assert [url for url in self.outside if not url.startswith((self.address, "data:"))] == []
        self.page.context.close()


def test_numbers_follow_predictions_and_labels(served, browser):
    visit = Visit(browser, served).live()
    assert visit.tile("rows") == "0"
    assert "No rows yet" in visit.page.inner_text("#headline")
    answer = send(served, 1000, 1100)
    visit.says("#headline", "Of 100 labels")
    missed = sum(HOSTILE[label] not in labels for label, labels in zip(LABELS[1000:1100], answer["sets"], strict=True))
    assert visit.tile("coverage") == f"{1 - missed / 100:.3f}"
    assert float(visit.tile("mean set size")) == pytest.approx(sum(answer["sizes"]) / 100, abs=5.1e-4)
    assert visit.tile("rows") == "100"
    assert visit.tile("accepted by triage") == f"{sum(answer['accepted'])} %"
    send(served, 1100, 1200, labels=False)
    visit.says("#facts", "rows200")
    assert float(visit.tile("requests per second")) > 0
    rows = visit.page.locator("#classes tbody tr")
    assert rows.count() == len({HOSTILE[label] for label in LABELS[1000:1100]})
    counts = [int(row.locator("td").nth(4).inner_text()) for row in rows.all()]
    assert sum(counts) == 100
    visit.close()


def test_rows_at_other_levels_are_told(tmp_path, browser):
    made = start(tmp_path)
    rows, ids = LOGITS[1000:1300].tolist(), [f"row {number}" for number in range(300)]
    assert made.post("/predict", {"rows": rows, "ids": ids, "alpha": 0.05}).status == 200
    assert made.post("/feedback", {"ids": ids, "labels": ["c"] * 300}).json["new"] == 300
    visit = Visit(browser, made).live()
    visit.says("#headline", "No rows at alpha 0.1 yet (300 rows at other levels).")
    visit.says("#facts", "no labels at alpha 0.1 yet; promised is 0.9")
    visit.says("#coverage-note", "No labels at alpha 0.1 yet. They are sent to POST /feedback.")
    visit.says("#size-note", "No rows at alpha 0.1 yet. They are sent to POST /predict.")
    visit.says("#evidence-note", "No rows at alpha 0.1 yet.")
    visit.close()
    made.stop()


def test_a_tap_reads_a_block(busy, browser):
    visit = Visit(browser, busy, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True).live()
    place = """one => {
        one.scrollIntoView({ block: "center" });
        const box = one.querySelector("svg").getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }"""
    visit.page.touchscreen.tap(*visit.page.locator("#size").evaluate(place))
    visit.says("#size .reading", "Up to row ")
    visit.page.wait_for_timeout(300)
    assert visit.page.inner_text("#size .reading").startswith("Up to row ")
    visit.close()


def test_alarms_are_shown_with_their_evidence(served, browser):
    visit = Visit(browser, served).live()
    assert "No alarm." in visit.page.inner_text("#headline")
    for first in range(1200, 1900, 100):
        send(served, first, first + 100, divided=4)
    visit.says("#headline", "Alarm: ")
    visit.page.wait_for_selector(".alarm.raised")
    cards = visit.page.locator("#alarms .alarm")
    assert cards.count() == 3
    outputs = cards.nth(1).inner_text()
    assert "ALARM" in outputs
    assert "Evidence now" in outputs
    logs = served.number('alarm_log_wealth{alarm="outputs"}')
    assert logs > 3.7
    assert visit.page.locator("#evidence polyline").count() == 3
    assert visit.page.locator("#coverage polygon.band").count() == 2  # rows without labels lie between
    visit.close()


def test_names_of_classes_are_text(served, browser):
    visit = Visit(browser, served).live()
    shown = visit.page.locator("#classes tbody td:first-child").all_inner_texts()
    assert any("onerror" in name for name in shown)
    assert visit.page.locator("#classes img, main script").count() == 0
    visit.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(busy, browser, scheme):
    visit = Visit(browser, busy, viewport={"width": 390, "height": 844}, color_scheme=scheme).live()
    assert visit.fits()
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 27)" if scheme == "dark" else "rgb(255, 255, 255)")
    width = "one => one.querySelector('svg').getBoundingClientRect().width"  # the picture can be drawn anew meanwhile
    assert 0 < visit.page.locator("#coverage").evaluate(width) <= 390
    for page in ("docs",):
        visit.page.goto(visit.address + page)
        assert visit.fits()
    visit.close()


def test_pictures_are_read_with_the_keyboard(served, browser):
    visit = Visit(browser, served).live()
    for name in ("coverage", "size", "evidence"):
        label = visit.page.get_attribute(f"#{name}", "aria-label")
        assert "Arrow keys" in label
        visit.page.focus(f"#{name}")
        visit.page.keyboard.press("End")
        last = visit.page.inner_text(f"#{name} .reading")
        assert last.startswith("Up to row ")
        visit.page.keyboard.press("ArrowLeft")
        assert visit.page.inner_text(f"#{name} .reading") != last
        assert visit.page.locator(f"#{name} .reading[aria-live=polite]").count() == 1
    visit.page.focus("#classes th button >> nth=4")
    visit.page.keyboard.press("Enter")
    assert visit.page.get_attribute("#classes th >> nth=4", "aria-sort") == "ascending"
    visit.close()


def test_the_token_opens_the_page_and_stands_nowhere(browser, tmp_path):
    served = start(tmp_path, token=TOKEN)
    visit = Visit(browser, served)
    assert visit.page.locator("#headline").count() == 0
    visit.page.fill("#token", "wrong-token-wrong-token")
    visit.page.keyboard.press("Enter")
    visit.says("#said", "This is not the token.")
    visit.page.fill("#token", TOKEN)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#headline")
    visit.live()
    send(served, 1000, 1010)
    visit.says("#headline", "Of 10 labels")
    assert TOKEN not in visit.page.content()
    assert all(TOKEN not in url for url in visit.outside)
    assert visit.page.evaluate("document.cookie") == ""
    visit.errors = [one for one in visit.errors if "401" not in one]
    visit.close()
    served.stop()


def test_the_page_goes_on_after_a_restart(browser, tmp_path):
    served = start(tmp_path)
    send(served, 1000, 1020)
    visit = Visit(browser, served).live()
    served.stop()
    sync_api.expect(visit.page.locator("#state")).not_to_have_text("Live.", timeout=15_000)
    assert "Of 20 labels" in visit.page.inner_text("#headline")
    colour = "one => getComputedStyle(one).color"
    lost, usual = (visit.page.locator(one).evaluate(colour) for one in ("#state", "#about"))
    assert lost != usual
    visit.page.context.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A server with 300 classes, some with long names and names like HTML, 103 rows with labels and as many without."""
    names = [*HOSTILE[:2], "W" * 4000, *(f"class{'x' * 150}{number}" for number in range(3, 300))]
    draws, labels = np.random.default_rng(0), np.arange(1103) % 300
    rows = draws.normal(size=(1103, 300))
    rows[np.arange(1103), labels] += 3
    known = [names[label] for label in labels]
    folder = tmp_path_factory.mktemp("busy")
    rs.calibrate(rows[:1000], known[:1000], kind="logits", classes=names).save(folder / "rule.rankset")
    made = Served.start(folder / "rule.rankset", folder, "--store", folder / "rows.db")
    ids, sent = [str(number) for number in range(103)], rows[1000:].tolist()
    assert made.post("/predict", {"rows": sent, "ids": ids}).status == 200
    assert made.post("/predict", {"rows": sent, "ids": [f"other {one}" for one in ids], "alpha": 0.2}).status == 200
    assert made.post("/feedback", {"ids": ids, "labels": known[1000:]}).json["new"] == 103
    yield made
    made.stop()


def test_every_limit_of_an_alarm_has_a_line_with_its_name(busy, browser):
    visit = Visit(browser, busy).live()
    visit.says("#headline", "Of 103 labels")
    lines = visit.page.locator("#evidence line.level")
    assert lines.count() == 2
    heights = [float(line.get_attribute("y1")) for line in lines.all()]
    assert heights[0] < heights[1]
    named = ["limit 40: labels, outputs", "limit 20: coverage"]
    assert visit.page.locator("#evidence-key li").all_inner_texts() == ["labels", "outputs", "coverage", *named]
    dashes = "one => getComputedStyle(one).strokeDasharray"
    drawn = [line.evaluate(dashes) for line in lines.all()]
    shown = [line.evaluate(dashes) for line in visit.page.locator("#evidence-key .level").all()]
    assert drawn == shown
    assert len(set(drawn)) == 2
    visit.close()


def test_a_server_without_store_watches_outputs_alone(tmp_path, browser):
    rs.calibrate(LOGITS[:1000], LABELS[:1000], kind="logits").save(tmp_path / "rule.rankset")
    made = Served.start(tmp_path / "rule.rankset", tmp_path, "--store", "none")
    assert made.post("/predict", {"rows": LOGITS[1000:1060].tolist()}).status == 200
    visit = Visit(browser, made).live()
    visit.says("#headline", "60 rows. Labels are not taken.")
    for name in ("labels", "coverage"):
        card = visit.page.locator(".alarm", has=visit.page.get_by_role("heading", name=name))
        assert "Not watched: the server keeps no rows" in card.inner_text()
        assert card.locator("progress").count() == 0
    assert visit.page.locator("#evidence-key li").all_inner_texts() == ["outputs", "limit 40: outputs"]
    assert visit.page.locator("#evidence polyline").count() <= 1
    visit.close()
    made.stop()


def test_the_axis_says_which_rows_it_counts(busy, browser):
    visit = Visit(browser, busy).live()
    visit.says("#facts", "103 of them at alpha 0.1")
    for name in ("coverage", "size", "evidence"):
        assert visit.page.text_content(f"#{name} .title") == "rows at alpha 0.1"
        visit.page.focus(f"#{name}")
        visit.page.keyboard.press("End")
        assert visit.page.inner_text(f"#{name} .reading").startswith("Up to row 103 at alpha 0.1: ")
    visit.page.focus("#coverage")
    visit.page.keyboard.press("End")
    assert "3 labels so far, too few to draw" in visit.page.inner_text("#coverage .reading")
    visit.close()


@pytest.mark.parametrize("wide", [375, 800, 1280])
def test_boxes_end_where_their_contents_end(busy, browser, wide):
    visit = Visit(browser, busy, viewport={"width": wide, "height": 800}).live()
    visit.says("#classes-more", "scroll in the table")
    cut = """() => {
        const box = document.querySelector("#classes-section .scroll").getBoundingClientRect();
        const rows = [...document.querySelectorAll("#classes tbody tr")].map((row) => row.getBoundingClientRect());
        return rows.filter((row) => row.top < box.bottom - 1 && row.bottom > box.bottom + 1).length;
    }"""
    assert visit.page.evaluate(cut) == 0
    assert visit.fits()
    inside = "one => one.scrollWidth <= one.clientWidth"
    assert visit.page.locator("#classes-section .scroll").evaluate(inside)
    for name in ("coverage", "size", "evidence"):
        assert visit.page.inner_text(f"#{name} .reading").startswith("Point at a block")
        left = "one => one.closest('section').getBoundingClientRect().bottom - one.getBoundingClientRect().bottom"
        assert visit.page.locator(f"#{name} .reading").evaluate(left) < 20
    assert visit.page.locator("main img, main script").count() == 0
    visit.close()


def test_numbers_begin_anew_with_a_new_rule(tmp_path, browser):
    made = start(tmp_path)
    send(made, 1000, 1100)
    visit = Visit(browser, made).live()
    visit.says("#headline", "Of 100 labels")
    assert visit.page.locator("line.change:visible").count() == 0
    labels = [HOSTILE[label] for label in LABELS[500:1000]]
    rs.calibrate(LOGITS[500:1000], labels, kind="logits", classes=HOSTILE).save(tmp_path / "rule.rankset")
    made.process.send_signal(signal.SIGHUP)
    visit.says("#headline", "No rows yet since this rule is served.")
    send(made, 1100, 1350, divided=8)
    visit.says("#headline", "Of 250 labels since this rule is served")
    line_ends = """name => [...document.querySelectorAll(`#${name} polyline.first`)].map((one) => {
        const points = one.getAttribute("points").split(" ").map((point) => Number(point.split(",")[0]));
        return [points[0], points.at(-1)];
    })"""
    for name in ("coverage", "size"):  # no line goes from the rows of one rule to those of the next
        change = float(visit.page.locator(f"#{name} line.change").get_attribute("x1"))
        runs = visit.page.evaluate(line_ends, name)
        assert len(runs) == 2
        assert runs[0][1] <= change + 0.1 < runs[1][0]
    assert visit.tile("rows") == "250"
    assert "100 before this rule" in visit.page.inner_text("#facts")
    for name in ("coverage", "size", "evidence"):
        assert visit.page.locator(f"#{name} line.change").count() == 1
    visit.says("#headline", "Alarm: ")
    assert visit.page.title().startswith("ALARM: ")
    assert visit.page.title().endswith("- rule.rankset - rankset serve")
    assert "Raised on " in visit.page.inner_text("#alarms")
    assert "Promise: the set contains the true label with probability at least 0.9" in visit.page.inner_text("#promise")
    assert visit.page.locator("#troubles").is_hidden()
    (tmp_path / "rule.rankset").write_bytes(b"nonsense")
    made.process.send_signal(signal.SIGHUP)
    send(made, 1350, 1360)
    visit.says("#troubles", "The new rule was not loaded, so the rule before is served.")
    assert visit.fits()
    visit.close()
    made.stop()
