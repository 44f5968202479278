"""``report_stream``: the page of a stream, written to a file or shown in a notebook."""

from __future__ import annotations

from rankset.reports.page import Report
from rankset.reports.stream_study import study_stream
from rankset.reports.write import Target, check_report, write_study
from rankset.streams.stream import Stream

TITLE = "Prediction sets over time"


def report_stream(stream: Stream, path: Target | None = None, *, title: str = TITLE) -> Report:
    """Write the state of a stream, and how it went over time, as an HTML page.

    The page says how many labels were missed and how near to alpha this must be, shows the alarms with what to do, and
    draws the share of covered labels, the mean set size, the level and the evidence of the alarms over time, with a
    table of all numbers. It is one file that works without a network connection. The stream does not change.

    Parameters
    ----------
    stream : Stream
        A stream, with or without rows and labels.
    path : str or path, optional
        The file to write. Its name must end in ".html". An existing file is replaced, but only after the new file is
        complete. Without a path, nothing is written.
    title : str, default "Prediction sets over time"
        Title of the page.

    Returns
    -------
    Report
        The page, with ``path``, ``html`` and all numbers (``study``). A notebook shows it, or a link to its file.

    Raises
    ------
    KindError
        If ``stream`` is no ``Stream``, or if plotly is not installed.
    FileError
        If the file cannot be written, or if its name does not end in ".html".

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
    >>> for start in range(1000, 2000, 50):
    ...     sets = stream.predict(probs[start : start + 50])
    ...     learned = stream.update(labels[start : start + 50])
    >>> rs.report_stream(stream, title="Emotions of texts")
    Report('Emotions of texts', 1,000 rows, Rank())
    """
    check_report(path)
    return write_study(study_stream(stream), path, title)
