"""Aggregation from the command line: near null spaces and coordinates from files."""

import json

import pytest

from conftest import write_market

AGGREGATION = ["--method", "aggregation", "--unknowns", "2", "--smoother", "chebyshev"]


def write_framework(path, n, m):
    """Bars between the nodes of an n x m grid, two unknowns a node, the first column clamped."""
    entries = {}

    def add(row, col, value):
        entries[row, col] = entries.get((row, col), 0.0) + value

    def add_bar(p, q, dx, dy):
        direction = [dx, dy, -dx, -dy]
        rows = [2 * p, 2 * p + 1, 2 * q, 2 * q + 1]
        stiffness = (dx * dx + dy * dy) ** -1.5
        for a, row in enumerate(rows):
            for b, col in enumerate(rows):
                add(row, col, stiffness * direction[a] * direction[b])

    for i in range(n):
        for j in range(m):
            if i == 0:
                add(2 * j, 2 * j, 10.0)
                add(2 * j + 1, 2 * j + 1, 10.0)
            for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if i + di < n and 0 <= j + dj < m:
                    add_bar(i * m + j, (i + di) * m + j + dj, di, dj)
    size = 2 * n * m
    triples = [(row + 1, col + 1, value) for (row, col), value in sorted(entries.items())]
    write_market(path, size, size, triples)
    return [(float(i), float(j)) for i in range(n) for j in range(m)]


def write_columns(path, columns):
    lines = ["%%MatrixMarket matrix array real general", f"{len(columns[0])} {len(columns)}"]
    lines += [repr(float(value)) for column in columns for value in column]
    path.write_text("\n".join(lines) + "\n")


def write_problem(folder, n=12, m=12):
    points = write_framework(folder / "A.mtx", n, m)
    write_columns(folder / "x.mtx", [[p[c] for p in points] for c in (0, 1)])
    modes = [[], [], []]
    for x, y in points:
        for mode, velocity in zip(modes, [(1, 0), (0, 1), (-y, x)]):
            mode.extend(velocity)
    write_columns(folder / "B.mtx", modes)


def iterations(nodewise, folder, options, ranks):
    result = nodewise("solve", "A.mtx", *AGGREGATION, *options, "--json", "r.json", ranks=ranks)
    assert result.code == 0, result.err
    return json.loads((folder / "r.json").read_text())["solve"]["iterations"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_modes_from_a_file_or_from_coordinates(nodewise, tmp_path, ranks):
    write_problem(tmp_path)
    modes = iterations(nodewise, tmp_path, ["--near-null-space", "B.mtx"], ranks)
    coordinates = iterations(nodewise, tmp_path, ["--coordinates", "x.mtx"], ranks)
    constants = iterations(nodewise, tmp_path, [], ranks)
    assert abs(modes - coordinates) <= 1
    assert modes < constants


def test_inspect_shows_the_levels(nodewise, tmp_path):
    write_problem(tmp_path)
    arguments = [*AGGREGATION[:4], "--coordinates", "x.mtx", "--json", "r.json"]
    result = nodewise("inspect", "A.mtx", *arguments, "--virtual-ranks", "9", "--ranks-per-node", "3")
    assert result.code == 0, result.err
    levels = json.loads((tmp_path / "r.json").read_text())["hierarchy"]["levels"]
    assert len(levels) >= 2 and levels[1]["rows"] % 3 == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_files_that_do_not_fit(nodewise, tmp_path, ranks):
    write_problem(tmp_path, 3, 3)
    write_columns(tmp_path / "long.mtx", [[1.0] * 19])
    write_columns(tmp_path / "space.mtx", [[1.0] * 9] * 3)

    def fails(code, words, *options):
        result = nodewise("solve", "A.mtx", *AGGREGATION, *options, ranks=ranks)
        assert result.code == code, result.err
        assert any(words in message for message in result.messages), result.err

    fails(3, "--near-null-space: long.mtx is 19 x 1, but needs 18 rows", "--near-null-space", "long.mtx")
    fails(2, "has 3 coordinates a point, which needs --unknowns 3", "--coordinates", "space.mtx")


def beam(nodewise, folder, *options, command="solve", ranks=1):
    words = ["--problem", "beam", "--n", "3", *options, "--json", "r.json"]
    result = nodewise(command, *words, ranks=ranks)
    assert result.code == 0, result.err
    return json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_beam_brings_its_modes(nodewise, tmp_path, ranks):
    report = beam(nodewise, tmp_path, ranks=ranks)
    assert report["matrix"]["rows"] == 24 * 3 * 16
    assert report["preset"]["name"] == "elasticity"
    assert report["preset"]["set"]["method"] == "aggregation"
    levels = report["hierarchy"]["levels"]
    assert levels[1]["rows"] % 6 == 0  # as many unknowns a point as there are modes
    assert report["solve"]["iterations"] <= 20
    # Another method is asked for: then they are of no use. One unknown a point less so.
    classical = beam(nodewise, tmp_path, "--method", "classical", ranks=ranks)
    assert "method" not in classical["preset"]["set"]
    assert classical["solve"]["iterations"] > report["solve"]["iterations"]
    plain = beam(nodewise, tmp_path, "--preset", "default", ranks=ranks)
    assert plain["options"]["unknowns"] == 3
    aggregated = beam(nodewise, tmp_path, "--preset", "default", "--method", "aggregation", ranks=ranks)
    assert aggregated["hierarchy"]["levels"][1]["rows"] % 6 == 0


def test_files_win_over_the_modes_of_the_beam(nodewise, tmp_path):
    rows = 24 * 3 * 16
    write_columns(tmp_path / "B.mtx", [[1.0 if i % 3 == c else 0.0 for i in range(rows)] for c in range(3)])
    report = beam(nodewise, tmp_path, "--near-null-space", "B.mtx")
    assert report["hierarchy"]["levels"][1]["rows"] % 3 == 0
    assert report["solve"]["iterations"] > beam(nodewise, tmp_path)["solve"]["iterations"]


def test_virtual_ranks_have_whole_points_of_the_beam(nodewise, tmp_path):
    virtual = ["--virtual-ranks", "7", "--ranks-per-node", "2"]
    levels = beam(nodewise, tmp_path, *virtual, command="inspect")["hierarchy"]["levels"]
    assert levels[1]["rows"] % 6 == 0


def test_the_beam_is_tuned_with_its_modes(nodewise, tmp_path):
    limits = ["--max-candidates", "5", "--max-seconds", "20"]
    report = beam(nodewise, tmp_path, *limits, command="tune")
    best = [trial for trial in report["candidates"] if trial["options"].get("method") == "aggregation"]
    assert best and best[0]["converged"]
