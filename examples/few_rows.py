"""
Few rows
========

The guarantee holds for any number of calibration rows, but it is an average over calibrations. The coverage of one rule
varies, the more so the fewer rows calibrate, and ``coverage_band`` says how much. With little data, ``CrossConformal``
lets every row train and calibrate.
"""

# %%
# How much coverage varies at alpha 0.1, by the number of calibration rows.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import rankset as rs

logits, labels = rs.datasets.load("carer")
numbers = [10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000]
bands = [rs.calibrate(logits[:n], labels[:n], kind="logits").coverage_band(0.1) for n in numbers]
for band in bands[::3]:
    print(band)

# %%
# With fewer than 9 rows alpha 0.1 cannot be kept by any threshold: every label is in every set.
print(rs.calibrate(logits[:8], labels[:8], kind="logits").describe(0.1))

# %%
# A small table: two measurements of 178 wines of three kinds. One half is to train and calibrate, the other to test. A
# holdout of a quarter leaves about 22 rows to calibrate; folds use all 89. What is proven for folds is less than
# 1 - alpha, and ``guarantee`` tells it.
X, y = load_wine(return_X_y=True)
splits = {"holdout": rs.Holdout(0.25), "five folds": rs.CrossConformal(5)}
coverage, size = {name: [] for name in splits}, {name: [] for name in splits}
for seed in range(20):
    X_old, X_new, y_old, y_new = train_test_split(X[:, :2], y, test_size=0.5, random_state=seed)
    for name, split in splits.items():
        model = rs.ConformalClassifier(GaussianNB(), split=split, random_state=seed).fit(X_old, y_old)
        sets = model.predict_set(X_new, alpha=0.1)
        coverage[name].append(sets.covers(y_new).mean())
        size[name].append(sets.sizes.mean())
for name in splits:
    print(f"{name:<10} mean coverage {np.mean(coverage[name]):.3f}, mean number of labels {np.mean(size[name]):.2f}")
print(f"proven for the five folds: coverage of at least {model.rule_.guarantee(0.1):.3f}")

# %%
# Left: where the coverage of one rule lies in 90 % of calibrations. Right: twenty random halves of the wines; how
# much folds help depends on the data and the model.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.fill_between(numbers, [band.low for band in bands], [band.high for band in bands], color="C0", alpha=0.3)
left.axhline(0.9, color="0.5", linestyle="--")
left.set(xscale="log", xticks=[10, 30, 100, 300, 1000], xticklabels=["10", "30", "100", "300", "1,000"])
left.set(xlabel="calibration rows", ylabel="coverage", title="With more rows, coverage varies less")
for place, name in enumerate(splits):
    right.plot(size[name], place + np.linspace(-0.15, 0.15, 20), "o", color=f"C{place}", alpha=0.6)
    right.plot([np.mean(size[name])] * 2, [place - 0.25, place + 0.25], color="black")
    right.text(np.mean(size[name]), place + 0.29, f"mean {np.mean(size[name]):.2f}", ha="center")
right.set(yticks=[0, 1], yticklabels=list(splits), ylim=(-0.5, 1.6), xlim=(0.8, 3))
right.set(xlabel="mean number of labels in a set", title="Folds make smaller sets here")
plt.show()
