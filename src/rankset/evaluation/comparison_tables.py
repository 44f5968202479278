"""``ComparisonTables``: data frames, LaTeX and pictures of comparisons at one alpha or at several alphas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankset.evaluation.comparison_plot import draw
from rankset.evaluation.comparison_table import as_latex, long_columns, wide_columns
from rankset.inputs.frames import ARRAY

if TYPE_CHECKING:
    from rankset.evaluation.comparison import Comparison


class ComparisonTables:
    """Methods that ``Comparison`` and ``Comparisons`` share."""

    _with_alpha = False
    """Whether tables have a column with alpha."""

    @property
    def _parts(self) -> Sequence[Comparison]:
        """The comparison of each alpha."""
        raise NotImplementedError

    def to_frame(self, backend: str | None = None, *, long: bool = False) -> Any:  # noqa: ANN401
        """Return a data frame with one row per score, and one for ``auto`` if it was compared.

        With several alphas, there are as many rows for every alpha, and a column "alpha".

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.
        long
            If True, the frame has one row per score and metric, with the columns "alpha", "score", "metric", "mean",
            "error" and "spread".

        Returns
        -------
        data frame
            The column "score" with short names, and three columns for every metric: the mean, the standard error, and
            the standard deviation over the splits. The error is NaN if it is not available, and infinite if repeats=1.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> comparison = rs.compare(probs, labels, repeats=2)
        >>> comparison.to_frame("pandas").columns[:4].tolist()
        ['score', 'coverage', 'coverage error', 'coverage spread']
        >>> comparison.to_frame("pandas")["score"].tolist()
        ['RANK', 'THR', 'APS', 'RAPS(0.2, 2)', 'SAPS', 'auto']
        """
        columns = long_columns if long else wide_columns
        return ARRAY.filled(columns(self._parts, with_alpha=self._with_alpha), backend)

    def to_latex(self, metrics: Iterable[str] | None = None, *, digits: int = 3) -> str:
        r"""Return a table for LaTeX: a ``tabular`` of the package booktabs, with standard errors.

        Parameters
        ----------
        metrics
            Names of the metrics to show, in this order. By default, those that ``compare`` was asked for with
            ``metrics=``. If it measured all metrics: coverage, SSCV, size, singletons, worst class and your own
            measures.
        digits
            Number of decimals.

        Returns
        -------
        str
            One row per score. Special characters are escaped.

        Raises
        ------
        RuleError
            If a metric was not measured.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> comparison = rs.compare(probs, labels, scores=[rs.Rank(), rs.Thr()])
        >>> print(comparison.to_latex(["coverage", "size"], digits=2))
        % needs \usepackage{booktabs}
        \begin{tabular}{lrr}
        \toprule
        score & coverage & size \\
        \midrule
        RANK & $0.91 \pm 0.01$ & $2.74 \pm 0.22$ \\
        THR & $0.90 \pm 0.01$ & $2.29 \pm 0.14$ \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        return as_latex(self._parts, metrics, digits, with_alpha=self._with_alpha)

    def plot(self, metrics: Iterable[str] | None = None, *, ax: Any = None) -> Any:  # noqa: ANN401
        """Draw the means of all scores with their standard errors and their spread over the splits.

        Parameters
        ----------
        metrics
            Names of the metrics to draw, one panel for each. Default: size and coverage; with a target size and risk.
        ax
            Matplotlib Axes to draw on, one or a list with one per metric. Default: the axes of a new figure.

        Returns
        -------
        matplotlib Figure
            A thick line is one standard error on each side of the mean. A thin line with caps is one standard
            deviation over the splits. A dashed line is the target, 1 - alpha; for risk it is alpha. Each alpha
            has its own colour.

        Raises
        ------
        KindError
            If matplotlib is not installed, or the number of axes is not the number of metrics.
        RuleError
            If a metric was not measured.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> figure = rs.compare(probs, labels, repeats=2).plot()
        >>> [ax.get_xlabel() for ax in figure.axes]
        ['size', 'coverage']
        """
        return draw(self._parts, metrics, ax)
