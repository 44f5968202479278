"""For scikit-learn: ``classifier`` (ConformalClassifier) and what it is made of.

classifier       ConformalClassifier · delegated, its methods that the wrapped classifier answers
splits, choice   its options: how rows are shared (Holdout, CrossConformal, GivenSplit) · a choice among scores (Choice)
scorers          SetSize, Coverage, for cross_val_score and searches
cross_rule       CrossRule, the rules of several folds as one · cross_guarantee, what is proven about it
fitting          reading labels, training and calibrating · model_outputs, one column per class · enclosing, warnings
"""
