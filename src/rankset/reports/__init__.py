"""The HTML report: one page with tables and plots. It works without a network connection.

``rankset.report`` and ``rankset.report_scores`` make a study and write its page in one call. This module has the parts:
``study_rules`` and ``study_scores`` return all numbers, ``page`` returns the HTML of a study.
"""

from rankset.reports.page import Report, page
from rankset.reports.results import Study
from rankset.reports.study import study_rules, study_scores
from rankset.reports.write import report, report_scores

__all__ = ["Report", "Study", "page", "report", "report_scores", "study_rules", "study_scores"]
