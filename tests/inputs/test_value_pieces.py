"""Values are checked piece by piece; a wrong entry is found in every piece."""

from unittest import mock

import numpy as np
import pytest

from rankset.errors import InputError
from rankset.inputs import value_checks
from refusals import refused


@pytest.mark.parametrize("rows_per_piece", [1, 3, 10, 100])
@pytest.mark.parametrize("row", [0, 2, 3, 8, 9])
@pytest.mark.parametrize("spoil", [np.nan, np.inf, -np.inf, -0.5, 0.9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_wrong_entry_is_found_in_every_piece(rows_per_piece, row, spoil, dtype):
    rows = np.full((10, 5), 0.2, dtype=dtype)
    rows[:, 1] = -0.0
    rows[:, 0] = 0.4
    with mock.patch.object(value_checks, "CACHED_BYTES", rows_per_piece * rows[0].nbytes):
        value_checks.check_rows(rows, "probs", 0)
        rows[row, 3] = spoil
        with refused(InputError, row=row + 7):
            value_checks.check_rows(rows, "probs", 7)
