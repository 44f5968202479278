"""Prediction sets: one set of labels per row."""

from rankset.sets.coverage_law import CoverageLaw
from rankset.sets.prediction_sets import PredictionSets

__all__ = ["CoverageLaw", "PredictionSets"]
