"""Numbers of TorchCP's tests."""

import rankset as rs
from conformance import asking
from conformance.cases import Case, Source


def source(path, commit):
    return Source("TorchCP", "ml-stat-Sustech/TorchCP", f"tests/classification/{path}", commit)


MARGIN = source("score/test_margin.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
TOPK = source("score/test_topk.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
CLUSTER = source("predictor/test_cluster.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
CLASSWISE = source("predictor/test_classwise.py", "0758d6fbacde4c3cb8391c122e397f5af877642d")
BASE = source("predictor/test_predictor_base.py", "1222a675f0ba9f1391d83706cb87a7346d4705da")
METRICS = source("utils/test_classification_metrics.py", "0f98a6948e64f72774247be407a14c3590a8debc")

PROBS = ((0.1, 0.4, 0.5), (0.3, 0.3, 0.4))
UNIFORM = ((1 / 3,) * 3,) * 2
BASIC = ((1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1))
SCORES = (0.1, 0.5, 0.8, 0.3, 0.9)


def one_threshold(what, n, alpha, first, theirs):
    """The threshold of the scores first, first + 1, …, n of them: the test numbers them through all its groups."""
    values = tuple(range(first, first + n))
    inputs = {"values": values, "alpha": alpha}
    return Case(CLUSTER, what, f"threshold of {n} scores at α = {alpha:g}", (theirs,), asking.threshold, inputs)


def clusters(alpha, of_all, of_first, of_second):
    test = "test_compute_cluster_specific_qhats"
    return (
        one_threshold(test, 400, alpha, 0, of_all),
        one_threshold(test, 100, alpha, 100, of_first),
        one_threshold(test, 200, alpha, 200, of_second),
    )


def classes(alpha, of_first, of_second, of_third, of_all):
    test = "test_compute_class_specific_qhats"
    return (
        one_threshold(test, 100, alpha, 0, of_first),
        one_threshold(test, 200, alpha, 100, of_second),
        one_threshold(test, 300, alpha, 300, of_third),
        one_threshold(test, 700, alpha, 0, of_all),
    )


def kept(quantile, theirs):
    inputs = {"calibration": (quantile,), "values": (SCORES,), "alpha": asking.HALF}
    return Case(
        BASE, "test_generate_prediction_set", f"set below {quantile:g}", (theirs,), asking.sets_of_values, inputs
    )


def covered(test, what, mask, labels, theirs, ask=asking.coverage):
    return Case(METRICS, test, what, (theirs,), ask, {"mask": mask, "labels": labels})


CASES = (
    Case(
        MARGIN,
        "test_calculate_single_label",
        "margin of one label per row",
        (-0.1, 0.1),
        asking.keys,
        {"score": rs.Margin(), "probs": PROBS, "labels": (2, 1)},
    ),
    Case(
        MARGIN,
        "test_calculate_all_label",
        "margin of all labels of a row",
        (0.4, 0.1, -0.1),
        asking.all_keys,
        {"score": rs.Margin(), "probs": PROBS[:1]},
    ),
    Case(
        MARGIN,
        "test_edge_cases",
        "margin of one label per row, all labels equal",
        (0.0, 0.0),
        asking.keys,
        {"score": rs.Margin(), "probs": UNIFORM, "labels": (0, 1)},
    ),
    Case(
        MARGIN,
        "test_edge_cases",
        "margin of all labels, all equal",
        (0.0,) * 6,
        asking.all_keys,
        {"score": rs.Margin(), "probs": UNIFORM},
    ),
    Case(
        TOPK,
        "test_sort_sum",
        "ranks of the labels, likeliest first",
        (1, 2, 3),
        asking.keys,
        {"score": rs.TopK(), "probs": PROBS[:1] * 3, "labels": (2, 1, 0)},
    ),
    *clusters(0.1, 360, 190, 380),
    *clusters(0.05, 380, 195, 390),
    *clusters(0.01, 396, 199, 398),
    *classes(0.1, 90, 280, 570, 630),
    *classes(0.05, 95, 290, 585, 665),
    *classes(0.01, 99, 298, 597, 693),
    Case(
        CLUSTER,
        "test_get_quantile_minimum",
        "fewest rows at α = 0.2, 0.15, 0.1, 0.05, 0.01",
        (4, 6, 9, 19, 99),
        asking.rows_needed,
        {"alphas": (0.2, 0.15, 0.1, 0.05, 0.01)},
    ),
    *(
        Case(
            CLUSTER,
            "test_get_rare_classes",
            f"classes with too few of 8, 18, 98, 0 rows at α = {alpha:g}",
            (theirs,),
            asking.labels_with_too_few_rows,
            {"counts": (8, 18, 98, 0), "alpha": alpha},
        )
        for alpha, theirs in ((0.1, (0, 3)), (0.05, (0, 1, 3)), (0.01, (0, 1, 2, 3)))
    ),
    Case(
        CLASSWISE,
        "test_calculate_threshold",
        "no finite threshold for classes of 10 and 0 rows at α = 0.05",
        ((1, 2),),
        asking.labels_with_too_few_rows,
        {"counts": (90, 10, 0), "alpha": 0.05},
    ),
    kept(0.6, (0, 1, 3)),
    kept(0.2, (0,)),
    kept(1.0, (0, 1, 2, 3, 4)),
    kept(0.0, ()),
    covered("test_coverage_rate_default", "coverage", BASIC, (0, 0, 1, 2), 1.0),
    covered("test_edge_cases", "coverage of empty sets", ((0, 0, 0),) * 5, (0, 1, 2, 1, 0), 0.0),
    covered("test_edge_cases", "coverage of full sets", ((1, 1, 1),) * 5, (0, 1, 2, 1, 0), 1.0),
    covered(
        "test_singleton_hit_ratio",
        "share of rows with one label, the right one",
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        (0, 1, 2),
        1.0,
        asking.single_and_right,
    ),
    covered(
        "test_singleton_hit_ratio",
        "share of rows with one label, the right one",
        ((1, 1, 0), (1, 1, 1), (0, 1, 1)),
        (0, 1, 2),
        0.0,
        asking.single_and_right,
    ),
)
