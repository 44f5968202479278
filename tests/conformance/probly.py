"""Numbers of probly's tests."""

import numpy as np

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("probly", "pwhofman/probly", f"tests/probly/{path}", commit)


OLD_APS = source("conformal_prediction/aps/test_common.py", "60ccc286ddca10d80aa21899375cec34919ecaf0")
OLD_LAC = source("conformal_prediction/lac/test_common.py", "4faefb0872c7134e768f381910a89d5c0700bba4")
APS = source("conformal_prediction/scores/aps/test_common.py", "2ca8c7fbb6e3377d1fce62303e7af0663a6b4772")
LAC = source("conformal_prediction/scores/lac/test_common.py", "5152a5bb4f2183e5bf299fb54dc12bd5fad5cee3")
LAC_TORCH = source("conformal_prediction/scores/lac/test_torch.py", "32d95b271d6734b3955ccfdabd044ad89e3b454f")
RAPS_TORCH = source("conformal_prediction/scores/raps/test_torch.py", "5152a5bb4f2183e5bf299fb54dc12bd5fad5cee3")
SAPS = source("conformal_prediction/scores/saps/test_common.py", "5152a5bb4f2183e5bf299fb54dc12bd5fad5cee3")
NEW_APS = source("conformal_scores/test_aps.py", "34cff8f9717b9a075326be90db9b5210bfee4950")
NEW_LAC = source("conformal_scores/test_lac.py", "3b1dfa8a9dd5481cf0f63aac59da859c38f40931")
NEW_SAPS = source("conformal_scores/test_saps.py", "34cff8f9717b9a075326be90db9b5210bfee4950")
METHODS = source("conformal_prediction/methods/test_common.py", "13600ba63ef7ae945160845b1b3a5ec4bfac1a98")
QUANTILE = source("utils/quantile/test_common.py", "0495762bcfb52dd8cf2e0feb867ee72fb9204b77")
METRICS = source("conformal_prediction/utils/test_metrics.py", "6903bc9c4dc00162b1e5e6ee6d0e597e0304eda9")
SUITE = source("metrics/predicted_sets/_metrics_suite.py", "22a51b959767e046fbe215fe28d60482321a35e2")

FULL_MASS = rs.Aps(randomized=False)
FIVE = (0.1, 0.2, 0.3, 0.4, 0.5)
BASIC = ((1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1))
BOUNDARY = "test_lac_score_func_boundary_conditions"
MULTIPLE = "test_lac_score_func_multiple_classes"


def masses(test, probs, labels, theirs):
    inputs = {"score": FULL_MASS, "probs": probs, "labels": labels}
    return Case(OLD_APS, test, "APS's score without draws, one label per row", theirs, asking.keys, inputs)


def lac(test, probs, theirs):
    return Case(LAC, test, "LAC of all labels", theirs, asking.all_lac, {"probs": probs})


def quantile(where, test, values, alpha, theirs, **explained):
    inputs = {"values": values, "alpha": alpha}
    what = f"threshold of {len(values)} scores at α = {alpha:g}"
    return Case(where, test, what, (theirs,), asking.threshold, inputs, **explained)


CAPPED = {"reason": conventions.CAPPED, "ours": (None,), "follow": conventions.capped_quantile}


def saps(test, probs, weight, labels, theirs):
    inputs = {
        "score": rs.Saps(weight),
        "probs": (probs,) * len(labels),
        "labels": labels,
        "draws": (0.5,) * len(labels),
    }
    return Case(SAPS, test, f"SAPS's scores with u = 0.5, weight {weight:g}", theirs, asking.drawn_keys, inputs)


def raps(test, probs, labels, theirs, ours):
    return Case(
        RAPS_TORCH,
        test,
        "RAPS's score (penalty 0.1, k_reg 0, no draws)",
        theirs,
        asking.keys,
        {"score": rs.Raps(0.1, 0, randomized=False), "probs": probs, "labels": labels},
        reason=conventions.PENALTY_FROM_ZERO,
        ours=ours,
        follow=conventions.raps_from_zero,
    )


def filled(where, test, probs, limit, theirs):
    inputs = {"probs": probs, "quantile": limit}
    return Case(where, test, "empty sets filled with the likeliest label", theirs, asking.filled_sets, inputs)


def covered(where, test, mask, labels, theirs):
    return Case(where, test, "coverage", (theirs,), asking.coverage, {"mask": mask, "labels": labels})


def size(where, test, mask, theirs):
    return Case(where, test, "mean size", (theirs,), asking.mean_size, {"mask": mask})


CASES = (
    masses(
        "test_calculate_nonconformity_score_basic",
        ((0.5, 0.3, 0.2), (0.1, 0.7, 0.2), (0.2, 0.2, 0.6)),
        (0, 1, 2),
        (0.5, 0.7, 0.6),
    ),
    masses("test_calculate_nonconformity_score_edge_cases", ((0.1, 0.9),), (1,), (0.9,)),
    masses("test_calculate_nonconformity_score_edge_cases", ((0.33, 0.33, 0.34),), (2,), (0.34,)),
    masses("test_calculate_nonconformity_score_ties", ((0.4, 0.4, 0.2), (0.3, 0.3, 0.4)), (0, 2), (0.4, 0.4)),
    Case(
        APS,
        "test_aps_score_func_basic",
        "APS's scores without draws, all labels",
        (0.5, 0.8, 1.0),
        asking.all_keys,
        {"score": FULL_MASS, "probs": ((0.5, 0.3, 0.2),)},
    ),
    Case(
        NEW_APS,
        "TestAPSBackends.test_torch_full_score_matrix_when_no_labels",
        "APS's score of the likeliest label without draws",
        (0.6,),
        asking.keys,
        {"score": FULL_MASS, "probs": ((0.1, 0.6, 0.3),), "labels": (1,)},
    ),
    lac("test_lac_score_func_basic", ((0.5, 0.3, 0.2), (0.1, 0.7, 0.2)), (0.5, 0.7, 0.8, 0.9, 0.3, 0.8)),
    lac(BOUNDARY, ((0.33, 0.33, 0.34),), (0.67, 0.67, 0.66)),
    lac(BOUNDARY, ((0.9, 0.05, 0.05),), (0.1, 0.95, 0.95)),
    lac(BOUNDARY, ((1.0, 0.0, 0.0),), (0.0, 1.0, 1.0)),
    lac(MULTIPLE, ((0.6, 0.4),), (0.4, 0.6)),
    lac(MULTIPLE, ((0.2,) * 5,), (0.8,) * 5),
    lac(MULTIPLE, ((0.1,) * 10,), (0.9,) * 10),
    Case(
        OLD_LAC,
        "test_calculate_non_conformity_score",
        "LAC of one label per row",
        (0.2, 0.4, 0.4),
        asking.lac,
        {"probs": ((0.1, 0.8, 0.1), (0.6, 0.3, 0.1), (0.2, 0.2, 0.6)), "labels": (1, 0, 2)},
    ),
    Case(
        NEW_LAC,
        "TestLACBackends.test_torch_no_labels_returns_full",
        "LAC of all labels",
        (0.8, 0.5, 0.7),
        asking.all_lac,
        {"probs": ((0.2, 0.5, 0.3),)},
    ),
    Case(
        LAC_TORCH,
        "test_lacscore_in_split_predictor",
        "LAC's threshold of 50 rows with 0.8 for the label, at α = 0.1 (0.19 to 0.21 allowed)",
        (0.2,),
        asking.threshold,
        {"values": (1 - 0.8,) * 50, "alpha": 0.1},
        tolerance=0.01,
    ),
    Case(
        LAC_TORCH,
        "test_lacscore_in_split_predictor",
        "LAC's set of a row like those",
        ((0,),),
        asking.lac_sets,
        {"probs": ((0.8, 0.1, 0.1),), "quantiles": (0.2, 0.2, 0.2)},
    ),
    saps("test_saps_score_func_basic", (0.5, 0.3, 0.2), 0.1, (0, 1, 2), (0.25, 0.55, 0.65)),
    saps("test_saps_score_func_edge_case_single_class", (1.0,), 0.1, (0,), (0.5,)),
    saps("test_saps_score_func_with_extreme_lambda", (0.5, 0.3, 0.2), 0.0, (0,), (0.25,)),
    Case(
        NEW_SAPS,
        "TestSAPSBackends.test_torch_categorical_distribution_input",
        "SAPS's score of the likeliest label without draws",
        (0.0,),
        asking.keys,
        {"score": rs.Saps(0.1, randomized=False), "probs": ((0.05, 0.85, 0.1),), "labels": (1,)},
        reason=conventions.NO_DRAW_IS_ZERO,
        ours=(0.85,),
        follow=conventions.saps_with_draw_zero,
    ),
    raps("test_raps_score_torch_edge_case_single_class", ((1.0,),), (0,), (1.01,), (1.1,)),
    raps(
        "test_raps_score_torch_zeros_input",
        ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
        (2, 1),
        (1.01, 1.01),
        (1.1, 1.1),
    ),
    quantile(OLD_APS, "test_calculate_quantile", FIVE, 0.1, 0.5, **CAPPED),
    quantile(OLD_APS, "test_calculate_quantile", FIVE, 0.5, 0.3),
    quantile(OLD_APS, "test_calculate_quantile", FIVE, 0.9, 0.1),
    quantile(METHODS, "test_custom_conformity_function", (3.0, 3.0, 3.0), 0.2, 3.0, **CAPPED),
    quantile(
        QUANTILE,
        "TestQuantileNumpy.test_weighted_quantile_unweighted_matches_unweighted",
        (1.0, 2.0, 3.0, 4.0, 5.0),
        0.5,
        3.0,
    ),
    filled(LAC, "test_accretive_completion_all_empty", ((0.1, 0.8, 0.1), (0.9, 0.05, 0.05)), 0.05, ((1,), (0,))),
    filled(LAC, "test_accretive_completion_single_sample", ((0.2, 0.7, 0.1),), 0.05, ((1,),)),
    filled(OLD_LAC, "test_accretive_completion", ((0.3, 0.4, 0.3), (0.8, 0.1, 0.1)), 0.5, ((1,), (0,))),
    covered(METRICS, "test_empirical_coverage_basic", BASIC, (0, 0, 1, 2), 1.0),
    covered(METRICS, "test_empirical_coverage_partial", np.eye(3), (0, 1, 0), 2 / 3),
    covered(METRICS, "test_empirical_coverage_edge_cases", ((0, 0), (0, 0)), (0, 1), 0.0),
    covered(METRICS, "test_empirical_coverage_edge_cases", ((1, 1), (1, 1)), (0, 1), 1.0),
    size(METRICS, "test_average_set_size_basic", BASIC, 1.75),
    size(METRICS, "test_average_set_size_edge_cases", ((0, 0), (0, 0)), 0.0),
    size(METRICS, "test_average_set_size_edge_cases", ((1, 0), (0, 1)), 1.0),
    size(METRICS, "test_average_set_size_edge_cases", ((1, 1, 1), (1, 1, 1)), 3.0),
    covered(SUITE, "MetricsSuite.test_onehot_perfect_coverage", np.eye(3), (0, 1, 2), 1.0),
    covered(SUITE, "MetricsSuite.test_onehot_zero_coverage", 1 - np.eye(3), (0, 1, 2), 0.0),
    covered(SUITE, "MetricsSuite.test_onehot_partial_coverage", ((1, 0), (0, 0), (1, 1), (0, 1)), (0, 0, 1, 1), 0.75),
    size(SUITE, "MetricsSuite.test_onehot_efficiency", ((1, 0, 0), (1, 1, 0), (1, 1, 1)), 2.0),
)
