"""Loops over rows, compiled by Numba: short functions of arrays, one file per idea."""
