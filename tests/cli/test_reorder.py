"""Rows in another order, and equal shares of rows or nonzeros."""

import json

import pytest
from conftest import read_vector, write_market

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
        for more in ([], ["--partition", "strided"], ["--balance", "nonzeros"]):
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
    words = ["bench", "spmv", *MESH, "--seconds", 0.05, "--reorder", "rcm", "--balance", "nonzeros"]
    result = nodewise(*words)
    skip_without_boost(result)
    assert result.code == 0, result.err


# Rows of 1 to 12 entries: the first three have as many as the others.
def test_shares_are_of_rows_or_of_nonzeros(nodewise, tmp_path):
    entries = [(i, i, 20.0) for i in range(1, 13)] + [(i, j, -1.0) for i in range(1, 4) for j in range(1, 13) if i != j]
    write_market(tmp_path / "A.mtx", 12, 12, entries)  # 36 entries in three rows, and nine
    shares = {}
    for balance in ("rows", "nonzeros"):
        words = ["A.mtx", "--balance", balance]
        virtual = ["--virtual-ranks", 3, "--ranks-per-node", 1, "--json", "i.json"]
        result = nodewise("inspect", *words, *virtual)
        assert result.code == 0, result.err
        counted = json.loads((tmp_path / "i.json").read_text())["largest_rank"]
        assert counted["ranks"] == 3
        assert nodewise("inspect", *words, "--json", "i.json", ranks=3).code == 0
        assert json.loads((tmp_path / "i.json").read_text())["largest_rank"] == counted
        shares[balance] = (counted["rows"], counted["nonzeros"])
    assert shares == {"rows": (4, 37), "nonzeros": (10, 21)}
    assert "most of a rank 10 rows, 2.50 of the mean; 21 nonzeros, 1.40" in " ".join(result.out.split())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("balance", ["rows", "nonzeros"])
def test_shares_leave_the_solution(nodewise, tmp_path, balance, ranks):
    words = [*MESH, "--random-rhs", "-t", 1e-12, "-o", "x.mtx"]
    assert nodewise("solve", *words).code == 0
    expected = read_vector(tmp_path / "x.mtx")
    result = nodewise("solve", *words, "--balance", balance, ranks=ranks)
    assert result.code == 0, result.err
    assert f"ranks get equal shares of {balance}" in result.out
    assert read_vector(tmp_path / "x.mtx") == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_shares_have_no_effect_beside_parts_that_are_given(nodewise):
    result = nodewise("solve", *MESH, "--partition", "strided", "--balance", "rows")
    assert result.code == 0, result.err
    assert "without effect --balance (needs partition none, contiguous," in " ".join(result.out.split())
    assert "equal shares" not in result.out


@pytest.mark.parametrize(
    "words, message",
    [
        (["solve", *MESH, "--reorder", "rmc"], "--reorder: 'rmc' is not one of none, rcm, rcm_global"),
        (["solve", *MESH, "--balance", "nnz"], "--balance: 'nnz' is not one of automatic, rows, nonzeros"),
        (["convert", *MESH, "A.mtx", "--write-order", "A.order"], "--write-order needs --partition METHOD"),
        (["convert", *MESH, "A.mtx", "--reorder", "rcm", "--write-order", "A.mtx"], "name the same file"),
        (["solve", "-p", "laplace7", "--shuffled", 3], "--shuffled needs --problem unstructured"),
    ],
)
def test_wrong_command_lines(nodewise, words, message):
    result = nodewise(*words)
    assert result.code == 2 and message in result.err
