"""Reads a .rankset file with nothing but Python's own library, and predicts: docs/reference/format.md is all it needs.

python examples/read_rule.py rule.rankset 0.1 0.7 0.2 0.1      # the file, alpha, and a row's probabilities
"""

import json
import struct
import sys
from fractions import Fraction
from pathlib import Path

KINDS = {"F64": "d", "I64": "q"}


def read(path):
    """The header of a rule, and its arrays as lists."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    head, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    rule, arrays = json.loads(head.pop("__metadata__")["rankset"]), {}
    for name, about in head.items():
        start, end = about["data_offsets"]
        arrays[name] = list(struct.unpack(f"<{(end - start) // 8}{KINDS[about['dtype']]}", body[start:end]))
    return rule, arrays


def keys_of(score, row):
    """(key, column) of every label of a row, for the scores RANK, THR and top-k; smaller keys are kept first."""
    ranking = sorted(range(len(row)), key=lambda column: -row[column])
    places = {column: place for place, column in enumerate(ranking, start=1)}
    keys = {"Rank": lambda k: (places[k], -row[k]), "Thr": lambda k: (-row[k],), "TopK": lambda k: (places[k],)}
    return [(keys[score](column), column) for column in ranking]


def predict(rule, arrays, row, alpha):
    """The set of a row: labels whose key is not after the k-th calibration key of their group."""
    names = range(rule["classes"]) if isinstance(rule["classes"], int) else rule["classes"]
    per_label = rule["condition"]["name"] == "PerLabel"
    kept = []
    for key, column in keys_of(rule["score"]["name"], row):
        group = column if per_label else 0
        start, end = arrays["offsets"][group : group + 2]
        n = end - start + (arrays["absent"][group] if "absent" in arrays else 0)
        k = n + 1 - int((n + 1) * Fraction(alpha))
        known = [arrays[f"key{place}"][start + k - 1] for place in range(rule["keys"])] if k <= end - start else None
        if known is None or key <= tuple(known):
            kept.append(names[column])
    return kept


if __name__ == "__main__":
    file, level, *numbers = sys.argv[1:]
    told, stored = read(file)
    print({name: told[name] for name in ("score", "condition", "kind", "classes")}, len(stored["key0"]), "rows")
    print(predict(told, stored, [float(number) for number in numbers], level))
