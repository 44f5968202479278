"""RANK or auto? Mean set sizes on handwritten digits, over twenty random splits: python examples/rank_or_auto.py"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import rankset as rs

ALPHA = 0.05
METHODS = {"rank": "rank", "thr": "thr", "auto": rs.Choice("auto", alpha=ALPHA)}

sizes, coverages = {name: [] for name in METHODS}, {name: [] for name in METHODS}
for seed in range(20):
    X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), random_state=seed)
    for name, method in METHODS.items():
        model = rs.ConformalClassifier(GaussianNB(), method=method, split=rs.Holdout(0.5), random_state=seed).fit(X, y)
        sets = model.predict_set(X_new, ALPHA)
        sizes[name].append(sets.sizes.mean())
        coverages[name].append(sets.covers(y_new).mean())
for name in METHODS:
    print(f"{name:<5} {np.mean(sizes[name]):.2f} labels, coverage {np.mean(coverages[name]):.3f}")
