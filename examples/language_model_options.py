"""
Answers of a language model
===========================

A language model (LLaMA-13B) gives a probability to each of the four answers A, B, C and D of an exam question (MMLU).
It is better at some subjects than at others. The sets show it: they are small where the model is often right, and large
where it is not.
"""

# %%
# Questions of three subjects. There are few, so ``compare`` measures coverage and size on twenty random halves.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

subjects = {"marketing": "marketing", "relations": "public relations", "medicine": "college medicine"}
data = {name: rs.datasets.load(name) for name in subjects}
points = []
for name, (probs, labels) in data.items():
    measured = rs.compare(probs, labels, alpha=0.1, scores=["thr"], metrics=[]).to_frame("pandas").loc[0]
    right = (probs.argmax(axis=1) == labels).mean()
    points.append((right, measured["size"], measured["size error"]))
    print(
        f"{subjects[name]:<17} right {right:.0%}, coverage {measured['coverage']:.3f}, "
        f"mean number of answers {measured['size']:.2f} ± {measured['size error']:.2f}"
    )

# %%
# Now all subjects together, half of the questions to calibrate. The size of a set says how far to trust the model's
# first answer: with one answer in the set it is nearly always right, with three or four in less than half of the cases.
probs, labels = (np.concatenate(parts) for parts in zip(*data.values(), strict=True))
order = np.random.default_rng(0).permutation(len(labels))
held_out, new = order[: len(order) // 2], order[len(order) // 2 :]
sets = rs.calibrate(probs[held_out], labels[held_out], method="thr", classes=list("ABCD")).predict(
    probs[new], alpha=0.1
)
first_right = probs[new].argmax(axis=1) == labels[new]
by_size = {int(size): first_right[sets.sizes == size] for size in np.unique(sets.sizes)}
for size, hits in by_size.items():
    print(f"sets of {size}: {len(hits):3} questions, the first answer is right for {hits.mean():.0%}")
print(f"coverage over all {len(new)} questions: {sets.covers(labels[new]).mean():.3f}")

# %%
# Left: one point per subject, with its standard error. Right: one bar per size of the set.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for (accuracy, size, error), title in zip(points, subjects.values(), strict=True):
    left.errorbar(accuracy, size, error, fmt="o", color="C0", capsize=3)
    left.annotate(title, (accuracy, size), xytext=(8, 6), textcoords="offset points")
left.set(
    xlim=(0.25, 0.85),
    ylim=(1, 4),
    xlabel="share of questions the model gets right",
    ylabel="mean number of answers in a set",
)
left.set_title("Better subjects have smaller sets")
bars = right.bar(list(by_size), [hits.mean() for hits in by_size.values()], color="C0")
right.bar_label(bars, [f"{len(hits)}\nquestions" for hits in by_size.values()], padding=2)
right.set(ylim=(0, 1.15), xticks=list(by_size), xlabel="answers in the set", ylabel="share with the first answer right")
right.set_title("Small sets: the first answer is mostly right")
plt.show()
