"""Options of an ONNX model; this module imports nothing heavy."""

from typing import Final, Literal

InputType = Literal["float32", "float64"]
INPUT_TYPES: Final[tuple[InputType, ...]] = ("float32", "float64")
"""Element types of the rows."""
OPSETS: Final = range(18, 26)
"""Versions of the standard operators for which graphs are made."""
