"""Counts in bins, as reports hold them: a text for each row, `column:count` of the bins that hold something."""


def square(rows, bins):
    """A list for each row."""
    filled = []
    for row in rows:
        counts = [0] * bins
        for pair in row.split():
            column, _, value = pair.partition(":")
            counts[int(column)] = int(value)
        filled.append(counts)
    return filled


def added(squares):
    """The sum of several of one size."""
    total = [list(row) for row in squares[0]]
    for one in squares[1:]:
        for row, more in zip(total, one):
            for k, value in enumerate(more):
                row[k] += value
    return total


def bounds(n, bins):
    """Where each bin of n numbers begins, and where the last ends: the first are one longer."""
    length, longer = divmod(n, bins)
    starts = [0]
    for k in range(bins):
        starts.append(starts[-1] + length + (k < longer))
    return starts
