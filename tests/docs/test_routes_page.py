"""docs/understand/routes.md tells the numbers of routes.json, and what they say of the proven routes holds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import routes

PAGE = routes.DOCS / "routes.md"


def test_the_page_is_that_of_the_numbers():
    page = PAGE.read_text(encoding="utf-8")
    assert routes.written(page, routes.saved()) == page
    changed = [{**one, "coverage": 0.5} for one in routes.saved()]
    assert routes.written(page, changed) != page


def test_every_cell_was_measured_often_enough_and_no_proven_route_falls_short():
    cells = routes.saved()
    assert {routes.place(one) for one in cells} == {(c.route, c.model, c.n_classes, c.rows) for c in routes.cells()}
    assert min(one["repetitions"] for one in cells) >= 2000
    assert min(one["z"] for one in cells if one["route"] not in routes.NO_PROOF) >= -3


def test_routes_without_a_proof_fall_short_somewhere():
    stratified = [one["coverage"] - one["promised"] for one in routes.saved() if "stratify (" in one["route"]]
    assert min(stratified) < -0.02
