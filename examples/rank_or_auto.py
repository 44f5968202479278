"""RANK or auto? Mean set sizes on handwritten digits, over twenty random splits: python examples/rank_or_auto.py"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankset as rs

CASES = {
    "naive Bayes": (GaussianNB(), 0.05),
    "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()), 0.1),
}

for title, (estimator, alpha) in CASES.items():
    for name, method in {"rank": "rank", "thr": "thr", "auto": rs.Choice("auto", alpha=alpha)}.items():
        found = []
        for seed in range(20):
            X, X_new, y, y_new = train_test_split(*load_digits(return_X_y=True), random_state=seed)
            model = rs.ConformalClassifier(estimator, method=method, split=rs.Holdout(0.5), random_state=seed).fit(X, y)
            sets = model.predict_set(X_new, alpha)
            found.append((sets.sizes.mean(), sets.covers(y_new).mean()))
        size, coverage = np.mean(found, axis=0)
        print(f"{title}, alpha {alpha}: {name:<5} {size:.2f} labels, coverage {coverage:.3f}")
