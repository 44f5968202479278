"""
A report to send
================

Before a rule goes into use, other people want to see what it does. ``report`` writes one HTML page with a slider for
alpha: coverage with its band, sizes, every class, the most ambiguous rows. The page needs no network. The same numbers
can be had as text and as pictures.
"""

# %%
# A rule for the 20 newsgroups, tested on rows that neither trained the model nor calibrated the rule.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

names = rs.datasets.DATASETS["news20"].classes
logits, labels = rs.datasets.load("news20")
order = np.random.default_rng(0).permutation(len(labels))
held_out, test = order[:2500], order[2500:]
rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", classes=names)

# %%
# The page. ``ids`` name the rows in its list of ambiguous ones.
ids = [f"post {row}" for row in test]
with tempfile.TemporaryDirectory() as folder:
    page = rs.report(rule, logits[test], labels[test], Path(folder) / "newsgroups.html", ids=ids, title="Newsgroups")
    print(f"{page.path.name}: one file of {page.path.stat().st_size / 1e6:.1f} MB")

# %%
# The same in words: what a set contains, how far coverage varies between calibrations, and the evaluation.
print(rule.describe(alpha=0.1))
print(rule.coverage_band(0.1))
sets = rule.predict(logits[test], alpha=0.1)
print(rs.evaluate(sets, labels[test]))

# %%
# And as pictures for slides: the displays draw on axes of your own.
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
rs.RankDisplay.from_rule(rule, alpha=0.1, ax=axes[0, 0])
rs.CoverageDisplay.from_rule(rule, logits[test], labels[test], ax=axes[0, 1])
rs.SizeHistogramDisplay.from_predictions(sets, ax=axes[1, 0])
rs.ClassCoverageDisplay.from_predictions(sets, labels[test], max_classes=10, ax=axes[1, 1])
axes[0, 1].legend(loc="lower left", fontsize="small")
axes[1, 1].set_title("coverage by class, the lowest ten of twenty", pad=26)
plt.show()
