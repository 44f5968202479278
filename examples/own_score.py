"""
A score of your own
===================

A score says how strange a label is for its row. You can write one in a few lines, and everything else works with it: calibration, p-values, comparisons,
reports. Ours keeps the labels that are not much less likely than the best label, as a factor: "at least a tenth as likely".
"""

# %%
# ``keys`` gets arrays of cells (a cell is one label of one row) and returns a tuple of arrays; larger is stranger.
# ``features`` names what it looks at. ``describe`` is optional: it puts the threshold into words.
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import rankset as rs


@dataclass(frozen=True)
class Factor:
    """How many times less likely a label is than the best label of its row."""

    features = ("top", "prob")

    def keys(self, cells):
        return (-cells.prob / cells.top,)

    def describe(self, threshold, wording):
        return f"keeps labels at least {wording.number(-threshold[0])} times as likely as the best label"


# %%
# It calibrates like the built-in scores, with the same guarantee: the proof holds for every score that was fixed before
# the calibration rows were seen.
logits, labels = rs.datasets.load("news20")
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:2000], order[2000:]
rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", method=Factor())
sets = rule.predict(logits[new], alpha=0.1)
print(rule.describe(0.1))
print(f"coverage {sets.covers(labels[new]).mean():.3f}, mean number of labels {sets.sizes.mean():.2f}")

# %%
# Is it any good? ``compare`` takes it beside the others.
print(
    rs.compare(logits[held_out], labels[held_out], kind="logits", scores=[Factor(), "thr", "rank", "aps"], metrics=[])
)

# %%
# Size against coverage, for every alpha from 0.01 to 0.3. A lower curve is better. Sets of this score are never empty, because the best label has the
# factor 1; those of THR can be, which makes them smaller where coverage is low.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for score, name, color in ((Factor(), "our score", "C1"), ("thr", "THR", "C0"), ("aps", "APS", "0.5")):
    rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", method=score)
    alphas = np.arange(1, 31) / 100
    drawn = rs.SizeDisplay.from_rule(rule, logits[new], labels[new], alphas=alphas, ax=ax, color=color)
    ax.annotate(name, (drawn.coverage[0], drawn.mean_sizes[0]), xytext=(6, 0), textcoords="offset points", color=color)
ax.get_legend().remove()
ax.set(
    xlabel="share of sets with the true label",
    ylabel="mean number of labels",
    title="A score of one line beside THR and APS",
)
plt.show()
