"""
Logits of images: coverage at every alpha
=========================================

A network was trained on pictures of clothes (Fashion-MNIST), and you have its logits for 10,000 test images. One
calibration serves every alpha: you choose alpha when you predict. Here we look at what each alpha costs, in labels per
set, and whether coverage is what was asked for.
"""

# %%
# Calibrate on 2,000 images. The guarantee needs rows that did not train the network, and nothing else about it.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

names = rs.datasets.DATASETS["fmnist"].classes
logits, labels = rs.datasets.load("fmnist")
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:2000], order[2000:]
rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", classes=names)

# %%
# The same rule at three levels: what it keeps, and what that gives on the other 8,000 images.
for alpha in (0.01, 0.05, 0.1):
    sets = rule.predict(logits[new], alpha)
    print(f"alpha {alpha}: {rule.describe(alpha)}")
    print(f"    coverage {sets.covers(labels[new]).mean():.4f}, mean number of labels {sets.sizes.mean():.2f}")

# %%
# A few sets at alpha 0.01.
for row, kept in zip(new[:5], rule.predict(logits[new[:5]], alpha=0.01), strict=True):
    print(f"{names[labels[row]]:<12} in the set: {', '.join(kept)}")

# %%
# Coverage follows 1 - alpha. At each alpha it lies in the band for 90 % of random splits of these sizes; this split is
# at the upper edge of the band, or a little above it. A smaller alpha needs more labels, and RANK adds them rank by
# rank: that makes the steps. Where alpha is larger than the error rate of the network, some sets are empty, and the
# mean is below one label.
alphas = np.arange(1, 41) / 200
p_values = rule.p_values(logits[new])
sizes = [(p_values > alpha).sum(axis=1).mean() for alpha in alphas]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
rs.CoverageDisplay.from_rule(rule, logits[new], labels[new], alphas=alphas, ax=left)
left.set(
    title="Coverage follows 1 - alpha",
    xlabel="alpha, the allowed error rate",
    ylabel="share of sets with the true label",
)
right.plot(alphas, sizes, color="C0")
right.axhline(1, color="0.5", linestyle="--", linewidth=1.2)
right.set(
    title="A smaller alpha needs more labels", xlabel="alpha, the allowed error rate", ylabel="mean number of labels"
)
right.set_ylim(bottom=0)
left.legend(loc="lower left", fontsize="small")
for ax in (left, right):
    ax.set_xticks([0, 0.05, 0.1, 0.15, 0.2])
plt.show()
