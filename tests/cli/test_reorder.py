"""Rows in another order."""

import json

import pytest
from conftest import read_vector

MESH = ["--problem", "unstructured", "--n", 7, "--shuffled", 1000000]
ORDERS = ["rcm", "rcm-global"]


def skip_without_boost(result):
    if "has no Boost.Graph" in result.err:
        pytest.skip("without Boost.Graph")


def read_market(path):
    """The entries of a file, general or symmetric, by row and column from 0 on."""
    lines = path.read_text().splitlines()
    entries = {}
    for line in [line for line in lines if not line.startswith("%")][1:]:
        i, j, value = line.split()
        entries[int(i) - 1, int(j) - 1] = float(value)
        if "symmetric" in lines[0]:
            entries[int(j) - 1, int(i) - 1] = float(value)
    return entries


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_solutions_come_back_in_the_order_of_the_file(nodewise, tmp_path, ranks):
    words = [*MESH, "--random-rhs", "-t", 1e-12, "-o", "x.mtx"]
    assert nodewise("solve", *words).code == 0
    expected = read_vector(tmp_path / "x.mtx")
    for order in ORDERS:
        for more in ([], ["--partition", "strided"]):
            result = nodewise("solve", *words, "--reorder", order, *more, ranks=ranks)
            skip_without_boost(result)
            assert result.code == 0, result.err
            assert f"order {order.replace('-', '_')}: " in " ".join(result.out.split())
            assert read_vector(tmp_path / "x.mtx") == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_is_written_with_the_matrix(nodewise, tmp_path, order, ranks):
    assert nodewise("convert", *MESH, "A.mtx").code == 0
    words = ["convert", "A.mtx", "B.mtx", "--reorder", order, "--write-order", "A.order"]
    result = nodewise(*words, "--write-partition", "A.part", ranks=ranks)
    skip_without_boost(result)
    assert result.code == 0, result.err
    assert "A.order: the order of 343 rows" in result.out
    old = [int(line) for line in (tmp_path / "A.order").read_text().split()]
    assert sorted(old) == list(range(343)) and old != sorted(old)
    number = {row: k for k, row in enumerate(old)}
    before, after = read_market(tmp_path / "A.mtx"), read_market(tmp_path / "B.mtx")
    assert after == {(number[i], number[j]): value for (i, j), value in before.items()}
    owners = [int(line) for line in (tmp_path / "A.part").read_text().split()]
    assert [owners[row] for row in old] == sorted(owners)  # rank by rank
    assert len(set(owners)) == ranks


@pytest.mark.parametrize("virtual", [[], ["--virtual-ranks", 6, "--ranks-per-node", 2]])
@pytest.mark.parametrize("order", ORDERS)
def test_inspect_shows_the_bandwidth(nodewise, tmp_path, order, virtual):
    result = nodewise("inspect", *MESH, "--reorder", order, *virtual, "--json", "i.json")
    skip_without_boost(result)
    assert result.code == 0, result.err
    found = json.loads((tmp_path / "i.json").read_text())
    gain = found["reordering"]
    assert gain["bandwidth"] < gain["bandwidth_before"]
    assert f"bandwidth {gain['bandwidth']} instead of {gain['bandwidth_before']}" in " ".join(result.out.split())
    if order == "rcm-global" or not virtual:
        assert gain["bandwidth_before"] == found["matrix"]["bandwidth"]


def test_bench_takes_an_order(nodewise):
    words = ["bench", "spmv", *MESH, "--seconds", 0.05, "--reorder", "rcm"]
    result = nodewise(*words)
    skip_without_boost(result)
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    "words, message",
    [
        (["solve", *MESH, "--reorder", "rmc"], "--reorder: 'rmc' is not one of none, rcm, rcm_global"),
        (["convert", *MESH, "A.mtx", "--write-order", "A.order"], "--write-order needs --partition METHOD"),
        (["convert", *MESH, "A.mtx", "--reorder", "rcm", "--write-order", "A.mtx"], "name the same file"),
        (["solve", "-p", "laplace7", "--shuffled", 3], "--shuffled needs --problem unstructured"),
    ],
)
def test_wrong_command_lines(nodewise, words, message):
    result = nodewise(*words)
    assert result.code == 2 and message in result.err
