"""One module per file format; ``rankset.io.read_file`` has the registry that chooses among them by suffix.

A reader of tables is a function of a ``Source`` that returns a ``Table``.
To add a format, write such a function and enter it in ``read_file.FORMATS``.
"""
