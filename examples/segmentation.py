"""
Pixels of an image
==================

A model marks the pixels of an image that belong to an object: every pixel is a label of its own, and an image is one
row. How low must the threshold be so that on average 95 % of the pixels of the object are found? The promise is about
images, not about pixels: pixels of one image are not independent, and images are.
"""

# %%
# 400 images of 24 by 24 pixels with a round object, and what a model says about every pixel. The model is blurred, and
# not calibrated.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

rng, side, n = np.random.default_rng(0), 24, 400
across, down = np.meshgrid(np.arange(side), np.arange(side))
truth, probs = np.zeros((n, side, side), bool), np.zeros((n, side, side))
for image in range(n):
    x, y, radius = rng.uniform(6, 18), rng.uniform(6, 18), rng.uniform(2, 6)
    distance = np.hypot(across - x, down - y)
    truth[image] = distance < radius
    seen = np.hypot(across - x - rng.normal(scale=0.8), down - y - rng.normal(scale=0.8))
    noise = rng.normal(scale=0.6, size=(side, side))
    probs[image] = 1 / (1 + np.exp(rng.uniform(0.8, 1.6) * (seen - radius) + noise + 0.5))

# %%
# An image becomes a row with 576 labels. 200 images calibrate. ``Thr`` is one threshold for all pixels; that of
# ``Share`` is higher in images with much to find.
flat, masks = probs.reshape(n, -1), truth.reshape(n, -1)
for method in ("thr", "share"):
    rule = rs.calibrate(flat[:200], masks[:200], target="recall", kind="marginals", method=method)
    sets = rule.predict(flat[200:], alpha=0.05)
    recall = sets.recall(masks[200:]).mean()
    marked, right = sets.sizes.mean(), masks[200:].sum(axis=1).mean()
    print(f"{method:<5} recall {recall:.3f}, {marked:.0f} pixels marked of {right:.0f}")

# %%
# With a threshold of 0.5 much of the object is missed. The lines show the object (blue), what the model marks at 0.5
# (dashed) and what is marked with the promise (orange).
rule = rs.calibrate(flat[:200], masks[:200], target="recall", kind="marginals", method="thr")
print("missed at 0.5:", round(float(np.mean([1 - (flat[i] > 0.5)[masks[i]].mean() for i in range(200, n)])), 3))
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, image in zip(axes, (203, 211, 224, 230), strict=True):
    kept = rule.predict(flat[[image]], alpha=0.05).mask.reshape(side, side)
    ax.imshow(probs[image], cmap="Greys", vmin=0, vmax=1.6)
    ax.contour(truth[image], levels=[0.5], colors="tab:blue", linewidths=2)
    ax.contour(probs[image] > 0.5, levels=[0.5], colors="black", linestyles="--", linewidths=1)
    ax.contour(kept, levels=[0.5], colors="tab:orange", linewidths=2)
    ax.set_axis_off()
figure.suptitle("95 % of the object's pixels, on average over images")
plt.show()

# %%
# The same for a promise about this calibration: with probability 0.95 over calibrations, at most 5 % are missed.
sure = rule.predict(flat[200:], alpha=0.05, confidence=0.95)
print(f"recall {sure.recall(masks[200:]).mean():.3f}, {sure.sizes.mean():.0f} pixels marked")
