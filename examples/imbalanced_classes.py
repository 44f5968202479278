"""
Rare classes
============

Of a hundred texts, 35 show joy and 3 show surprise. A guarantee over all texts can hold although many texts of a rare
class are missed. With ``PerLabel`` every class has a threshold of its own, and the guarantee holds for every class.
Sets become larger.
"""

# %%
# Logits for texts of six emotions. The numbers of texts differ by a factor of ten.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

emotions = rs.datasets.DATASETS["carer"].classes
logits, labels = rs.datasets.load("carer")
print(dict(zip(emotions, np.bincount(labels).tolist(), strict=True)))
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:1000], order[1000:]

# %%
# The same rows calibrate both rules; only the condition differs.
conditions = {"one threshold for all classes": rs.Marginal(), "one threshold per class": rs.PerLabel()}
found = {}
for name, condition in conditions.items():
    rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", classes=emotions, condition=condition)
    found[name] = rule.predict(logits[new], alpha=0.1)
    result = rs.evaluate(found[name], labels[new])
    print(
        f"{name}: coverage {result.coverage:.3f}, mean number of labels {result.mean_size:.2f}, "
        f"lowest class {result.worst_class.name} with {result.worst_class_coverage:.3f}"
    )

# %%
# Every class needs calibration rows of its own. The fewer there are, the more its coverage varies from calibration to
# calibration: ``coverage_band`` says how much. With fewer than 9 rows, at alpha 0.1, the label is in every set.
for emotion in ("joy", "surprise"):
    print(emotion, rule.coverage_band(0.1, label=emotion))

# %%
# The guarantee is about the mean over calibrations, so we also look at forty random halves.
for name, condition in conditions.items():
    coverage = []
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(len(labels))
        old, other = order[:1000], order[1000:]
        rule = rs.calibrate(logits[old], labels[old], kind="logits", condition=condition)
        covers = rule.predict(logits[other], alpha=0.1).covers(labels[other])
        coverage.append([covers[labels[other] == label].mean() for label in range(6)])
    print(f"{name}:", dict(zip(emotions, np.mean(coverage, axis=0).round(2).tolist(), strict=True)))

# %%
# The first of these halves. Points are the coverage of each class on 1,000 test rows, lines the interval that so many
# rows allow. With so few rows of love and surprise, one calibration can still be below 0.9 for them.
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharex=True, layout="constrained")
for ax, (name, sets) in zip(axes, found.items(), strict=True):
    rs.ClassCoverageDisplay.from_predictions(sets, labels[new], sort=False, ax=ax)
    ax.set_title(f"{name}:\n{sets.sizes.mean():.2f} labels on average", pad=28)
axes[1].set_ylabel("")
plt.show()
