"""The hot loops, compiled by Numba: short functions of arrays, one row at a time, one file per idea."""
