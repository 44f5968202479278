"""
Enough of the relevant documents
================================

A search returns candidates with similarities, and a later step reads as few of them as possible. How many must it read
so that nine of ten relevant documents are among them? Queries have different numbers of candidates, and several
relevant ones: a row with several labels, whose candidates differ from row to row.
"""

# %%
# 600 queries with 20 to 60 candidates each. A similarity is a noisy view of how relevant a document is. In a real
# search the similarities come from your index, and the relevant documents from judged queries.
import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

rng = np.random.default_rng(0)
queries, relevant = [], []
for _ in range(600):
    interest = rng.normal(size=rng.integers(20, 61))
    queries.append(interest + rng.normal(scale=rng.uniform(0.3, 1.2), size=len(interest)))
    relevant.append(np.flatnonzero(interest > 1.3).tolist())
print("relevant documents per query:", np.bincount([len(found) for found in relevant]).tolist())

# %%
# ``Ragged`` holds rows of different lengths. Similarities are no probabilities: ``kind="decision"``. The target is
# recall: the expected share of relevant documents that is left out is at most 0.1. Queries without a relevant document
# are set aside.
rule = rs.calibrate(rs.Ragged.of(queries[:300]), relevant[:300], target=rs.Recall(), kind="decision", method="thr")
print(rule)
print(rule.describe(0.1))

# %%
# 300 new queries. RANK reads the same number of documents for every query; THR reads more where many are similar.
new, truth = rs.Ragged.of(queries[300:]), relevant[300:]
by_rank = rs.calibrate(rs.Ragged.of(queries[:300]), relevant[:300], target=rs.Recall(), kind="decision", method="rank")
found = {"THR": rule.predict(new, alpha=0.1), "RANK": by_rank.predict(new, alpha=0.1)}
for name, sets in found.items():
    recall = np.nanmean(sets.recall(truth))
    print(f"{name:<4} reads {sets.sizes.mean():.1f} of {new.counts.mean():.1f} documents, recall {recall:.3f}")

# %%
# What a smaller share of missed documents costs.
levels = np.linspace(0.02, 0.4, 20)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, one in (("THR", rule), ("RANK", by_rank)):
    sizes = [one.predict(new, alpha=f"{level:.3f}").sizes.mean() for level in levels]
    ax.plot(1 - levels, sizes, label=name)
ax.axhline(new.counts.mean(), color="gray", linestyle="--", label="all candidates")
ax.set(xlabel="promised share of relevant documents", ylabel="documents to read per query")
ax.set(title="How many documents must be read")
ax.legend()
plt.show()
