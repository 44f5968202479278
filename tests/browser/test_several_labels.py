"""The report of rules with several labels per row in a real browser: `python3 run.py browser`."""

import shutil

import pytest

import rankset as rs
from browser.waiting import wait_until
from rankset.evaluation.metrics import format_value

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("plotly")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

PROBS, LABELS = rs.datasets.load("goemotions")
CAL, NEW = slice(0, 1000), slice(1000, 2000)
CLASSES = ["<i>odd</i>", *rs.datasets.SEVERAL_LABELS["goemotions"].classes[1:]]
TRUTH = LABELS[NEW].copy()
TRUTH[:30] = 0
GROUPS = [("empty", "north", "south")[0 if row < 20 else 1 + row % 2] for row in range(1000)]
OPTIONS = {"kind": "marginals", "classes": CLASSES}
RULES = [rs.calibrate(PROBS[CAL], LABELS[CAL], target=target, **OPTIONS) for target in ("recall", "all")]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, tmp_path):
    rs.report(RULES, PROBS[NEW], TRUTH, tmp_path / "several.html", groups=GROUPS, title="Emotions")
    page, errors = browser.new_page(viewport={"width": 1280, "height": 900}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto((tmp_path / "several.html").as_uri())
    wait_until(page, "document.querySelectorAll('.js-plotly-plot').length === 2")
    yield page
    assert errors == []
    page.close()


def drawn(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def cells(page, table):
    return [line.split("\t") for line in page.inner_text(f"#{table} tbody").split("\n")]


@pytest.mark.parametrize("place", [4, 9, 29])
@pytest.mark.parametrize("number", [0, 1])
def test_every_number_is_the_librarys(page, place, number):
    page.select_option("#score", str(number))
    page.eval_on_selector("#alpha", f"e => {{ e.value = {place}; e.dispatchEvent(new Event('input')); }}")
    drawn(page)
    rule, alpha = RULES[number], f"{(place + 1) / 100:g}"
    found = rs.evaluate(rule.predict(PROBS[NEW], alpha), TRUTH)
    names = page.locator("#facts dt, #measures dt").all_inner_texts()
    values = [text.split("\n")[0] for text in page.locator("#facts dd, #measures dd").all_inner_texts()]
    told = dict(zip(names, values, strict=True))
    measured = {"size": found.mean_size, "empty": found.empty_rate}
    for name in ("recall", "all labels", "any label", "micro recall", "precision", "size", "empty"):
        assert told[name] == f"{measured.get(name, getattr(found, name.replace(' ', '_'), None)):.4f}", name
    assert told["rows set aside"] == str(found.set_aside)
    sure = rs.evaluate(rule.predict(PROBS[NEW], alpha, confidence=0.95), TRUTH)
    usual, with_confidence = cells(page, "promises")
    assert usual[2:] == [f"{found.observed:.4f}", f"{found.mean_size:.3f}"]
    assert with_confidence[2:] == [f"{sure.observed:.4f}", f"{sure.mean_size:.3f}"]
    labels = {name: rest for name, *rest in cells(page, "classes")}
    assert labels == {str(one.name): [f"{one.n:,}", f"{one.recall:.4f}", f"{one.kept:.4f}"] for one in found.labels}
    numbers = [[one.name, f"{one.n:,}", format_value(one.recall), f"{one.kept:.3f}"] for one in found.by_number]
    assert cells(page, "numbers") == numbers
    by_group = rs.evaluate(rule.predict(PROBS[NEW], alpha), TRUTH, groups=GROUPS).groups
    groups = {name: rest for name, *rest in cells(page, "groups")}
    assert groups.pop("empty")[:4] == ["0", "–", "–", "–"]
    assert groups == {
        one.name: [
            str(one.n),
            *(f"{value:.4f}" for value in (one.observed, one.recall, one.all_labels)),
            f"{one.mean_size:.3f}",
        ]
        for one in by_group[1:]
    }
    curve = page.evaluate("document.getElementById('coverage').data.find((one) => one.name === 'recall').y")
    assert curve[place] == pytest.approx(found.recall)


def test_it_says_what_is_promised_and_fits_every_width(page):
    assert "share of a row's true labels that the set contains is at least 90 %" in page.inner_text("#words")
    assert page.locator("#classes i").count() == 0
    for width in (390, 820, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(500)  # pictures follow the width
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="rows with it").click()
    rows = [int(row[1].replace(",", "")) for row in cells(page, "classes")]
    assert rows == sorted(rows)


def test_folds_promise_less(browser, tmp_path):
    rows, common = PROBS.astype(float), LABELS[CAL].sum(axis=0) > 40
    model = rs.ConformalClassifier(target="all", split=rs.CrossConformal(3), random_state=0)
    model.fit(rows[CAL], LABELS[CAL][:, common])
    made = model.report(rows[NEW], TRUTH[:, common], tmp_path / "folds.html")
    page = browser.new_page()
    page.goto(made.path.as_uri())
    assert "come from several models" in page.inner_text("#words")
    told = page.inner_text("#promises-note")
    assert told.startswith("Usual, but not proven, is: the set contains all true labels")
    assert f"Proven is at least {int(1000 * model.rule_.guarantee(0.1)) / 10:g} %." in told
    assert "Promised is" not in page.inner_text("main")
    assert len(cells(page, "promises")) == 1
    page.close()


@pytest.mark.parametrize(("target", "measure"), [("any", "any label"), ("missed:1", "at most 1 missed")])
def test_the_line_that_is_compared_with_the_target_is_what_is_promised(browser, tmp_path, target, measure):
    rule = rs.calibrate(PROBS[CAL], LABELS[CAL], target=target, **OPTIONS)
    page = opened(browser, rs.report(rule, PROBS[NEW], TRUTH, tmp_path / "one.html"))
    lines = {one["name"]: one for one in page.evaluate("document.getElementById('coverage').data")}
    solid = [name for name, one in lines.items() if one["line"].get("dash") == "solid"]
    assert solid == [measure]
    assert f"target of {measure}" in lines
    assert lines[measure]["y"][9] == pytest.approx(rs.evaluate(rule.predict(PROBS[NEW], 0.1), TRUTH).observed)
    assert f": {measure} " in page.inner_text("#headline")
    page.close()


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_with_a_threshold_per_label_no_line_has_a_target(browser, tmp_path):
    rule = rs.calibrate(PROBS[CAL], LABELS[CAL], target="recall", condition=rs.PerLabel(), **OPTIONS)
    page = opened(browser, rs.report(rule, PROBS[NEW], TRUTH, tmp_path / "labels.html"))
    lines = page.evaluate("document.getElementById('coverage').data")
    assert {one["name"]: one["line"]["dash"] for one in lines} == {"recall": "dot", "all labels": "dot"}
    ((_, asked, observed, _),) = cells(page, "promises")
    assert (asked, observed) == ("0.9", "–")
    assert "a true label is in the set with probability at least 90 %" in page.inner_text("#promises-note")
    assert "PerLabel" not in page.inner_text("#words")
    page.close()


def opened(browser, made):
    page = browser.new_page()
    page.goto(made.path.as_uri())
    wait_until(page, "document.querySelectorAll('.js-plotly-plot').length === 2")
    return page
