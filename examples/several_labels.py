"""
Several labels per row: emotions of comments
============================================

A comment can be sad *and* grateful. A model for several labels returns one probability per label. What should be
promised? With ``Recall`` a set contains on average at least 90 % of a row's labels, with ``AllLabels`` it contains all
of them in at least 90 % of rows.
"""

# %%
# Probabilities of 28 emotions for 4,000 comments. Half of them calibrate.
import warnings

import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

probs, labels = rs.datasets.load("goemotions")
classes = rs.datasets.SEVERAL_LABELS["goemotions"].classes
old, new = slice(0, 2000), slice(2000, 4000)
rule = rs.calibrate(probs[old], labels[old], target="recall", kind="marginals", classes=classes)
sets = rule.predict(probs[new], alpha=0.1)
for row in np.flatnonzero(labels[new].sum(axis=1) > 1)[:3]:
    true = [classes[k] for k in np.flatnonzero(labels[new][row])]
    print(f"set: {', '.join(sets[row])}\ntrue: {', '.join(true)}\n")

# %%
# Recall, the share of rows with all their labels, and what both cost in labels. ``confidence`` makes the promise hold
# for this calibration with probability 0.95, not only on average over calibrations.
every = rs.calibrate(probs[old], labels[old], target="all", kind="marginals", classes=classes)
print("target       promise      recall  all labels  labels per set")
for one in (rule, every):
    for name, options in (("on average", {}), ("confidence", {"confidence": 0.95})):
        found = rs.evaluate(one.predict(probs[new], alpha=0.1, **options), labels[new])
        numbers = f"{found.recall:.3f}   {found.all_labels:.3f}       {found.mean_size:.2f}"
        print(f"{one.target!r:<11}  {name:<11}  {numbers}")

# %%
# What is promised follows 1 - alpha. The dotted line is what is not promised. The band is what sampling explains.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
rs.CoverageDisplay.from_rule(rule, probs[new], labels[new], ax=axes[0])
rs.CoverageDisplay.from_rule(every, probs[new], labels[new], ax=axes[1])
axes[0].set_title("target Recall()")
axes[1].set_title("target AllLabels()")
plt.show()

# %%
# An average hides rare labels: with one threshold most of them are missed. ``PerLabel`` gives every label a threshold
# of its own, and larger sets.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", rs.RanksetWarning)  # some emotions have fewer than nine calibration rows
    options = {"target": "recall", "kind": "marginals", "classes": classes, "condition": rs.PerLabel()}
    each = rs.calibrate(probs[old], labels[old], **options)
    by_label = each.predict(probs[new], alpha=0.1)
figure, axes = plt.subplots(1, 2, figsize=(11, 7), sharex=True, layout="constrained")
for ax, some, title in ((axes[0], sets, "one threshold"), (axes[1], by_label, "PerLabel()")):
    rs.ClassCoverageDisplay.from_predictions(some, labels[new], sort=False, ax=ax)
    ax.set_title(f"{title}: {some.sizes.mean():.1f} labels per set", pad=26)
plt.show()
