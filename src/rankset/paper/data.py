"""Score matrices that come with the package; ``data/README.md`` beside them tells where each is from."""

from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from rankset.errors import RuleError

MMLU_SUBJECTS = ("marketing", "college_medicine", "public_relations")


def mmlu(subject: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """LLaMA-13B's probabilities (n, 4) and the right answers for one of the ``MMLU_SUBJECTS``.

    >>> probs, labels = mmlu("marketing")
    >>> probs.shape
    (260, 4)
    """
    if subject not in MMLU_SUBJECTS:
        raise RuleError.option("subject", subject, MMLU_SUBJECTS)
    with as_file(files("rankset.paper") / "data" / "mmlu_llama13b.npz") as path, np.load(path) as arrays:
        return arrays[f"{subject}_scores"], arrays[f"{subject}_labels"].astype(np.int64)
