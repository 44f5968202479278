"""From handwritten digits to prediction sets and a report on them: python examples/digits.py (or cell by cell)."""

# %% A classifier that keeps a quarter of the rows to itself, to calibrate on
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import rankset as rs

X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=1)
model = rs.ConformalClassifier(LogisticRegression(C=1e-4, max_iter=1000), random_state=1).fit(X, y)

# %% Sets that hold the digit with probability at least 0.95
sets = model.predict_set(X_new, alpha=0.05)
print(sets)
print(rs.evaluate(sets, y_new))

# %% A report in four pictures
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
rs.RankDisplay.from_rule(model.rule_, alpha=0.05, ax=axes[0, 0])
rs.CoverageDisplay.from_estimator(model, X_new, y_new, ax=axes[0, 1])
rs.SizeHistogramDisplay.from_predictions(sets, ax=axes[1, 0])
rs.ClassCoverageDisplay.from_predictions(sets, y_new, ax=axes[1, 1])
figure.savefig("digits-report.png")
