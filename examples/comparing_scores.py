"""
Comparing scores, for a paper or a decision
===========================================

Which score makes the smallest sets for your model? ``compare`` measures all of them on the same random halves of your rows, with standard errors,
and writes the table for a paper. If you choose a score because of the table, calibrate it on other rows, or use ``auto``, which takes care of that.
"""

# %%
# Logits of a text classifier with 20 newsgroups. A third of the rows is for the comparison, the others are kept for the calibration.
import matplotlib.pyplot as plt

import rankset as rs

logits, labels = rs.datasets.load("news20")
comparison = rs.compare(logits[::3], labels[::3], alpha=0.1, kind="logits", metrics=["SSCV", "singletons"])
print(comparison)

# %%
# Two scores are measured on the same rows, so their difference is known better than each of them.
difference, error = comparison.contrast([1, -1, 0, 0, 0])
print(f"RANK minus THR: {difference:.3f} ± {error:.3f} labels")

# %%
# The same numbers as a data frame, and as a table for LaTeX.
print(comparison.to_frame("pandas")[["score", "coverage", "size", "size error"]].round(3).to_string(index=False))
print(comparison.to_latex(["coverage", "size"]))

# %%
# Thick lines are standard errors, thin lines the standard deviation over the halves.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
comparison.plot(["size", "coverage"], ax=axes)
axes[0].set_xlabel("mean number of labels")
axes[1].set_xlabel("share of sets with the true label")
plt.show()

# %%
# Now calibrate the score of your choice on the rows that were kept.
kept = [row for row in range(len(labels)) if row % 3]
print(rs.calibrate(logits[kept], labels[kept], kind="logits", method=comparison.smallest))
