"""
A score of your own
===================

A score says how strange a label is for its row. You can write one in a few lines, and everything else works with it:
calibration, p-values, comparisons, reports. Ours compares a label with the best label of its row, as a factor. Its sets
can be told in one sentence: "keeps labels at least a tenth as likely as the best one".
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
# What it does with two rows: labels above the dashed line are kept.
probs, factor = rs.softmax(logits[new]), -rule.threshold(0.1)[0]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
for ax, size in zip(axes, (2, 5), strict=True):
    row = np.flatnonzero(sets.sizes == size)[0]
    best = np.sort(probs[row])[::-1][:8]
    ax.bar(range(1, 9), best, color=np.where(best >= factor * best[0], "C0", "0.75"))
    ax.axhline(factor * best[0], color="C1", linestyle="--")
    ax.text(8.4, factor * best[0] * 1.1, f"{factor:.3f} times the best", color="C1", ha="right", va="bottom")
    ax.set(title=f"row {row}: {size} labels in the set", xlabel="rank of the label", xticks=range(1, 9))
axes[0].set(yscale="log", ylim=(0.001, 1), ylabel="probability (logarithmic)")
plt.show()

# %%
# Is it any good? ``compare`` measures it beside the others.
scores = [Factor(), "thr", "rank", "aps"]
comparison = rs.compare(logits[held_out], labels[held_out], kind="logits", scores=scores, metrics=[])
print(comparison.to_frame("pandas").round(3).to_string(index=False))
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
comparison.plot(["size"], ax=ax)
ax.set(xlabel="mean number of labels (thick line: standard error)", title="Our score beside three others, alpha = 0.1")
plt.show()
