"""The HTML report: one page with tables and plots. It works without a network connection."""

from rankset.report.page import page
from rankset.report.study import Study, study_rules, study_scores

__all__ = ["Study", "page", "study_rules", "study_scores"]
