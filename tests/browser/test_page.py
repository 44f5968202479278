"""The report in a real browser: `python3 run.py browser`. Skipped where Playwright or Chromium is missing."""

import copy
import csv
import dataclasses
import shutil

import numpy as np
import pytest

import rankset as rs
from browser.waiting import wait_until
from rankset.evaluation.metrics import METRICS, format_value

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("plotly")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

LOGITS, LABELS = rs.datasets.load("carer")
NAMES = ["<script>alert(1)</script>", '"b" & <i>', "\u202eturned", "anger", "fear", "naïve 猫"]
CAL, NEW = slice(0, 700), slice(700, 1300)
RULE = rs.calibrate(LOGITS[CAL], np.array(NAMES)[LABELS[CAL]], kind="logits", classes=NAMES)
TRUTH = np.array(NAMES)[LABELS[NEW]]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    labels = np.array(NAMES)[LABELS]
    study = rs.reports.study_scores(LOGITS[CAL], labels[CAL], LOGITS[NEW], labels[NEW], kind="logits", classes=NAMES)
    path.write_text(rs.reports.page(study, "Emotions <b>"), encoding="utf-8")
    return path


class Visit:
    def __init__(self, browser, path, **options):
        self.page = browser.new_context(**options).new_page()
        self.outside, self.errors = [], []
        self.page.on("request", lambda request: self.outside.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.goto(path.as_uri())
        wait_until(self.page, "document.querySelectorAll('.js-plotly-plot').length === 5")

    def set_alpha(self, place):
        self.page.eval_on_selector("#alpha", f"e => {{ e.value = {place}; e.dispatchEvent(new Event('input')); }}")
        self.drawn()

    def drawn(self):
        """What was asked for is shown with the next frame."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def facts(self):
        names = self.page.locator("#facts dt, #details dt").all_inner_texts()
        values = self.page.locator("#facts dd, #details dd").all_inner_texts()
        return {name: value.split("\n")[0] for name, value in zip(names, values, strict=True)}


@pytest.fixture
def visit(browser, report):
    visit = Visit(browser, report, viewport={"width": 1280, "height": 900})
    yield visit
    assert visit.errors == []
    assert [url for url in visit.outside if not url.startswith(("file:", "data:", "blob:"))] == []
    visit.page.context.close()


@pytest.mark.parametrize("place", [0, 4, 9, 29])
def test_the_slider_moves_every_number(visit, place):
    visit.set_alpha(place)
    alpha = f"{(place + 1) / 100:g}"
    seen = rs.evaluate(RULE.predict(LOGITS[NEW], alpha), TRUTH)
    told = visit.facts()
    expected = {name: format_value(seen[name]) for name in METRICS}
    assert {name: told[name] for name in METRICS} == expected
    assert f"RANK at alpha = {alpha}:" in visit.page.inner_text("#headline")
    row = visit.page.locator("#scores tbody tr.chosen td").all_inner_texts()
    assert row[0] == "RANK"
    assert row[2:] == list(expected.values())
    first = visit.page.locator("#classes tbody tr").first.locator("td").all_inner_texts()
    worst = seen.worst_class
    assert [first[2], *first[4:]] == [
        f"{worst.coverage:.4f}",
        marked_interval(worst, seen.alpha),
        f"{worst.mean_size:.3f}",
    ]
    assert row[1] == " to ".join(f"{end:.4f}" for end in seen.interval)
    assert told["expected coverage"] == " to ".join(f"{end:.4f}" for end in seen.expected)
    assert visit.page.inner_text("#scores-title") == "All scores at this alpha"
    heights = visit.page.evaluate("document.getElementById('histogram').data[0].y")
    assert heights == pytest.approx((seen.size_counts / seen.n).tolist())


def marked_interval(share, alpha):
    """The interval of a class in the table, with a mark if it ends below 1 - alpha."""
    low, high = share.interval()
    return f"{'below ' if high < 1 - alpha else ''}{low:.4f} to {high:.4f}"


@pytest.mark.parametrize("place", [2, 9, 39])
def test_classes_have_exact_intervals_and_marks(visit, place):
    visit.set_alpha(place)
    seen = rs.evaluate(RULE.predict(LOGITS[NEW], f"{(place + 1) / 100:g}"), TRUTH)
    told = [row.locator("td").all_inner_texts() for row in visit.page.locator("#classes tbody tr").all()]
    assert sorted(row[4] for row in told) == sorted(marked_interval(share, seen.alpha) for share in seen.classes)
    marked = sum(share.interval()[1] < 1 - seen.alpha for share in seen.classes)
    assert visit.page.locator("#classes td.missed").count() == marked
    words = visit.page.inner_text("#classes-words")
    assert (f"{marked} of 6 classes are marked" if marked else "No class is marked") in words
    assert "rs.PerLabel()" in words
    facts = visit.page.inner_text("#class-facts")
    for name in ("macro coverage", "classes far below", "classes below 50%"):
        assert f"{seen[name]:.4f}" in facts
        assert "90 % interval {:.4f} to {:.4f}".format(*seen.ranges[name]) in facts


@pytest.mark.parametrize("place", [4, 9])
def test_classes_are_shown_with_pooled(visit, place):
    visit.set_alpha(place)
    study = rs.reports.study_rules([RULE], LOGITS[NEW], TRUTH)
    told = study.data["scores"][0]["pooled"]
    assert visit.page.locator("#classes thead th").nth(3).inner_text() == "with Pooled"
    found = [row.locator("td").all_inner_texts() for row in visit.page.locator("#classes tbody tr").all()]
    assert sorted(row[3] for row in found) == sorted(f"{one:.4f}" for one in told["coverage"][place])
    words = visit.page.inner_text("#classes-words")
    gaps, sizes = told["gap"][place], told["size"][place]
    assert "the RMS class gap changes from {:.3f} to {:.3f}".format(*gaps) in words
    assert "the mean size from {:.2f} to {:.2f}".format(*sizes) in words
    assert "5 random halves of these rows" in words
    assert "Proven with Pooled is the coverage of all rows together" in words
    visit.page.locator("#classes thead th button").nth(3).click()
    column = visit.page.locator("#classes tbody td:nth-child(4)").all_inner_texts()
    assert column == sorted(column)


@pytest.mark.parametrize(
    ("condition", "words", "target"),
    [
        (rs.Pooled(), "coverage is proven over all rows; of each label only approximately", True),
        (rs.Balanced([1, 2, 3, 4, 5, 6]), "on average over classes, rare and frequent ones alike", False),
    ],
    ids=["Pooled", "Balanced"],
)
def test_rules_that_share_rows_promise_nothing_for_every_class(browser, tmp_path, condition, words, target):
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", condition=condition)
    page = browser.new_page()
    page.goto(rs.report(rule, LOGITS[NEW], LABELS[NEW], tmp_path / "shared.html").path.as_uri())
    told = page.inner_text("#words")
    assert words in told
    assert "within every group" not in told
    assert "The calibration set has 700 rows" in told
    assert ("target 90 %" in page.inner_text("#headline")) == target
    assert page.locator("#classes thead th").count() == 5
    page.close()


def test_numbers_are_rounded_once_and_as_in_python(browser, tmp_path):
    values = [0.010548, 0.01054999, 0.03125, 0.09375, 0.15625, 0.99995, 1.03125, 0.00005, 0.0, 1.0, 2.6718749, 0.12345]
    study = rs.reports.study_rules([RULE], LOGITS[NEW], TRUTH)
    data = copy.deepcopy(study.data)
    data["scores"][0]["metrics"]["class gap"][: len(values)] = values
    (tmp_path / "rounded.html").write_text(rs.reports.page(dataclasses.replace(study, data=data)), encoding="utf-8")
    visit = Visit(browser, tmp_path / "rounded.html")
    told = []
    for place in range(len(values)):
        visit.set_alpha(place)
        told.append(visit.facts()["class gap"])
    assert told == [format_value(value) for value in values]
    assert visit.page.inner_text("#scores-title") == "This rule at this alpha"
    visit.page.context.close()


def test_the_keyboard_moves_it_too(visit):
    visit.page.focus("#alpha")
    before = visit.page.inner_text("#alpha-value")
    visit.page.keyboard.press("ArrowRight")
    visit.drawn()
    assert float(visit.page.inner_text("#alpha-value")) == pytest.approx(float(before) + 0.01)


def test_another_score_is_shown(visit):
    visit.page.select_option("#score", "1")
    visit.drawn()
    seen = rs.evaluate(
        rs.calibrate(LOGITS[CAL], np.array(NAMES)[LABELS[CAL]], kind="logits", classes=NAMES, score=rs.Thr()).predict(
            LOGITS[NEW], 0.1
        ),
        TRUTH,
    )
    assert visit.facts()["size"] == f"{seen.mean_size:.4f}"


def test_classes_are_sorted_by_a_click_and_hostile_names_are_text(visit):
    visit.page.get_by_role("button", name="rows").click()
    counts = [int(text) for text in visit.page.locator("#classes tbody tr td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts)
    visit.page.get_by_role("button", name="rows").click()
    counts = [int(text) for text in visit.page.locator("#classes tbody tr td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    names = visit.page.locator("#classes tbody tr td:first-child").all_text_contents()
    assert NAMES[0] in names
    assert visit.page.locator("#classes script, #classes i").count() == 0
    assert visit.page.inner_text("h1") == "Emotions <b>"


def test_numbers_can_be_downloaded(visit, tmp_path):
    with visit.page.expect_download() as waiting:
        visit.page.click("#download")
    waiting.value.save_as(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 50
    seen = rs.evaluate(RULE.predict(LOGITS[NEW], 0.1), TRUTH)
    (row,) = [row for row in rows if row["score"] == "RANK" and row["alpha"] == "0.1"]
    for name in METRICS:
        found = float(row[name]) if row[name] else np.nan
        assert found == pytest.approx(seen[name], abs=1e-5, nan_ok=True), name


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (820, "light"), (1440, "dark")])
def test_it_fits_every_width(browser, report, width, scheme, tmp_path):
    visit = Visit(browser, report, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    visit.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 20_000
    visit.page.context.close()


def test_pictures_stay_in_their_places_on_paper(visit):
    visit.page.emulate_media(media="print")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    visit.drawn()
    inside = """[...document.querySelectorAll('.main-svg')].every((svg) => {
        const box = svg.getBoundingClientRect(), card = svg.closest('section').getBoundingClientRect();
        return box.left >= card.left - 1 && box.right <= card.right + 1 && box.bottom <= card.bottom + 1; })"""
    assert visit.page.evaluate(inside)
    assert visit.page.locator("#controls").is_hidden()
    assert visit.page.locator("#classes thead").is_visible()


def test_a_rule_with_groups_tells_of_them(browser, tmp_path):
    sites, labels = np.array(["north", "<b>south</b>"] * 650), np.array(NAMES)[LABELS[:1300]]
    asked = {"kind": "logits", "classes": NAMES, "condition": rs.PerGroup()}
    rule = rs.calibrate(LOGITS[CAL], labels[CAL], groups=sites[CAL], **asked)
    study = rs.reports.study_rules([rule], LOGITS[NEW], labels[NEW], groups=sites[NEW], alpha="0.015")
    (tmp_path / "groups.html").write_text(rs.reports.page(study), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "groups.html").as_uri())
    wait_until(page, "document.querySelectorAll('.js-plotly-plot').length === 4")
    seen = rs.evaluate(rule.predict(LOGITS[NEW], "0.015", groups=sites[NEW]), labels[NEW], groups=sites[NEW])
    told = {row[0]: row[2:] for row in (line.split("\t") for line in page.inner_text("#groups tbody").split("\n"))}
    assert told == {str(share.name): [f"{share.coverage:.4f}", f"{share.mean_size:.3f}"] for share in seen.groups}
    assert "at least 98.5 %, within every group" in page.inner_text("#words")
    page.close()


def test_the_guarantee_is_that_of_the_selected_rule(browser, tmp_path):
    sites, asked = np.array(["north", "south", "east"])[np.arange(1300) % 3], {"kind": "logits"}
    rules = [
        rs.calibrate(LOGITS[CAL], LABELS[CAL], **asked),
        rs.calibrate(LOGITS[CAL], LABELS[CAL], condition=rs.PerGroup(), groups=sites[CAL], **asked),
        rs.auto(LOGITS[CAL], LABELS[CAL], **asked),
    ]
    rs.report(rules, LOGITS[NEW], LABELS[NEW], tmp_path / "rules.html", groups=sites[NEW])
    visit = Visit(browser, tmp_path / "rules.html", viewport={"width": 1200, "height": 900})
    page = visit.page
    assert "group of the condition" not in page.inner_text("#words")
    assert "The calibration set has 700 rows" in page.inner_text("#words")
    names = page.locator("#score option").all_inner_texts()
    assert names[:2] == ["RANK", "RANK, per group"]
    assert page.locator("#scores tbody td:first-child").all_inner_texts() == names
    assert repr(rules[2].score) in page.inner_text("#scores-note")
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('#scores').parentNode)")
    page.select_option("#score", "1")
    visit.drawn()
    assert "within every group of the condition (per group)" in page.inner_text("#words")
    assert "The smallest of 3 groups has 233 rows" in page.inner_text("#words")
    page.context.close()


def test_ids_are_listed_as_text_and_found(browser, tmp_path):
    ids = [f"<i>case</i> {number:03d}" for number in range(600)]
    made = rs.report(RULE, LOGITS[NEW], TRUTH, tmp_path / "ids.html", ids=ids)
    listed = made.study.data["scores"][0]["ambiguous"]
    visit = Visit(browser, made.path)
    heads = visit.page.locator("#ambiguous thead th").all_inner_texts()
    assert heads == ["id", "row", "true label", "size", "set"]
    column = visit.page.locator("#ambiguous tbody td:first-child")
    assert column.all_inner_texts() == [row["id"] for row in listed]
    assert visit.page.locator("#ambiguous i").count() == 0
    missed = visit.page.locator("#ambiguous td.missed").all_text_contents()
    sets = RULE.predict(LOGITS[NEW], 0.1)
    covered = sets.covers(TRUTH)
    told = made.study.data["classes"]
    assert missed == [told[row["label"]] for row in listed if not covered[row["row"]]]
    visit.page.fill("#find", f" CASE</i> {listed[5]['row']:03d}")
    visit.drawn()
    assert column.all_inner_texts() == [listed[5]["id"]]
    assert visit.page.inner_text("#find-note") == "1 of the 100 listed rows"
    visit.page.fill("#find", "fear")
    visit.drawn()
    assert column.all_inner_texts() == [row["id"] for row in listed if NAMES[row["label"]] == "fear"]
    visit.set_alpha(19)  # what was found stays found
    assert column.count() == sum(NAMES[row["label"]] == "fear" for row in listed)
    visit.page.fill("#find", "")
    visit.drawn()
    assert (column.count(), visit.page.inner_text("#find-note")) == (100, "")
    assert visit.errors == []
    visit.page.context.close()


def test_rows_without_ids_are_found_by_number(visit):
    heads = visit.page.locator("#ambiguous thead th").all_inner_texts()
    assert heads == ["row", "true label", "size", "set"]
    first = visit.page.locator("#ambiguous tbody td:first-child").first.inner_text()
    visit.page.fill("#find", first)
    visit.drawn()
    assert first in visit.page.locator("#ambiguous tbody td:first-child").all_inner_texts()
    assert all(first in text for text in visit.page.locator("#ambiguous tbody td:first-child").all_inner_texts())


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (rs.CrossConformal(3), ["come from several models", "proven probability is at least 7", "about 90 %"]),
        (rs.Holdout(0.5, stratify=True), ["nothing is proven at this level", "about 90 %"]),
        (rs.Holdout(0.5), ["with probability at least 90 %"]),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_the_page_claims_what_is_proven(browser, tmp_path, split, words):
    rows = LOGITS[:1300].astype(float)
    model = rs.ConformalClassifier(split=split, random_state=0).fit(rows[CAL], LABELS[CAL])
    page = browser.new_page()
    page.goto(model.report(rows[NEW], LABELS[NEW], tmp_path / "model.html").path.as_uri())
    told = page.inner_text("#words")
    assert [text for text in words if text not in told] == []
    page.close()
