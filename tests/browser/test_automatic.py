"""The section "What may be decided automatically" of the report, in a real browser: `python3 run.py browser`."""

import shutil

import numpy as np
import pytest

import rankset as rs

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("plotly")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

LOGITS, LABELS = rs.datasets.load("carer")
NEW = slice(1000, 2000)
RULE = rs.calibrate(LOGITS[:1000], LABELS[:1000], kind="logits")
TRIAGE = rs.triage(LOGITS[NEW], LABELS[NEW], kind="logits")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("automatic") / "report.html"
    return rs.report(RULE, LOGITS[NEW], LABELS[NEW], path).path


class Visit:
    def __init__(self, browser, path, **options):
        self.page = browser.new_context(**options).new_page()
        self.errors, self.outside = [], []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.outside.append(request.url))
        self.page.goto(path.as_uri())

    def drawn(self):
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def pictures(self):
        self.page.wait_for_selector("#automatic.js-plotly-plot", timeout=20_000)

    def choose(self, error):
        place = round(error * 200) - 1
        self.page.eval_on_selector("#error", f"e => {{ e.value = {place}; e.dispatchEvent(new Event('input')); }}")
        self.drawn()

    def tiles(self, name):
        return dict(
            zip(
                self.page.locator(f"#{name} dt").all_inner_texts(),
                (text.split("\n")[0] for text in self.page.locator(f"#{name} dd").all_inner_texts()),
                strict=True,
            )
        )

    def close(self):
        assert self.errors == []
        assert [url for url in self.outside if not url.startswith(("file:", "data:", "blob:"))] == []
        self.page.context.close()


@pytest.fixture
def visit(browser, path):
    visit = Visit(browser, path, viewport={"width": 1280, "height": 900})
    yield visit
    visit.close()


def percent(share):
    return f"{round(100 * share, 1):g} %"


@pytest.mark.parametrize("error", [0.02, 0.05, 0.125, 0.3])
@pytest.mark.parametrize("minutes", [2, 0.5])
def test_the_slider_and_the_field_move_every_number(visit, error, minutes):
    visit.page.fill("#minutes", str(minutes))
    visit.choose(error)
    (point,) = TRIAGE.curve([error]).points
    assert visit.page.inner_text("#error-value") == percent(error)
    for name, share in (("batch", point.batch), ("gate", point.stream)):
        accepted = round(1000 * share)
        told = visit.tiles(name)
        assert told["accepted"] == percent(share)
        assert told["for a person"] == f"{1000 - accepted:,}"
        assert float(told["saved"].removesuffix(" h")) == pytest.approx(accepted * minutes / 60, abs=0.0501)
        assert f"at most {percent(error)}." in visit.page.inner_text(f"#{name}-promise")
    words = visit.page.inner_text("#gate-words")
    assert words.startswith(f"The gate {TRIAGE.threshold(error).describe()}.")
    assert f"{percent(point.wrong)} were wrong" in words
    both = f"{percent(point.batch)} accepted as a batch, {percent(point.stream)} by a gate"
    assert visit.page.get_attribute("#error", "aria-valuetext") == f"allowed error {percent(error)}: {both}"


def test_the_code_of_the_section_runs(visit):
    visit.choose(0.1)
    code = visit.page.inner_text("#automatic-code")
    names = {"rs": rs, "probs": LOGITS[NEW], "labels": LABELS[NEW], "new_probs": LOGITS[:1000]}
    exec(code, names)  # noqa: S102
    assert len(code.splitlines()) == 3
    assert names["triage"] == TRIAGE
    assert names["done"].n_accepted == TRIAGE.accept(LOGITS[:1000], error=0.1).n_accepted
    assert names["gate"].describe() == TRIAGE.threshold(0.1).describe()


def test_the_curve_is_drawn_and_the_error_marked(visit):
    visit.pictures()
    curve = TRIAGE.curve([step / 200 for step in range(1, 61)])
    for place, name in enumerate(("batch", "stream")):
        drawn = visit.page.evaluate(f"document.getElementById('automatic').data[{place}]")
        assert drawn["x"] == [point.error for point in curve.points]
        assert drawn["y"] == [getattr(point, name) for point in curve.points]
    for error in (0.05, 0.2):
        visit.choose(error)
        assert visit.page.evaluate("document.getElementById('automatic').layout.shapes[0].x0") == error
        sizes = visit.page.evaluate("document.getElementById('automatic').data[0].marker.size")
        assert np.flatnonzero(sizes).tolist() == [round(error * 200) - 1]


def test_keyboard_and_labels(visit):
    visit.page.get_by_role("slider", name="allowed error").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.drawn()
    assert visit.page.inner_text("#error-value") == "5.5 %"
    before = visit.page.inner_text("#alpha-value")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Control+a")
    visit.page.keyboard.type("12")
    visit.drawn()
    (point,) = TRIAGE.curve([0.055]).points
    assert visit.page.get_by_label("minutes per row").input_value() == "12"
    assert float(visit.tiles("batch")["saved"].removesuffix(" h")) == pytest.approx(point.batch * 200, abs=0.0501)
    assert visit.page.inner_text("#alpha-value") == before


@pytest.mark.parametrize("text", ["", "-1"])
def test_a_field_without_a_number_of_minutes(visit, text):
    visit.page.fill("#minutes", text)
    visit.drawn()
    assert visit.tiles("batch")["saved"] == "–"
    assert visit.tiles("batch")["accepted"] == percent(TRIAGE.curve([0.05]).points[0].batch)


def test_where_nothing_is_accepted_an_attainable_error_is_named(visit):
    visit.choose(0.005)
    (point,) = TRIAGE.curve([0.005]).points
    assert point.stream == 0
    assert visit.tiles("gate") == {"accepted": "none"}
    assert visit.page.inner_text("#gate-words") == ""
    least = next(p.error for p in TRIAGE.curve([step / 200 for step in range(1, 61)]).points if p.stream)
    assert f"The smallest error at which rows are accepted is {percent(least)}." in visit.page.inner_text("#gate")


def test_too_few_rows_for_every_error_of_the_slider(browser, tmp_path):
    wrong = (LOGITS[:2].argmax(axis=1) + 1) % 6
    rs.report(RULE, LOGITS[:2], wrong, tmp_path / "few.html")
    visit = Visit(browser, tmp_path / "few.html")
    assert visit.page.locator("#automatic-controls").is_hidden()
    assert visit.page.locator("#automatic").is_hidden()
    assert "The smallest error at which rows are accepted is" in visit.page.inner_text("#batch")
    assert "No error accepts rows." in visit.page.inner_text("#gate")
    assert "0 %" not in visit.page.inner_text("#batch dd").split("\n")[0]
    visit.close()


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_folds_have_no_such_section(browser, tmp_path):
    rows = LOGITS.astype(float)
    model = rs.ConformalClassifier(split=rs.CrossConformal(3), random_state=0).fit(rows[:700], LABELS[:700])
    visit = Visit(browser, model.report(rows[NEW], LABELS[NEW], tmp_path / "folds.html").path)
    assert visit.page.locator("#automatic-section").is_hidden()
    assert visit.page.locator("#facts dt").count() == 2
    visit.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (820, "light"), (1440, "dark")])
def test_it_fits_every_width_and_long_numbers(browser, path, width, scheme):
    visit = Visit(browser, path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    visit.pictures()
    visit.page.fill("#minutes", "123456789")
    visit.choose(0.3)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    inside = """[...document.querySelectorAll('#automatic-section dd, #automatic-section .main-svg')].every((one) => {
        const box = one.getBoundingClientRect(), card = one.closest('section').getBoundingClientRect();
        return box.left >= card.left && box.right <= card.right && one.scrollWidth <= one.clientWidth + 1; })"""
    assert visit.page.evaluate(inside)
    visit.close()
