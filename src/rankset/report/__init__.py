"""The HTML report: one page with figures and pictures that loads nothing from outside."""

from rankset.report.page import page
from rankset.report.study import Study, study_rules, study_scores

__all__ = ["Study", "page", "study_rules", "study_scores"]
