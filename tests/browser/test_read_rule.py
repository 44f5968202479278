"""The reader of rules in JavaScript, and its page, in a real browser: the sets are those of rankset."""

import json
import shutil

import numpy as np
import pytest

import rankset as rs
from browser.waiting import wait_until
from javascript_reader import DRIVER, READER, SOFTMAX, golden_cases, logits_of_widths, random_cases, same_bits

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

GOLDEN = READER.parents[1] / "tests" / "golden"
ASK = """async ([source, driver, argument]) => {
  const reader = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  return JSON.stringify(eval(driver)(reader, argument));
}"""
DROP = """([name, bytes]) => {
  const files = new DataTransfer();
  files.items.add(new File([Uint8Array.from(bytes)], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def asked(browser, driver, argument):
    page = browser.new_page()
    answer = page.evaluate(ASK, [READER.read_text(encoding="utf-8"), driver, argument])
    page.close()
    return json.loads(answer)


def test_golden_files_give_their_answers_or_are_refused(browser):
    cases = list(golden_cases())
    for (name, _, sets), answer in zip(cases, asked(browser, DRIVER, [one for _, one, _ in cases]), strict=True):
        if sets is None:
            assert "not known here" in answer["refused"], name
        else:
            assert answer == sets, name


def test_sets_and_bits_are_those_of_rankset(browser, tmp_path):
    cases = list(random_cases(tmp_path, seed=1))
    assert asked(browser, DRIVER, [one for one, _ in cases]) == [sets for _, sets in cases]
    rows = logits_of_widths(seed=1)
    assert same_bits(asked(browser, SOFTMAX, [row.tolist() for row in rows]), rows)


@pytest.fixture
def page(browser):
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.seen, page.failures = [], []
    page.on("request", lambda request: page.seen.append(request.url))
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    page.goto(READER.with_suffix(".html").as_uri())
    yield page
    assert page.failures == []
    assert page.seen == [READER.with_suffix(".html").as_uri()]


def labels(page):
    return page.locator("#answer li").all_inner_texts()


def test_a_file_is_dropped_a_row_typed_and_the_set_seen(page, tmp_path):
    logits, truths = rs.datasets.load("carer")
    names = ["<b>sadness</b>", "joy", "love", "anger", "fear", "surprise"]
    rule = rs.calibrate(logits[:500], np.array(names)[truths[:500]], kind="logits", classes=names)
    rule.save(tmp_path / "rule.rankset")
    page.evaluate(DROP, ["rule.rankset", list((tmp_path / "rule.rankset").read_bytes())])
    wait_until(page, "document.getElementById('about').textContent !== ''")
    assert page.inner_text("#about") == "rule.rankset: Rank, 6 classes, calibrated on 500 rows"
    for row in logits[500:510].astype(float):
        page.fill("#row", ", ".join(map(repr, row.tolist())))
        for alpha in ("0.1", "0.02"):
            page.fill("#alpha", alpha)
            wanted = rule.predict([row], alpha)[0].tolist()
            assert labels(page) == wanted
            assert f"The set has {len(wanted)} of 6 labels:" in page.inner_text("#answer")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_rows_are_pasted_with_brackets_and_alpha_typed_as_a_percentage(page):
    page.set_input_files("#file", GOLDEN / "format1-rank.rankset")
    page.wait_for_selector("#form")
    rule = rs.load(GOLDEN / "format1-rank.rankset")
    for text in ("[0.5, 0.25, 0.25]", "[[0.5, 0.25, 0.25]]", " [0.5 0.25 0.25],\n", "0.5;0.25;0.25"):
        page.fill("#row", text)
        for alpha, number in (("10%", 0.1), ("0,4", 0.4), ("40 %", 0.4)):
            page.fill("#alpha", alpha)
            assert labels(page) == [str(name) for name in rule.predict([[0.5, 0.25, 0.25]], number)[0]]
    for wrong in ("100%", "0%", "1,0,5", "%", "ten%", "0.1%%"):
        page.fill("#alpha", wrong)
        assert page.inner_text("#answer .error") == f"alpha must lie between 0 and 1, got {wrong}"


def test_a_group_is_asked_for(page):
    kept = json.loads((GOLDEN / "format2-thr-absent-groups.json").read_text())
    page.set_input_files("#file", GOLDEN / "format2-thr-absent-groups.rankset")
    page.wait_for_selector("#group")
    assert page.inner_text("#about").endswith("calibrated on 120 rows")
    for row, group, wanted in zip(kept["rows"], kept["groups"], kept["sets"]["0.1"], strict=True):
        page.fill("#group", group)
        page.fill("#row", " ".join(map(repr, row)))
        assert labels(page) == list(map(str, wanted))


def test_mistakes_are_told(page):
    page.set_input_files("#file", GOLDEN / "format1-aps-rows.rankset")
    page.wait_for_selector("#answer .error")
    assert page.inner_text("#answer") == 'the score "Aps" is not known here, only Rank, Thr, TopK, Margin'
    assert page.is_hidden("#form")
    page.set_input_files("#file", GOLDEN / "format1-rank.rankset")
    page.wait_for_selector("#form")
    page.fill("#row", "0.5 0.5")
    assert page.inner_text("#answer .error") == "a row must have 3 numbers, got 2"
    page.fill("#row", "0.5 0.25 0.25")
    page.fill("#alpha", "2")
    assert page.inner_text("#answer .error") == "alpha must lie between 0 and 1, got 2"
