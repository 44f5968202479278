"""A report on sets: one page that needs nothing from outside, to be sent to a colleague."""

from rankset.report.page import page
from rankset.report.study import Study, of_rules, studied

__all__ = ["Study", "of_rules", "page", "studied"]
