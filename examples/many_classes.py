"""
A hundred classes
=================

With a hundred classes, scores make sets of different kinds at the same coverage. We calibrate five scores on the same
images (CIFAR-100) and look at all sizes of their sets, not only at the mean.
"""

# %%
# Probabilities of 100 classes for 10,000 test images; 3,000 of them calibrate.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

names = rs.datasets.DATASETS["cifar100"].classes
probs, labels = rs.datasets.load("cifar100")
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:3000], order[3000:]

# %%
# RAPS and SAPS have the parameters of the RANK paper, unless you set others: ``method=rs.Raps(penalty=0.1)``.
found = {}
for method in ("rank", "thr", "aps", "raps", "saps"):
    rule = rs.calibrate(probs[held_out], labels[held_out], method=method, classes=names)
    sets = found[method.upper()] = rule.predict(probs[new], alpha=0.05)
    coverage, size = sets.covers(labels[new]).mean(), sets.sizes.mean()
    print(
        f"{method.upper():<5} coverage {coverage:.3f}, mean number of labels {size:.2f}, largest set {sets.sizes.max()}"
    )

# %%
# The sets of one image.
row = int(np.argmax(found["THR"].sizes == 4))
print("true class:", names[labels[new][row]])
for name, sets in found.items():
    print(f"{name:<5}", ", ".join(sets[row][:8]), "…" if len(sets[row]) > 8 else "")

# %%
# All five cover about 95 %. The sets of RANK have nearly the same size everywhere. Those of THR are small for clear
# images and large for unclear ones; their mean is smallest, but some have many labels.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ordered = sorted(found.items(), key=lambda item: -item[1].sizes.mean())
for place, (_, sets) in enumerate(ordered):
    low, middle, high = np.percentile(sets.sizes, [5, 50, 95])
    ax.plot([low, high], [place, place], color="C0", linewidth=6, alpha=0.35, solid_capstyle="butt")
    ax.plot(middle, place, "|", color="C0", markersize=16, markeredgewidth=2)
    ax.plot(sets.sizes.mean(), place, "o", color="C1")
    ax.annotate(f"mean {sets.sizes.mean():.1f}", (high, place), xytext=(6, 0), textcoords="offset points", va="center")
ax.set(yticks=range(5), yticklabels=[name for name, _ in ordered], ylim=(-0.6, 4.6), xlim=(0, 21))
ax.set_xticks([1, 5, 10, 15, 20])
ax.set(xlabel="number of labels in a set (bar: 90 % of the sets, line: median, dot: mean)")
ax.set(title="Sizes of the sets of five scores, all with a coverage of about 95 %")
plt.show()
