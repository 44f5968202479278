"""For PyTorch: from a model and a loader of batches to a rule, or to sets. Holds the outputs of one batch at a time.

    rule = rankset.torch.calibrate(model, held_out_loader)
    sets = rankset.torch.predict(rule, model, loader, alpha=0.1)

A batch is a tuple (inputs, labels), or a mapping with "labels" whose other entries are passed to the model by name.
Without labels it may be the inputs alone. The model returns logits, a tuple that begins with them, or an object with an
attribute ``logits``.

If that does not fit, pass ``forward``, a function of model and batch that returns the logits, and ``labels``,
``groups`` and ``ids``, which say where these are in a batch: a key, a position, or a function of the batch. With
``classes=`` labels may be names or column numbers.

The model runs in evaluation mode, without gradients, on the device of its parameters. Afterwards every submodule is in
the mode it was in before, also after an error.
"""

from rankset.integrations.torch.rules import calibrate, evaluate, predict

__all__ = ["calibrate", "evaluate", "predict"]
