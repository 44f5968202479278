"""
Comparing scores, for a paper or a decision
===========================================

Which score makes the smallest sets for your model? ``compare`` measures all of them on the same random halves of your
rows, with standard errors, and writes the table for a paper. If you choose a score because of the table, calibrate it
on other rows. Or use ``auto``, which divides the rows by itself.
"""

# %%
# Logits of a text classifier with 20 newsgroups. 2,500 rows are for the comparison, the others are kept to calibrate.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

logits, labels = rs.datasets.load("news20")
order = np.random.default_rng(0).permutation(len(labels))
some, kept = order[:2500], order[2500:]
comparison = rs.compare(logits[some], labels[some], alpha=0.1, kind="logits", metrics=["singletons"], repeats=10)
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
axes[1].set_xlabel("coverage (dashed: 1 - alpha)")
figure.suptitle("THR and auto make the smallest sets; all scores cover about 90 %")
plt.show()

# %%
# Now calibrate the score of your choice on the rows that were kept.
print(rs.calibrate(logits[kept], labels[kept], kind="logits", method=comparison.smallest))
