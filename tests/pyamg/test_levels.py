"""Levels of the 27-point problem against PyAMG's, with the same choices, row by row and entry by
entry, and iterations of conjugate gradients."""

import unittest
import warnings

import numpy as np
import pyamg
import solves
from solves import JOINS_FIRST, RUGE_STUEBEN, SMOOTHED_AGGREGATION, by_nodewise, by_pyamg
from steps import prepared

# Of 100^3 points, printed by PyAMG 5.4.1 (b = 1: 8 and 7 iterations), which takes its time.
RUGE_STUEBEN_100 = [
    (1_000_000, 26_463_592), (124_999, 3_286_977), (30_579, 1_821_091), (6_066, 689_300),
    (1_068, 144_488), (216, 18_876), (37, 1_149), (7, 49),
]  # fmt: skip
AGGREGATION_100 = [
    (1_000_000, 26_463_592), (39_304, 1_000_000), (1_728, 39_304), (64, 1_252), (4, 16),
]  # fmt: skip
# With the second pass of aggregation that Nodewise prefers (in PyAMG JoinsMostConnected).
AGGREGATION_100_MOST_CONNECTED = AGGREGATION_100[:3] + [(64, 1_000), (8, 64)]


def problem(n):
    box = -np.ones((3, 3, 3))
    box[1, 1, 1] = 26
    return prepared(pyamg.gallery.stencil_grid(box, (n, n, n)))


@unittest.skipUnless(solves.PROGRAM, "no program nodewise")
class Levels(unittest.TestCase):
    def expect_same(self, ours, levels, iterations, what):
        self.assertEqual(ours.levels, levels, what)
        self.assertIsNotNone(ours.iterations, what)
        self.assertLessEqual(abs(ours.iterations - iterations), 1, what)

    def test_are_those_of_pyamg(self):
        warnings.simplefilter("ignore")
        np.random.seed(0)  # of PyAMG's estimates of spectral radii
        for n in [13, 40]:
            A = problem(n)
            b = np.ones(A.shape[0])
            theirs = by_pyamg(pyamg.ruge_stuben_solver(A), b)
            self.expect_same(by_nodewise(A, b, RUGE_STUEBEN), theirs.levels, theirs.iterations, n)
            theirs = by_pyamg(pyamg.smoothed_aggregation_solver(A), b)
            ours = by_nodewise(A, b, JOINS_FIRST)
            self.expect_same(ours, theirs.levels, theirs.iterations, n)

    def test_of_a_million_points_are_those_that_pyamg_printed(self):
        A = problem(100)
        b = np.ones(A.shape[0])
        ours = by_nodewise(A, b, RUGE_STUEBEN)
        self.expect_same(ours, RUGE_STUEBEN_100, 8, "Ruge-Stueben")
        ours = by_nodewise(A, b, JOINS_FIRST)
        self.expect_same(ours, AGGREGATION_100, 7, "smoothed aggregation")
        ours = by_nodewise(A, b, SMOOTHED_AGGREGATION)
        self.expect_same(ours, AGGREGATION_100_MOST_CONNECTED, 7, "most connected")


if __name__ == "__main__":
    unittest.main()
