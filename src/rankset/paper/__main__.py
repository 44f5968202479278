"""The demo: the paper's MMLU rows on the scores that come with the package, as a table."""

import argparse
import time

from rankset.paper.data import MMLU_SUBJECTS, mmlu
from rankset.paper.experiment import MEASURES, Results, resample


def main(arguments: list[str] | None = None) -> None:
    """Prints one table per data set, and what to make of it."""
    parser = argparse.ArgumentParser(prog="python -m rankset.paper", description=__doc__)
    parser.add_argument("--alpha", default="0.1", help="tolerated miss rate (default 0.1)")
    parser.add_argument("--repeats", type=int, default=100, help="random halves (default 100)")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    print(
        f"LLaMA-13B on multiple-choice questions (MMLU), 4 answers each.\n"
        f"Means over {options.repeats} random halves: one calibrates, the other tests. alpha = {options.alpha}, "
        f"so coverage should be near or above {1 - float(options.alpha):g}.\n"
    )
    print(HEADING)
    for subject in MMLU_SUBJECTS:
        probs, labels = mmlu(subject)
        results = resample(probs, labels, alphas=(options.alpha,), repeats=options.repeats)
        print("\n".join(_lines(f"{subject.replace('_', ' ')} ({len(labels)})", results)))
    print(f"{NOTES}\n\nDone in {time.perf_counter() - started:.1f} s.")


HEADING = f"{'data (questions)':<24}{'method':<8}" + "".join(f"{name:>10}" for name in MEASURES)

NOTES = """
size   mean number of answers in a set: smaller is better at equal coverage
SSCV   largest gap between coverage and 1 - alpha among sets of similar size, sizes pooled as in the paper
SSCV*  the same with empty sets as a stratum of their own
THR is missing from the paper's Table 1. The paper's APS, RAPS and SAPS sizes for these data come from
probabilities that went through softmax a second time; these here are computed on the probabilities as stored."""


def _lines(title: str, results: Results) -> list[str]:
    (alpha,) = results.alphas
    lines: list[str] = []
    for method in results.methods:
        means = (results.mean(method, alpha, measure) for measure in results.measures)
        lines.append(f"{'' if lines else title:<24}{method:<8}" + "".join(f"{mean:>10.3f}" for mean in means))
    return [*lines, ""]


if __name__ == "__main__":
    main()
