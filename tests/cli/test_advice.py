"""Advice that is given is followed, each option of it in turn, and has to help."""

import json
import random
import re

import pytest
from conftest import laplacian, write_market

from test_tune import saddle_point


def grid(n):
    """The 5-point Laplacian on n x n points as {(i, j): value}, from 0."""
    entries = {}
    for i in range(n * n):
        entries[i, i] = 4.0
        for j in [i + 1] * (i % n < n - 1) + [i + n] * (i < n * (n - 1)):
            entries[i, j] = entries[j, i] = -1.0
    return entries


def write(path, entries, n):
    return write_market(path, n, n, [(i + 1, j + 1, v) for (i, j), v in sorted(entries.items())])


def out_of_order(path):
    """Convection and diffusion, the rows in any order, with next to nothing on the diagonal."""
    n, entries = 30, {}
    order = list(range(n * n))
    random.Random(3).shuffle(order)
    for (i, j), v in grid(n).items():
        entries[order[i], j] = v + 0.5 * ((i == j) - (j == i - 1))
    for i in range(n * n):
        entries.setdefault((i, i), 1e-9)
    return write(path, entries, n * n)


def badly_scaled(path):
    n = 20
    scale = [10.0 ** random.Random(i).uniform(-5, 5) for i in range(n * n)]
    return write(path, {(i, j): scale[i] * v * scale[j] for (i, j), v in grid(n).items()}, n * n)


def shifted(path):
    """Indefinite, with a diagonal of one sign."""
    n = 20
    return write(path, {(i, j): v - 0.5 * (i == j) for (i, j), v in grid(n).items()}, n * n)


def of_both_signs(path):
    return write_market(path, 1500, 1500, saddle_point(1000) + [(i, i, -0.1) for i in range(1001, 1501)])


def nonsymmetric(path):
    entries = {(i - 1, j - 1): 3.0 if i == j else -1.3 if j < i else -0.9 for i, j, _ in laplacian(300)}
    return write(path, entries, 300)


def convection(path):
    """Against the order of the unknowns."""
    n = 24
    return write(path, {(i, j): v + 30 * ((i == j) - (j == i + 1 and i % n < n - 1))
                        for (i, j), v in grid(n).items()}, n * n)


def elastic(path):
    """Plane elasticity on squares, clamped on one side: two displacements a point."""
    n, entries = 16, {}
    nu = 0.3
    k = [1 / 2 - nu / 6, 1 / 8 + nu / 8, -1 / 4 - nu / 12, -1 / 8 + 3 * nu / 8, -1 / 4 + nu / 12, -1 / 8 - nu / 8,
         nu / 6, 1 / 8 - 3 * nu / 8]
    rows = ["01234567", "10765432", "27056341", "36501274", "45670123", "54321076", "63472105", "72143650"]
    for x in range(n - 1):
        for y in range(n - 1):
            points = [x * n + y, (x + 1) * n + y, (x + 1) * n + y + 1, x * n + y + 1]
            places = [2 * p + d - 2 * n for p in points for d in range(2)]  # the first n points are clamped
            for a in range(8):
                for b in range(8):
                    if min(places[a], places[b]) >= 0:
                        at = places[a], places[b]
                        entries[at] = entries.get(at, 0.0) + k[int(rows[a][b])]
    return write(path, entries, 2 * n * (n - 1))


def stiff(path):
    """Definite, and beyond what Jacobi's sweeps converge for: blocks of nearly equal entries."""
    size, entries = 12, {}
    for b in range(80):
        for i in range(size):
            for j in range(size):
                entries[size * b + i, size * b + j] = 1.0 if i == j else 0.95
            if b:
                entries[size * b + i, size * b - size + i] = entries[size * b - size + i, size * b + i] = -0.02
    return write(path, entries, 80 * size)


def solve(nodewise, tmp_path, matrix, words):
    path = tmp_path / "report.json"
    path.unlink(missing_ok=True)
    result = nodewise("solve", matrix, *words, "--json", path, ranks=1)
    assert path.exists(), result.err
    return json.loads(path.read_text())


def options_in(advice):
    """Those that can be given as they stand, without what else would have to be known."""
    return [word.split() for word in re.findall(r"--[a-z0-9-]+ (?!--)[a-z0-9_]+", advice.split(", with ")[0])]


def without(words, *names):
    kept = list(words)
    for name in names:
        if name in kept:
            del kept[kept.index(name):kept.index(name) + 2]
    return kept


def followed(words, option):
    """The command line with the option in place of what it replaces."""
    replaced = [option[0]]
    if option[0] == "--preset":
        replaced += ["--preconditioner", "--solver", "--smoother"]
    if option[0] == "--method":
        replaced += ["--smoother"]
    return [*without(words, *replaced), *option]


def is_better(after, before):
    a, b = after["solve"], before["solve"]
    if a["converged"] and b["converged"]:
        return a["iterations"] < b["iterations"]
    return a["converged"]


@pytest.mark.parametrize("make, words, kind", [
    (out_of_order, ["--preconditioner", "amg", "--solver", "gmres"], "near_zero_diagonal"),
    (out_of_order, ["--preconditioner", "jacobi"], "near_zero_diagonal"),
    (badly_scaled, [], "near_zero_diagonal"),
    (shifted, ["--preconditioner", "amg", "--solver", "cg"], "indefinite_preconditioner"),
    (of_both_signs, ["--solver", "cg"], "indefinite"),
    (nonsymmetric, ["--solver", "cg", "--preconditioner", "jacobi"], "nonsymmetric_matrix"),
    (convection, ["--preset", "default", "--smoother", "chebyshev"], "chebyshev_nonsymmetric"),
    (elastic, ["--preset", "default"], "undeclared_unknowns"),
    (stiff, ["--preset", "default", "--smoother", "jacobi"], "hybrid_sweeps"),
])
def test_each_option_of_advice_helps(nodewise, tmp_path, make, words, kind):
    matrix = make(tmp_path / "A.mtx")
    before = solve(nodewise, tmp_path, matrix, words)
    found = [f for f in before["findings"] if f["kind"] == kind]
    assert found, before["findings"]
    options = [option for finding in found for option in options_in(finding["advice"])]
    assert options, found
    for option in options:
        after = solve(nodewise, tmp_path, matrix, followed(words, option))
        assert is_better(after, before), (option, before["solve"]["outcome"], before["solve"]["iterations"],
                                          after["solve"]["outcome"], after["solve"]["iterations"])


def test_what_multigrid_makes_infinite_is_solved_otherwise(nodewise, tmp_path):
    report = solve(nodewise, tmp_path, out_of_order(tmp_path / "A.mtx"), [])
    assert report["solve"]["converged"]
    assert report["attempts"]
