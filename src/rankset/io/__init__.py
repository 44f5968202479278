"""Files: model outputs and labels are read, rules and sets are written.

Reading::

    read_file.py          path ──► Columns; the registry of formats (``FORMATS``)
    readers/              one module per format: csv, text, jsonl, npy, npz, xlsx, columnar (parquet, Arrow, Feather)
    source.py             the bytes of a file or of standard input, decompressed, and text as UTF-8
    dialect.py            separator, decimal mark and encoding: what users say, and what is recognised
    recognise.py          the separator of a csv file; encodings.py: its encoding
    notes.py              what was recognised, for whoever listens
    columns.py            what a file holds: columns by name, or one matrix
    parse_scores.py       text cells (csv) as numbers; errors that name row and column
    parse_cells.py        text cells as names and whole numbers
    arrow_to_numpy.py     Arrow columns as NumPy arrays
    pandas_index.py       index columns that pandas wrote
    layout.py             which columns are labels, groups, ids, scores ──► Rows
    rows.py               the rows of a file, with labels and groups spelled like those of a rule
    spelling.py           1, 1.0 and "1" as one name

Writing::

    write_sets.py         sets ──► file; the registry of formats (``FORMATS``)
    writers/              one module per format: csv (also for Excel), jsonl, parquet, npz, xlsx
    sets_table.py         sets as an Arrow table
    atomic.py             complete files or none: the one writer of all output files
    container.py          files of rules (safetensors)

``memory_budget.py`` limits the memory that reading may take.
"""
