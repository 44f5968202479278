"""Draws: uniform, told apart by content, seed and ids, and nothing else."""

import numpy as np
from scipy import stats

from rankset.core import noise
from rankset.inputs.per_row import id_words
from rankset.inputs.row_index import RowIndex


def draws(rows, seed, ids=None):
    return noise.draws(rows, noise.NoiseSeed.of(seed, ids))


def test_draws_look_uniform_and_independent_of_neighbours():
    rows = np.random.default_rng(0).dirichlet(np.ones(5), 20_000)
    values = draws(rows, 0)
    assert stats.kstest(values, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.04
    assert abs(np.corrcoef(values, rows[:, 0])[0, 1]) < 0.04


def test_draws_of_ids_alone_are_uniform_too():
    rows = np.full((20_000, 3), 1 / 3)
    assert stats.kstest(draws(rows, 0, np.arange(20_000, dtype=np.uint64)), "uniform").pvalue > 1e-4
    assert len(set(draws(rows, 0))) == 1


def test_every_entry_of_a_narrow_row_its_largest_of_a_wide_one_and_the_seed_matter():
    rows = np.random.default_rng(1).dirichlet(np.ones(16), 1)
    plain = draws(rows, 0)[0]
    for column in range(16):
        changed = rows.copy()
        changed[0, column] = np.nextafter(changed[0, column], 1)
        assert draws(changed, 0)[0] != plain
    assert draws(rows, 1)[0] != plain
    wide = np.zeros((2, 1000))
    wide[0, 3] = wide[1, 4] = 1.0
    assert len(set(draws(wide, 0))) == 2


def test_minus_zero_is_zero():
    assert draws(np.array([[0.0, 1.0]]), 0) == draws(np.array([[-0.0, 1.0]]), 0)


class Interrupted(np.ndarray):
    """A row that draws another row's number before its entries are read, as another thread may."""

    def __getitem__(self, key):
        other = np.arange(3.0)[:: -1 if self.argmax() else 1]
        type(self).one_row.draw(other)
        return np.asarray(self)[key]


def test_rows_drawn_at_the_same_time_do_not_mix():
    one_row = Interrupted.one_row = noise.RowDraws(3, noise.NoiseSeed.of(0))
    for row in np.eye(3):
        assert one_row.draw(row.view(Interrupted)) == one_row.draw(row) == draws(row[np.newaxis], 0)[0]


def test_draws_are_the_same_on_every_machine_and_in_every_version():
    rows = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
    assert draws(rows, 7, np.array([1, 2], dtype=np.uint64)).tolist() == [0.33826279587990515, 0.6834079324363848]


def words(ids):
    return id_words(ids, len(ids), RowIndex())


def test_ids_are_told_apart_by_value_not_by_dtype():
    same = [np.array([1, 2], dtype=dtype) for dtype in (np.int8, np.uint16, np.int64, np.uint64)]
    assert len({words(ids).tobytes() for ids in same}) == 1
    assert words([1.0, 2.0]).tolist() == words([1, 2]).tolist()
    assert words(["a", "b", "a"]).tolist()[0] == words(["c", "a"]).tolist()[1]
    assert words(["12", "0", "-3"]).tolist() == words([12, 0, -3]).tolist()
    assert words(["7.0", "-3.00"]).tolist() == words([7.0, -3.0]).tolist() == words([7, -3]).tolist()
    large = [10**18, 2**63 - 1, 2**64 - 1, -(2**63)]
    assert words([str(number) for number in large]).tolist() == words(large).tolist() == [n % 2**64 for n in large]
    assert words([f"{2**63 - 1}.0"]).tolist() == [2**63 - 1]
    assert words([str(2**64), "1" * 5000]).tolist()[0] != 0  # a text, not a number
    assert len(set(words(["7", "07", "7.5", "+7", " 7"]).tolist())) == 5
