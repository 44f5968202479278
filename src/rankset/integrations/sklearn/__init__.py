"""Integration with scikit-learn: ConformalClassifier and its parts.

classifier       ConformalClassifier · predicting: sets and p-values · delegated: methods of the wrapped classifier
several_labels   0/1 matrices of labels, and the outputs of models for several labels
splits, choice   options of ConformalClassifier: Holdout, CrossConformal, GivenSplit · Choice
scorers          SetSize and Coverage, for cross_val_score and searches
cross_rule       CrossRule: one rule made from the rules of several folds · cross_guarantee: its proven coverage
fitting          steps of fit · model_outputs: outputs with one column per class · enclosing: warnings about misuse
"""
