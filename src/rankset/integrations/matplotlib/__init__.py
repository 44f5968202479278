"""Displays in the style of scikit-learn: ``from_…`` computes what is shown, ``plot(ax=)`` draws it.

A display keeps its numbers as attributes and, after drawing, ``ax_`` and ``figure_``. Further keyword arguments of
``plot`` go to the main bars, line or points.
"""
