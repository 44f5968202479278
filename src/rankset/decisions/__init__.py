"""Decisions: which answers of a model may be accepted automatically, with a promise about their errors.

triage         triage(probs, labels), and Triage: the confidences of right and wrong answers
answers        the answers of rows: most likely label, confidence, right or wrong
accepting      Triage.accept, for a batch of rows
selection      p-values, and which of them are accepted (Benjamini and Hochberg)
decisions      Decisions: what was accepted, and the rows for a person
gate_finding   Triage.threshold and Triage.curve, for a stream of rows
walk           the sequence of tests that finds a threshold
gate           Gate: one fixed confidence for a stream; one_answer: a single row
curve          the share of accepted rows against the error
rows_in        what users pass
errors_by_group, confidences    which error holds for which rows; choice of a confidence
stored, triage_file             files
"""
