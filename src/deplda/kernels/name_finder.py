"""Names of labels in documents: which have all their words there, and how they stand."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def _value(column, columns, values, begin, end):  # type: ignore[no-untyped-def]
    """Return the count of a column in a document, whose columns are in order; 0 if it is not."""
    last = end
    while begin < end:
        middle = (begin + end) // 2
        if columns[middle] < column:
            begin = middle + 1
        else:
            end = middle
    return values[begin] if begin < last and columns[begin] == column else np.float32(0.0)


@njit(nogil=True, cache=True)
def find_names(  # type: ignore[no-untyped-def]
    starts, columns, values, key_starts, word_starts, words, early, sequences,
    qualifier_starts, qualifiers, weights, most,
):  # fmt: skip
    """Return the names of which all words stand in a document, one document after the other.

    Of more than `most` names the heaviest are kept, equals in the order of their numbers; one of
    several words that are not in sequence weighs half.

    Names are in the order of the first of their words, the rarest: those of column w are from
    key_starts[w] to key_starts[w + 1]. Returned are where the names of
    each document begin, their numbers, and of each the least count of its words, how early the last
    of them stands, how often they stand in sequence, and whether a word of its qualifier stands
    there; and how heavy it is. `early` and `sequences` are columns, −1 where that is not counted.
    The columns of a document are in order: there may be millions, too many to clear for each.
    """
    ends = np.zeros(starts.size, np.int64)
    n = 1024
    found, rows, heavy = np.empty(n, np.int32), np.empty((n, 4), np.float32), np.empty(n)
    at = 0
    for d in range(starts.size - 1):
        begin, end, first = starts[d], starts[d + 1], at
        for e in range(begin, end):
            for name in range(key_starts[columns[e]], key_starts[columns[e] + 1]):
                least, last = values[e], np.float32(np.inf)
                for w in range(word_starts[name] + 1, word_starts[name + 1]):
                    least = min(least, _value(words[w], columns, values, begin, end))
                    if least == 0.0:
                        break
                if least == 0.0:
                    continue
                for w in range(word_starts[name], word_starts[name + 1]):
                    last = min(last, _value(early[w], columns, values, begin, end))
                if at == found.size:
                    more, wider = np.empty(2 * at, np.int32), np.empty((2 * at, 4), np.float32)
                    more[:at], wider[:at] = found, rows
                    heavier = np.empty(2 * at)
                    heavier[:at] = heavy
                    found, rows, heavy = more, wider, heavier
                found[at] = name
                rows[at, 0], rows[at, 1] = least, last
                rows[at, 2] = _value(sequences[name], columns, values, begin, end)
                rows[at, 3] = 0.0
                for q in range(qualifier_starts[name], qualifier_starts[name + 1]):
                    if _value(qualifiers[q], columns, values, begin, end) > 0.0:
                        rows[at, 3] = 1.0
                is_one = word_starts[name + 1] - word_starts[name] == 1
                heavy[at] = weights[name] * (1.0 if is_one or rows[at, 2] > 0.0 else 0.5)
                at += 1
        if at - first > most:
            by_number = first + np.argsort(found[first:at], kind="mergesort")
            order = by_number[np.argsort(-heavy[by_number], kind="mergesort")[:most]]
            found[first : first + most], rows[first : first + most] = found[order], rows[order]
            heavy[first : first + most] = heavy[order]
            at = first + most
        ends[d + 1] = at
    return ends, found[:at].copy(), rows[:at].copy(), heavy[:at].copy()
