"""Integration with PyTorch: calibrate, predict and evaluate with a model and a DataLoader.

    rule = rankset.torch.calibrate(model, held_out_loader)
    sets = rankset.torch.predict(rule, model, loader, alpha=0.1)

A batch is a tuple (inputs, labels) or a mapping. The labels of a mapping have the key "labels" or "label". All other
entries of the mapping are passed to the model as keyword arguments. A batch without labels can be the inputs alone.
The model must return the logits, a tuple whose first element is the logits, or an object with an attribute ``logits``.

If your model or your batches are different, pass functions or positions:

* ``forward(model, batch)`` is a function that returns the logits.
* ``labels``, ``groups`` and ``ids`` tell where to find these values in a batch. Each is a key, a position, or a
  function of the batch.

If you pass ``classes=``, labels can be class names or column numbers.

The model runs in evaluation mode, without gradients, on the device of its parameters. Afterwards, the training mode of
every submodule is restored, also after an error. Only the outputs of one batch are in memory at a time.
"""

from rankset.integrations.torch.rules import calibrate, evaluate, predict

__all__ = ["calibrate", "evaluate", "predict"]
