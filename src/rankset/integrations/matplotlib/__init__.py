"""Displays in the style of scikit-learn: the methods ``from_…`` compute the numbers, and ``plot(ax=)`` draws them.

The numbers are attributes of the display. After drawing, it also has the attributes ``ax_`` and ``figure_``. Other
keyword arguments of ``plot`` are passed to the matplotlib method that draws the bars, the line or the points.
"""
