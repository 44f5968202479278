"""The most likely labels of each row within limits on rank, mass and entry.

The plain path is ``ranking.likeliest``. Either path may return extra candidates; the resulting sets are equal.
"""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.counting import add_up, is_clear
from rankset.core.kernels.loops.drawing import draw
from rankset.core.kernels.loops.listing_narrow import NARROW, add_within, list_narrow_rows
from rankset.core.kernels.loops.strided import fill_tops, new_tops

SHORT = 8
BISECTIONS = 16
RUN = 64
LANES = 32


@compiled()
def list_rows(
    probs, start, tolerance, rank, mass, margin, cutoffs, columns, entries, units, sizes, draws, words, seeded
):
    """Fill ``columns`` with the most likely columns of row after row, from row ``start`` on, while memory lasts.

    ``entries`` and ``sizes`` are filled with their entries and their number per row; unless empty, ``units`` with the
    masses up to them in units of 2**-50, and ``draws`` with the noise. ``margin`` bounds the rounding error of a row's
    sum. Returns the row reached, and whether all rows were certainly valid.
    """
    n_rows, n_columns = probs.shape
    if n_columns <= NARROW:
        limits, into = (tolerance, rank, mass), (columns, entries, units, sizes)
        return list_narrow_rows(probs, start, limits, cutoffs, into, draws, words, seeded)
    tops = new_tops(probs)
    hits = np.empty(len(tops), np.int32)
    values, places = np.empty(n_columns, probs.dtype), np.empty(n_columns, np.int32)
    spare_values, spare_places, keys = np.empty_like(values), np.empty_like(places), np.empty(RUN, probs.dtype)
    clear, filled, by_mass = True, 0, mass < np.inf and rank > SHORT
    for i in range(start, n_rows):
        row = probs[i]
        total, negative = add_up(row)
        clear = clear and is_clear(total, negative, tolerance)
        fill_tops(row, tops)
        cutoff = cutoffs[i % len(cutoffs)]
        if by_mass:
            cutoff = max(cutoff, _at_mass(row, total * (1 - margin) - (mass + margin)))
        elif rank < n_columns:
            cutoff = max(cutoff, _at_any_rank(row, tops, rank, values))
        found = _gather(row, tops, cutoff, hits, values, places)
        if by_mass and found > 2 * rank:
            cutoff = max(cutoff, _at_any_rank(row, tops, rank, values))
            found = _gather(row, tops, cutoff, hits, values, places)
        if filled + found > len(columns):
            return i, clear
        _sort(values[:found], places[:found], keys, spare_values, spare_places)
        found = min(found, rank)
        if len(units):
            found = add_within(values[:found], mass, units[filled:])
        for j in range(found):
            columns[filled + j], entries[filled + j] = places[j], values[j]
        filled, sizes[i] = filled + found, found
        if len(draws):
            draws[i] = draw(row, tops, words[i % len(words)], seeded)
    return n_rows, clear


@compiled()
def _at_any_rank(row, tops, rank, best):
    """Return a cutoff that at least ``rank`` entries reach, and not many more; ``best`` is overwritten."""
    some = tops if rank <= len(tops) // 2 else row
    return _at_short_rank(some, best[:rank]) if rank <= SHORT else _at_rank(some, rank)


@compiled()
def _at_short_rank(entries, best):
    """Return the entry at rank ``len(best)``; ``best`` keeps the largest entries so far in order."""
    last = len(best) - 1
    for b in range(len(best)):
        best[b] = -np.inf
    for j in range(len(entries)):
        if entries[j] > best[last]:
            b = last
            while b > 0 and best[b - 1] < entries[j]:
                best[b] = best[b - 1]
                b -= 1
            best[b] = entries[j]
    return best[last]


@compiled()
def _at_rank(entries, rank):
    """Return a cutoff that at least ``rank`` of the ``entries`` reach, and not many more, by bisection."""
    low, high = _finite_range(entries)
    if _reached(entries, low) < rank:
        return entries.dtype.type(-np.inf)
    for _ in range(BISECTIONS):
        middle = np.sqrt(low) * np.sqrt(high) if low > 0 else low + (high - low) / 2
        reached = _reached(entries, middle)
        if reached >= rank:
            low = middle
            if reached <= rank + rank // 4:
                break
        else:
            high = middle
    return low


@compiled()
def _finite_range(entries):
    """Return the smallest and the largest entry that are not -inf."""
    low, high = entries.dtype.type(np.inf), entries.dtype.type(-np.inf)
    for j in range(len(entries)):
        value = entries[j]
        low = value if value < low and value > -np.inf else low
        high = max(high, value)
    return low, high


@compiled("reassoc")
def _reached(entries, cutoff):
    """Return how many entries reach ``cutoff``."""
    nothing, one = entries.dtype.type(0), entries.dtype.type(1)
    answer = nothing
    for j in range(len(entries)):
        answer += one if entries[j] >= cutoff else nothing
    return answer


@compiled()
def _at_mass(row, left):
    """Return a cutoff below which entries sum to less than ``left``, and not much less, by bisection."""
    high = row.dtype.type(max(left, 0.0))
    low = high / row.dtype.type(len(row))
    for _ in range(BISECTIONS // 3):
        middle = np.sqrt(low) * np.sqrt(high)
        if _below(row, middle) < left:
            low = middle
        else:
            high = middle
    return low


@compiled("reassoc", "nsz")
def _below(row, cutoff):
    """Return the sum of the entries below ``cutoff``."""
    answer = row.dtype.type(0)
    for j in range(len(row)):
        answer += row[j] if row[j] < cutoff else row.dtype.type(0)
    return answer


@compiled()
def _gather(row, tops, cutoff, hits, values, places):
    """Collect the entries that reach ``cutoff``, below the tops that do, and return their number."""
    count = 0
    for c in range(len(tops)):
        hits[count] = c
        count += np.int64(tops[c] >= cutoff)
    found = 0
    for c in hits[:count]:
        for j in range(c, len(row), len(tops)):
            values[found], places[found] = row[j], j
            found += np.int64(row[j] >= cutoff)
    return found


@compiled()
def _sort(values, places, keys, spare_values, spare_places):
    """Sort by descending value, equal values from the left: short runs by counting, then merged in pairs."""
    count = len(values)
    if count <= SHORT:
        _insert(values, places)
        return
    for start in range(0, count, RUN):
        run = slice(start, min(start + RUN, count))
        _order(values[run], places[run], keys, spare_values, spare_places)
    width = RUN
    while width < count:
        for start in range(0, count, 2 * width):
            _merge(
                values,
                places,
                start,
                min(start + width, count),
                min(start + 2 * width, count),
                spare_values,
                spare_places,
            )
        values[:], places[:] = spare_values[:count], spare_places[:count]
        width *= 2


@compiled()
def _order(values, places, keys, spare_values, spare_places):
    """Sort a short run: the place of each entry is the number of entries that come before it.

    ``keys`` is overwritten: a copy of the values, and NaN up to a length that vector instructions read at once.
    """
    count = len(values)
    length = (count + LANES - 1) // LANES * LANES
    keys[:count], keys[count:length] = values, np.nan
    for a in range(count):
        above, equal = _before(keys[:length], values[a])
        place = np.int64(above)
        if equal > 1:
            for b in range(count):
                place += np.int64(values[b] == values[a] and places[b] < places[a])
        spare_values[place], spare_places[place] = values[a], places[a]
    values[:], places[:] = spare_values[:count], spare_places[:count]


@compiled("reassoc", "nsz")
def _before(keys, own):
    """Return how many keys are above ``own`` and how many equal it, as floats."""
    nothing, one = keys.dtype.type(0), keys.dtype.type(1)
    above, equal = nothing, nothing
    for j in range(len(keys)):
        above += one if keys[j] > own else nothing
        equal += one if keys[j] == own else nothing
    return above, equal


@compiled()
def _merge(values, places, start, middle, stop, into_values, into_places):
    """Merge two sorted pieces, ``start`` to ``middle`` and ``middle`` to ``stop``."""
    a, b = start, middle
    for j in range(start, stop):
        if b == stop or (a < middle and _comes_first(values[a], places[a], values[b], places[b])):
            into_values[j], into_places[j] = values[a], places[a]
            a += 1
        else:
            into_values[j], into_places[j] = values[b], places[b]
            b += 1


@compiled()
def _comes_first(value, place, other, other_place):
    """Return whether the first of two entries ranks before the other."""
    return value > other or (value == other and place < other_place)


@compiled()
def _insert(values, places):
    """Sort very few entries by insertion."""
    for a in range(1, len(values)):
        value, place, b = values[a], places[a], a
        while b > 0 and _comes_first(value, place, values[b - 1], places[b - 1]):
            values[b], places[b] = values[b - 1], places[b - 1]
            b -= 1
        values[b], places[b] = value, place
