"""
From a csv file, in Python and in a shell
=========================================

Your model wrote its probabilities into a csv file: one column per class, and one with the true label. Columns are
matched to classes by name, in Python and on the command line, so their order does not matter. Both ways make the
same rule.
"""

# %%
# Two files like yours, in a temporary folder: rows with labels to calibrate on, and new rows.
import contextlib
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
logits, labels = rs.datasets.load("agnews")
topics = list(rs.datasets.DATASETS["agnews"].classes)
rows = pd.DataFrame(rs.softmax(logits), columns=topics)
rows.insert(0, "topic", [topics[label] for label in labels])
rows.insert(0, "article", [f"a{number}" for number in range(len(rows))])
rows = rows.sample(4000, random_state=0)
rows[:1000].to_csv(folder / "labelled.csv", index=False)
rows[1000:].to_csv(folder / "new.csv", index=False)

# %%
# In Python: the columns of the frame are the classes. New rows may have their columns in another order, and sets come
# back as a frame with the same index.
labelled = pd.read_csv(folder / "labelled.csv", index_col="article")
new = pd.read_csv(folder / "new.csv", index_col="article")
rule = rs.calibrate(labelled[topics], labelled["topic"])
sets = rule.predict(new[topics[::-1]], alpha=0.03)
frame = sets.to_frame()
print(frame.head())

# %%
# In a shell: the same with two commands. ``--label`` and ``--id`` name the columns of labels and of rows' names. Here
# ``CliRunner`` of click runs them as a shell would.
commands = [
    "rankset calibrate labelled.csv --label topic --id article -o rule.rankset",
    "rankset predict rule.rankset new.csv --alpha 0.03 --id article -o sets.csv",
]
for command in commands:
    with contextlib.chdir(folder):
        done = CliRunner().invoke(rankset, command.split()[1:], catch_exceptions=False)
    print(f"$ {command}\n{done.output}")
written = pd.read_csv(folder / "sets.csv", index_col="article")
print(written.head())
print("the same sizes as in Python:", bool((written["size"] == frame["size"]).all()))
temporary.cleanup()

# %%
# Which topics stand together in a set?
mask = sets.to_mask_frame()[topics]
together = mask.groupby(frame["top"]).mean().loc[topics]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.imshow(together, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for row, column in [(row, column) for row in range(4) for column in range(4)]:
    share = together.iloc[row, column]
    ax.text(column, row, f"{share:.0%}", ha="center", va="center", color="white" if share > 0.6 else "black")
ax.set(xticks=range(4), xticklabels=topics, yticks=range(4), yticklabels=topics)
ax.set(
    xlabel="topic in the set",
    ylabel="most likely topic",
    title="How often a topic is in the set, by the most likely topic",
)
plt.show()
