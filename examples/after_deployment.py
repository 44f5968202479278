"""
After deployment
================

A model is trained once, and the world goes on. A rule that was calibrated once then covers less and less, and nobody
notices. A ``Stream`` calibrates on the last labelled rows, moves its level by what was missed, and raises alarms.
"""

# %%
# 25,000 half hours of an electricity market, in the order of time. A model that was trained on earlier ones says how
# likely it is that the price is above its mean of the last day. The first 1,000 rows calibrate a rule for 90 %.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rankset as rs

probs, labels = rs.datasets.load("electricity")
rule = rs.calibrate(probs[:1000], labels[:1000])
fixed = rule.predict(probs[1000:], alpha=0.1).covers(labels[1000:])
for part in np.split(fixed, 4):
    print(f"the fixed rule covers {part.mean():.1%} of {len(part):,} rows")

# %%
# The same rule in a stream: 50 rows are predicted, and then their labels come. Coverage is that of the sets as they
# were given out, before the labels were known.
stream = rs.Stream(rule, alpha=0.1, outputs=probs[:1000])
covered = []
for start in range(1000, 25_000, 50):
    sets = stream.predict(probs[start : start + 50])
    covered.append(sets.covers(labels[start : start + 50]))
    stream.update(labels[start : start + 50])
followed = np.concatenate(covered)
for part in np.split(followed, 4):
    print(f"the stream covers {part.mean():.1%} of {len(part):,} rows")

# %%
# What is proven about this: the miss rate over all rows with labels is near alpha, for every sequence of rows. Nothing
# is proven about a short period, a class, or a single row.
print(f"miss rate {stream.miss_rate:.4f}; proven: at most {stream.bound:.4f} away from {stream.alpha}")

# %%
# Two alarms are raised within a day: half hours resemble the half hours before them, so rows are not exchangeable even
# before they drift. The alarm about coverage says that sets missed too much for a while, before the level followed.
for alarm in stream.alarms:
    print(f"{alarm.name}: raised at row {alarm.at:,}, since about row {alarm.since:,}. {alarm.advice}")

# %%
# Coverage of 1,000 rows at a time: the rule falls, the stream stays.
figure, ax = plt.subplots(figsize=(7.5, 3.5), layout="constrained")
ends = np.arange(1000, 24_001, 1000)
ax.plot(ends, [part.mean() for part in np.split(fixed, 24)], "o-", color="C3", label="the rule, calibrated once")
ax.plot(ends, [part.mean() for part in np.split(followed, 24)], "o-", color="C0", label="the stream")
ax.axhline(0.9, color="0.5", linestyle="--")
ax.set(xlabel="rows", ylabel="coverage of 1,000 rows", ylim=(0.5, 1))
ax.legend(loc="lower left")
plt.show()

# %%
# The stream over time. The model gets worse, so sets must get larger to be right as often: it is time to train anew.
# ``report_stream`` writes the same as a page for others, with the alarms in words.
rs.StreamDisplay.from_stream(stream)
with tempfile.TemporaryDirectory() as folder:
    print(rs.report_stream(stream, Path(folder) / "stream.html").path.name)
plt.show()
