"""Numbers as they are written, and bins."""

import math
import random

import pytest
from pages import number

from nodewise.report import bins, png, text


@pytest.mark.parametrize(
    "value, expected",
    [
        (0, "0 s"),
        (1, "1.00 s"),
        (0.0265, "26.5 ms"),
        (59.4e-6, "59.4 µs"),
        (4e-9, "4.00 ns"),
        (123.4, "123 s"),
        (12345.6, "12,346 s"),
        (None, "–"),
        (math.nan, "–"),
        (0.9999, "1.00 s"),
        (0.9994, "999 ms"),
        (99.95e-6, "100 µs"),
    ],
)
def test_seconds(value, expected):
    assert text.seconds(value) == expected


@pytest.mark.parametrize(
    "value, expected",
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.00 KiB"), (27 * 2**30, "27.0 GiB"), (2**50, "1,024 TiB")],
)
def test_sizes(value, expected):
    assert text.size(value) == expected


@pytest.mark.parametrize(
    "value, expected", [(4.913e-9, "4.91 × 10⁻⁹"), (1e-8, "10⁻⁸"), (0, "0"), (None, "–"), (2.5e12, "2.5 × 10¹²")]
)
def test_powers(value, expected):
    assert text.power(value) == expected


def test_what_is_written_is_the_number():
    rng = random.Random(3)
    for _ in range(2000):
        value = 10 ** rng.uniform(-11, 11) * rng.uniform(1, 10)
        assert number(text.power(value)) == pytest.approx(value, rel=0.0051)
        assert number(text.significant(value)) == pytest.approx(value, rel=0.0051)
        if 1e-10 < value < 1e10:
            assert number(text.seconds(value)) == pytest.approx(value, rel=0.0051)


def test_levels():
    assert text.levels([3]) == "level 3"
    assert text.levels([2, 0, 1, 5]) == "levels 0 to 2, 5"
    assert text.levels([0, 1]) == "levels 0, 1"


def test_bins():
    for n in (1, 5, 128, 129, 300, 1000):
        b = min(n, 128)
        starts = bins.bounds(n, b)
        lengths = [end - start for start, end in zip(starts, starts[1:])]
        assert (
            starts[0] == 0
            and starts[-1] == n
            and max(lengths) - min(lengths) <= 1
            and lengths == sorted(lengths, reverse=True)
        )
    assert bins.square(["0:3 2:1", "", "1:12"], 3) == [[3, 0, 1], [0, 0, 0], [0, 12, 0]]
    assert bins.added([[[1, 2], [3, 4]], [[5, 0], [0, 1]]]) == [[6, 2], [3, 5]]


def test_cover():
    assert png.cover([[0, 0]]) == [[0, 0]]
    assert png.cover([[0, 5], [5, 5]]) == [[0, 255], [255, 255]]
    covered = png.cover([[1, 10, 100, 10**18]])[0]
    assert covered == sorted(covered) and covered[0] > 0 and covered[-1] == 255 and len(set(covered)) == 4
