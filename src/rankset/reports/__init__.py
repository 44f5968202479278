"""The HTML report: one page with tables and plots. It works without a network connection.

``rankset.report``, ``rankset.report_scores`` and ``rankset.report_stream`` make a study and write its page in one call.
This module has the parts: ``study_rules``, ``study_scores`` and ``study_stream`` return all numbers, ``page`` returns
the HTML of a study.
"""

from rankset.reports.page import Report, page
from rankset.reports.results import Study
from rankset.reports.stream_study import study_stream
from rankset.reports.study import study_rules, study_scores
from rankset.reports.write import report, report_scores
from rankset.reports.write_stream import report_stream

__all__ = [
    "Report",
    "Study",
    "page",
    "report",
    "report_scores",
    "report_stream",
    "study_rules",
    "study_scores",
    "study_stream",
]
