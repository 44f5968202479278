"""Which compiled loops have run in this process."""

LIST_ROWS, READ_LABELS, READ_ENTRIES, SORT_WORDS = "list_rows", "read_labels", "read_entries", "sort_words"
"""Names of the loops."""

LOADED: set[tuple[str, str]] = set()
"""Loops that have run in this process, with the dtype of their rows: they are loaded and compiled for this dtype."""
