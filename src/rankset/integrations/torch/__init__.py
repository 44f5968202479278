"""Integration with PyTorch: calibrate, predict and evaluate with a model and a DataLoader.

    rule = rankset.torch.calibrate(model, held_out_loader)
    sets = rankset.torch.predict(rule, model, loader, alpha=0.1)

    rule = rankset.torch.auto(model, held_out_loader, alpha=0.1)            # fits a score: sets are often smaller
    print(rankset.torch.compare(model, held_out_loader, alpha=0.1))         # all scores on the same rows
    score = rankset.torch.choose(["rank", "thr"], model, other_loader)      # the better one, to calibrate on other rows

    stream = rankset.Stream(rule, alpha=0.1)                                # after deployment: rows that keep coming
    for sets in rankset.torch.follow(stream, model, loader):                # predicts a batch, learns from its labels
        ...

A batch is a tuple (inputs, labels) or a mapping. The labels of a mapping have the key "labels" or "label". All other
entries of the mapping are passed to the model as keyword arguments. A batch without labels can be the inputs alone.
The model must return the logits, a tuple whose first element is the logits, or an object with an attribute ``logits``.

If your model or your batches are different, pass functions or positions:

* ``forward(model, batch)`` is a function that returns the logits.
* ``labels``, ``groups``, ``ids`` and ``weights`` tell where to find these values in a batch. Each is a key, a
  position, or a function of the batch.

If you pass ``classes=``, labels can be class names or column numbers.

The model runs in evaluation mode, without gradients, on the device of its parameters. Afterwards, the training mode of
every submodule is restored, also after an error. ``calibrate``, ``predict`` and ``evaluate`` hold the outputs of one
batch at a time in memory; a stream keeps those of rows that wait for their labels. ``auto``, ``compare`` and ``choose``
hold the outputs of all batches.
"""

from rankset.integrations.torch.rules import calibrate, evaluate, predict
from rankset.integrations.torch.scores import auto, choose, compare
from rankset.integrations.torch.streams import follow

__all__ = ["auto", "calibrate", "choose", "compare", "evaluate", "follow", "predict"]
