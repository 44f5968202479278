"""
The same guarantee for every group
==================================

Exam questions come from three subjects, and a language model is better at one than at another. With one threshold,
coverage is right on average, but too low for the hard subject and too high for the easy one. The subject of a question
is known before it is answered, so it can be a group: with ``PerGroup`` the guarantee holds in every subject.
"""

# %%
# Probabilities of the answers A to D of 574 questions, and the subject of each question.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

subjects = {"marketing": "marketing", "relations": "public relations", "medicine": "college medicine"}
parts = [rs.datasets.load(name) for name in subjects]
probs = np.concatenate([probs for probs, _ in parts])
labels = np.concatenate([labels for _, labels in parts])
subject = np.repeat(list(subjects.values()), [len(labels) for _, labels in parts])

# %%
# One calibration. Groups are passed to ``calibrate`` and to ``predict``.
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[:287], order[287:]
rule = rs.calibrate(probs[held_out], labels[held_out], condition=rs.PerGroup(), groups=subject[held_out])
sets = rule.predict(probs[new], alpha=0.1, groups=subject[new])
print(rule.describe(0.1))
for share in rs.evaluate(sets, labels[new], groups=subject[new]).groups:
    print(f"{share.name:<17} {share.n:3} questions, coverage {share.coverage:.3f}")

# %%
# One run has too few questions per subject to see the difference. Forty random halves show the mean.
coverage = {"one threshold for all subjects": [], "one threshold per subject": []}
for seed in range(40):
    order = np.random.default_rng(seed).permutation(len(labels))
    held_out, new = order[:287], order[287:]
    together = rs.calibrate(probs[held_out], labels[held_out]).predict(probs[new], alpha=0.1)
    rule = rs.calibrate(probs[held_out], labels[held_out], condition=rs.PerGroup(), groups=subject[held_out])
    apart = rule.predict(probs[new], alpha=0.1, groups=subject[new])
    for sets, values in zip((together, apart), coverage.values(), strict=True):
        covers = sets.covers(labels[new])
        values.append([covers[subject[new] == name].mean() for name in subjects.values()])
means = {name: np.mean(values, axis=0) for name, values in coverage.items()}
for name, values in means.items():
    print(f"{name:<31}", dict(zip(subjects.values(), values.round(3).tolist(), strict=True)))

# %%
# Mean coverage of each subject.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), color, marker, side in zip(means.items(), ("C1", "C0"), "os", ("center", "left"), strict=True):
    ax.plot(values, range(3), marker, color=color, markersize=9)
    ax.annotate(name, (values[2], 2), xytext=(0, 12), textcoords="offset points", ha=side, color=color)
ax.axvline(0.9, color="0.5", linestyle="--")
ax.set(yticks=range(3), yticklabels=subjects.values(), ylim=(-0.5, 2.6), xlim=(0.84, 0.96))
ax.set(
    xlabel="mean coverage over 40 random halves (dashed: 1 − alpha)",
    title="One threshold per subject covers every subject",
)
plt.show()
