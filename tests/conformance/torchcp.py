"""Numbers of TorchCP's tests."""

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("TorchCP", "ml-stat-Sustech/TorchCP", f"tests/classification/{path}", commit)


VERSION = "TorchCP 1.2.1"
APS = source("score/test_aps.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
RAPS = source("score/test_raps.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
SAPS = source("score/test_saps.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
LAC = source("score/test_lac.py", "ced97ece63a1fc27ad1ed81e829092b5c072f5d1")
MARGIN = source("score/test_margin.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
TOPK = source("score/test_topk.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
CLUSTER = source("predictor/test_cluster.py", "14ebc1c71358491f4e054247ac5b18079ee5076b")
CLASSWISE = source("predictor/test_classwise.py", "0758d6fbacde4c3cb8391c122e397f5af877642d")
BASE = source("predictor/test_predictor_base.py", "1222a675f0ba9f1391d83706cb87a7346d4705da")
METRICS = source("utils/test_classification_metrics.py", "0f98a6948e64f72774247be407a14c3590a8debc")

PROBS = ((0.1, 0.4, 0.5), (0.3, 0.3, 0.4))
UNIFORM = ((1 / 3,) * 3,) * 2
BASIC = ((1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1))
RESULTS = {"mask": BASIC, "labels": (0, 0, 1, 2)}
AT_TENTH = {**RESULTS, "alpha": 0.1}
SCORES = (0.1, 0.5, 0.8, 0.3, 0.9)


FULL = rs.Saps(0.5, randomized=False)
ALL_LABELS, ONE_LABEL = "test_calculate_all_label_deterministic", "test_calculate_single_label_deterministic"


def ran(where, test, what, ask, inputs, theirs, **explained):
    """A case whose numbers the peer gave on the inputs of its test, in float32."""
    return Case(where, test, what, theirs, ask, inputs, run=VERSION, tolerance=1e-6, **explained)


def without_draws(where, name, score, of_all, of_one, one_test=ONE_LABEL, **explained):
    """A score of all labels of two rows, and of one label each."""
    each = {"score": score, "probs": PROBS, "labels": (2, 1)}
    return (
        ran(where, ALL_LABELS, f"{name} of all labels", asking.all_keys, {"score": score, "probs": PROBS}, of_all),
        ran(where, one_test, f"{name} of one label per row", asking.keys, each, of_one, **explained),
    )


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
    *without_draws(APS, "APS", rs.Aps(randomized=False), (1.0, 0.9, 0.5, 0.7, 1.0, 0.4), (0.5, 1.0)),
    *without_draws(RAPS, "RAPS", rs.Raps(0.1, 1, randomized=False), (1.2, 1.0, 0.5, 0.8, 1.2, 0.4), (0.5, 1.2)),
    *without_draws(
        SAPS,
        "SAPS",
        FULL,
        (1.5, 1.0, 0.5, 0.9, 1.4, 0.4),
        (0.0, 1.4),
        reason=conventions.TWO_FORMULAS,
        ours=(0.5, 1.4),
        follow=conventions.saps_of_one_label,
    ),
    ran(
        SAPS,
        "test_first_rank_scores",
        "SAPS of a row's last label",
        asking.keys,
        {"score": FULL, "probs": PROBS[:1], "labels": (0,)},
        (1.5,),
    ),
    *without_draws(TOPK, "rank", rs.TopK(), (3, 2, 1, 2, 3, 1), (1, 3), "test_calculate_single_label"),
    ran(
        LAC,
        "test_call_method",
        "LAC of all labels, from logits",
        asking.lac_of_logits,
        {"logits": ((2.0, 1.0, 0.1), (0.5, 2.5, 1.0))},
        (0.34099883, 0.75756705, 0.90143412, 0.90037632, 0.26387525, 0.83574837),
    ),
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
    ran(
        METRICS,
        "test_coverage_rate_macro",
        "mean coverage of 4 classes, one of them without rows",
        asking.macro_coverage,
        RESULTS,
        (0.75,),
        reason=conventions.EMPTY_CLASSES,
        ours=(1.0,),
        follow=conventions.coverage_over_all_classes,
    ),
    ran(METRICS, "test_average_size", "mean size", asking.mean_size, {"mask": BASIC}, (1.75,)),
    ran(METRICS, "test_covgap", "class gap at α = 0.1, in percent", asking.class_gap_in_percent, AT_TENTH, (10.0,)),
    ran(METRICS, "test_vioclasses", "classes covered too seldom at α = 0.1", asking.classes_below, AT_TENTH, (0,)),
    ran(METRICS, "test_sscv", "SSCV at α = 0.1", asking.sscv_of_sets, AT_TENTH, (0.1,)),
    ran(
        METRICS,
        "test_sscv",
        "SSCV at α = 0.1 with sizes 0–2 and 3–4",
        asking.sscv_of_sets,
        {**AT_TENTH, "strata": (2, 4)},
        (0.1,),
    ),
)
