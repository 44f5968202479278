"""
Handwritten digits: from data to a report
=========================================

You have a scikit-learn classifier and want to know which labels are plausible for each new row. ``ConformalClassifier``
trains the classifier on some rows and calibrates on the others. Its sets hold the true digit with probability at
least 0.95.
"""

# %%
# A classifier that keeps a quarter of its rows apart, to calibrate on them.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import rankset as rs

X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=1)
model = rs.ConformalClassifier(LogisticRegression(C=1e-4, max_iter=1000), random_state=1).fit(X, y)

# %%
# One set per row. Labels stand in order, most likely first.
sets = model.predict_set(X_new, alpha=0.05)
print(sets)
print(rs.evaluate(sets, y_new))

# %%
# The first four sets with one digit, and the first four with two. One set in twenty may miss the true digit.
shown = [*(sets.sizes == 1).nonzero()[0][:4], *(sets.sizes == 2).nonzero()[0][:4]]
figure, axes = plt.subplots(2, 4, figsize=(7, 4.6), layout="constrained")
for ax, row in zip(axes.flat, shown, strict=True):
    ax.imshow(X_new[row].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[], title=f"set: {' or '.join(map(str, sets[row]))}\ntrue digit: {y_new[row]}")
figure.suptitle("Digits that are hard to tell apart get larger sets")
plt.show()

# %%
# A report in four pictures: ranks of true labels, coverage, set sizes, and the coverage of every digit. At each alpha
# the coverage of one calibration lies in the band with probability 0.9. Here it is below the band for some alphas above
# 0.08. Neighbouring alphas share their rows, so a curve that leaves the band often does so for a range of alphas.
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
rs.RankDisplay.from_rule(model.rule_, alpha=0.05, ax=axes[0, 0])
rs.CoverageDisplay.from_estimator(model, X_new, y_new, ax=axes[0, 1])
rs.SizeHistogramDisplay.from_predictions(sets, ax=axes[1, 0])
rs.ClassCoverageDisplay.from_predictions(sets, y_new, ax=axes[1, 1])
plt.show()
