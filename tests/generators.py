"""Hostile models: rows (n, K) and their labels, on which every score must keep its level."""

import numpy as np

import rankset as rs


def saturated(rng, n):
    labels = rng.integers(0, 4, n)
    logits = rng.normal(size=(n, 4)) * 60
    logits[np.arange(n), labels] += 50
    return rs.softmax(logits), labels


def tied(rng, n):
    weights = rng.integers(1, 3, (n, 4)).astype(float)
    return weights / weights.sum(axis=1, keepdims=True), rng.integers(0, 4, n)


def one_hot(rng, n):
    labels = rng.integers(0, 4, n)
    guesses = np.where(rng.random(n) < 0.7, labels, rng.integers(0, 4, n))
    return np.eye(4)[guesses], labels


def imbalanced(rng, n):
    labels = np.minimum(rng.geometric(0.7, n) - 1, 4)
    logits = rng.normal(size=(n, 5)) - np.arange(5)
    logits[np.arange(n), labels] += 1.5
    return rs.softmax(logits), labels


def identical(rng, n):
    return np.tile([0.6, 0.3, 0.1], (n, 1)), rng.integers(0, 2, n)
