"""
Emotions of texts
=================

A text classifier gives six logits per text, one per emotion. Some texts are clear, others could be joy or love. We turn
the logits into sets of emotions that hold the true one with probability at least 0.95, and look at the p-values behind
a few sets. The data are logits of 2,000 test texts (CARER); the texts are not part of the package.
"""

# %%
# One half of the rows calibrates, the other half stands for new texts. With ``classes=`` the sets contain names.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

emotions = rs.datasets.DATASETS["carer"].classes
logits, labels = rs.datasets.load("carer")
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:1000], order[1000:]

rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", classes=emotions, method="thr")
sets = rule.predict(logits[new], alpha=0.05)
print(rule.describe(alpha=0.05))
print(sets)

# %%
# The size of a set says how clear a text is. Texts whose set has one emotion need no second look; the others can go to
# a person. The guarantee is about all texts together, not about each size.
covered = sets.covers(labels[new])
for size in np.unique(sets.sizes):
    rows = sets.sizes == size
    print(f"sets of {size}: {rows.sum():3} texts, the true emotion is inside for {covered[rows].mean():.0%}")
print(f"all: coverage {covered.mean():.3f}, mean number of emotions {sets.sizes.mean():.2f}")

# %%
# Every label has a p-value. A set keeps the labels whose p-value is larger than alpha.
p_values = rule.p_values(logits[new])
shown = [np.flatnonzero(sets.sizes == size)[1] for size in (1, 2, 3)]
figure, axes = plt.subplots(1, 3, figsize=(8, 3.6), sharex=True, sharey=True, layout="constrained")
for ax, row in zip(axes, shown, strict=True):
    kept = p_values[row] > 0.05
    ax.barh(emotions, p_values[row], color=np.where(kept, "C0", "0.75"))
    for place, p in enumerate(p_values[row]):
        true = "  (true)" if place == labels[new][row] else ""
        ax.text(max(p, 0.05) + 0.02, place, f"{p:.3f}{true}", va="center", weight="bold" if true else "normal")
    ax.axvline(0.05, color="C1", linestyle="--")
    ax.set(xlim=(0, 0.85), xticks=[0, 0.2, 0.4, 0.6], xlabel="p-value", title=f"text {row}: set of {kept.sum()}")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
figure.suptitle("Blue: p-value above alpha = 0.05 (dashed line), the emotion is in the set")
plt.show()
