"""One module per file format of sets; ``rankset.io.write_sets`` has the registry that chooses among them by suffix.

To add a format, write a subclass of ``base.Writer`` and enter it in ``write_sets.FORMATS``.
"""
