"""The order of the examples in the gallery: from the first steps to special cases."""

from pathlib import Path

ORDER = (
    "digits",
    "text_emotions",
    "image_logits",
    "language_model_options",
    "imbalanced_classes",
    "groups",
    "several_labels",
    "many_classes",
    "comparing_scores",
    "retrieval_recall",
    "segmentation",
    "few_rows",
    "from_csv",
    "report_page",
    "after_deployment",
    "own_score",
)


class GalleryOrder:
    """A sort key for sphinx-gallery: the place of an example in ``ORDER``; others come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """Return the place of an example."""
        name = Path(file).stem
        return ORDER.index(name) if name in ORDER else len(ORDER)
