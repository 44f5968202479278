"""Whether ids are texts or numbers in a workbook: as in the files of scores, and the same for every file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankset.io.layout import Layout
from rankset.io.read_file import SEPARATED, WORKBOOKS, is_of
from rankset.io.writers.csv import Style


def with_ids(style: Style, layout: Layout, files: Sequence[str]) -> Style:
    """Return the style with the column of ids of these files of scores.

    Ids of text files (csv) are texts: 200 in one file and 007 in another are the same kind of id. Other files have
    types, which stay. The cells of workbooks are read as texts; ids that are numbers there are written as numbers.
    """
    if layout.identity is None or all(is_of(file, WORKBOOKS, layout.file_format) for file in files):
        return style
    of_text = any(is_of(file, SEPARATED, layout.file_format) for file in files)
    return replace(style, ids=layout.identity, ids_of_text=of_text)
