"""New rows that come from another source: estimates of weights, from rows of their own.

``covariate`` and ``labels`` look at outputs of new rows, whose labels are not known, and at older rows. What they
return belongs into ``rankset.calibrate(..., weights=...)`` or ``condition=``, with *other* calibration rows.

covariate_shift    covariate(source, target), and CovariateShift: weights of rows
domain_fit         the logistic regression behind it, cross-fitted
features           what it sees of a row
label_shares       labels(fit rows, their labels, target), and EstimatedLabelShift: factors of classes
label_fit          the numbers behind it
recalibrated_rows  probabilities with a temperature and biases of classes, fitted on labelled rows
shares_by_em       shares of classes in new rows: the most likely ones
factors_by_bbse    factors that bring mean probabilities to those of new rows: the check
mixture_check      whether outputs of new rows can be a mix of those of labelled rows
share_errors       how much both vary by chance
ages               ageing: weights that fall with age
effective          effective_rows of weights
rows_in            what users pass
"""

from rankset.shift.ages import ageing
from rankset.shift.covariate_shift import CovariateShift, covariate
from rankset.shift.effective import effective_rows
from rankset.shift.label_shares import EstimatedLabelShift, labels

__all__ = ["CovariateShift", "EstimatedLabelShift", "ageing", "covariate", "effective_rows", "labels"]
