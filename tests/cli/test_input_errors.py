"""Every input that cannot be solved ends all ranks with one message and the documented code."""

import gzip
import os

import pytest
from conftest import laplacian, write_market, write_vector

HEADER = "%%MatrixMarket matrix coordinate real general\n"

# name of the case: (content of A.mtx, exit code, parts of the message)
BROKEN_FILES = {
    "empty": ("", 3, ["A.mtx"]),
    "not a matrix": ("hello\n", 3, ["A.mtx", "line 1"]),
    "unsupported header": (
        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
        3,
        ["complex", "line 1"],
    ),
    "malformed size": (HEADER + "3 x 3\n", 3, ["line 2"]),
    "malformed entry": (HEADER + "2 2 2\n1 1 1.0\n2 2 one\n", 3, ["line 4", "one"]),
    "row out of range": (HEADER + "2 2 2\n1 1 1.0\n3 2 1.0\n", 3, ["line 4", "3"]),
    "column zero": (HEADER + "2 2 2\n1 0 1.0\n2 2 1.0\n", 3, ["line 3", "0"]),
    "too few entries": (HEADER + "2 2 3\n1 1 1.0\n2 2 1.0\n", 3, ["3", "2"]),
    "too many entries": (HEADER + "2 2 1\n1 1 1.0\n2 2 1.0\n", 3, ["line 4"]),
    "not a number": (HEADER + "2 2 2\n1 1 nan\n2 2 1.0\n", 3, ["line 3"]),
    "infinite": (HEADER + "2 2 2\n1 1 inf\n2 2 1.0\n", 3, ["line 3"]),
    "not square": (HEADER + "3 2 2\n1 1 1.0\n2 2 1.0\n", 4, ["3 rows", "2 columns"]),
    "empty row": (HEADER + "3 3 2\n1 1 1.0\n3 3 1.0\n", 4, ["row", "2"]),
    "zero diagonal": (
        HEADER + "3 3 5\n1 1 2.0\n1 2 -1.0\n2 1 -1.0\n2 2 0.0\n3 3 1.0\n", 4,
        ["row 2 has no nonzero diagonal entry, which multigrid needs. Saddle point: --preconditioner direct, "
         "by its factors, or --solver minres, --preconditioner none. Adjacency matrix of a graph: --graph-laplacian"]),
    "missing diagonal": (
        HEADER + "3 3 4\n1 1 2.0\n1 2 -1.0\n2 1 -1.0\n3 3 1.0\n", 4, ["row 2 has no nonzero diagonal"]),
}


def assert_failed(result, code, parts):
    assert result.code == code, result.err
    assert len(result.messages) == 1, result.err
    for part in parts:
        assert part in result.messages[0]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", BROKEN_FILES)
def test_a_matrix_that_cannot_be_used(nodewise, tmp_path, case, ranks):
    content, code, parts = BROKEN_FILES[case]
    (tmp_path / "A.mtx").write_text(content)
    result = nodewise("solve", "A.mtx", "-q", "-o", "x.mtx", "--json", "r.json", "--preconditioner", "amg",
                      ranks=ranks)
    assert_failed(result, code, parts)
    assert result.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.mtx"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_missing_file(nodewise, ranks):
    assert_failed(nodewise("solve", "B.mtx", ranks=ranks), 3, ["B.mtx"])


def test_folder_in_place_of_a_file(nodewise, tmp_path):
    (tmp_path / "A.mtx").mkdir()
    assert_failed(nodewise("solve", "A.mtx"), 3, ["A.mtx"])


@pytest.mark.parametrize("ranks", [1, 3])
def test_truncated_gzip(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 500, 500, laplacian(500))
    packed = gzip.compress((tmp_path / "A.mtx").read_bytes())
    (tmp_path / "B.mtx.gz").write_bytes(packed[: len(packed) // 2])
    assert_failed(nodewise("solve", "B.mtx.gz", ranks=ranks), 3, ["B.mtx.gz"])


@pytest.mark.parametrize("ranks", [1, 3])
def test_right_hand_side_of_wrong_length(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 5, 5, laplacian(5))
    write_vector(tmp_path / "b.mtx", [1.0] * 7)
    result = nodewise("solve", "A.mtx", "--rhs", "b.mtx", ranks=ranks)
    assert_failed(result, 3, ["b.mtx", "7", "5"])


def test_missing_right_hand_side(nodewise, tmp_path):
    write_market(tmp_path / "A.mtx", 5, 5, laplacian(5))
    assert_failed(nodewise("solve", "A.mtx", "--rhs", "b.mtx", ranks=3), 3, ["b.mtx"])


@pytest.mark.parametrize("ranks", [1, 3])
def test_memory_that_no_machine_has(nodewise, ranks):
    result = nodewise("solve", "--problem", "laplace27", "--n", "20000", ranks=ranks)
    assert_failed(result, 5, ["not enough memory", "needs about", "PiB", "; this node has "])


# 10^15 rows of 7 nonzeros: the matrix alone, both orders of it, and its graph, too.
def test_memory_to_divide_rows(nodewise):
    words = ["convert", "--problem", "laplace7", "--n", 100000, "A.mtx"]
    needs = []
    for more in [[], ["--partition", "contiguous"], ["--partition", "metis"]]:
        result = nodewise(*words, *more)
        assert_failed(result, 5, ["not enough memory", "PiB"])
        needs.append(float(result.err.split("needs about ")[1].split()[0]))
    assert needs == pytest.approx([bytes / 2**50 * 1e15 for bytes in [92, 218, 502]], rel=0.01)


def test_memory_for_right_hand_sides(nodewise):
    words = ["solve", "--problem", "laplace5", "--n", "20000", "--random-rhs"]
    # 16 bytes for each of 4e8 rows and 1000 right-hand sides are 5.8 TiB.
    many = nodewise(*words, "--rhs-count", "1000", ranks=2)
    assert_failed(many, 5, ["not enough memory", "TiB; this node has "])


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_small_file_of_very_many_rows(nodewise, tmp_path, ranks):
    rows = 10**13
    write_market(tmp_path / "A.mtx", rows, rows, [(1, 1, 1.0), (2, 2, 1.0)])
    result = nodewise("solve", "A.mtx", ranks=ranks)
    assert_failed(result, 5, ["not enough memory", "PiB", " free. "])


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "--virtual-ranks", "10000000"],
        ["predict", "--virtual-ranks", "16", "--rank-counts", "16,10000000", "--machine", "generic-cluster",
         "--s-per-flop", "1e-9"],
    ],
)
def test_memory_for_virtual_ranks(nodewise, words):
    words = [*words, "--problem", "laplace5", "--n", "5", "--ranks-per-node", "16"]
    # 17 GB, where the shell leaves 4.
    result = nodewise(*words, prefix=("bash", "-c", 'ulimit -v 4000000; exec "$0" "$@"'))
    if "sanitizers" in nodewise("version").out:
        pytest.skip("the address sanitizer needs unlimited address space")
    assert_failed(result, 5, ["not enough memory", "needs about 16.8 GiB; this node has "])


# Leaves one rank less memory than its part of the matrix takes at its peak.
STARVE_RANK_1 = (
    "bash",
    "-c",
    '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || ulimit -v 350000; exec "$0" "$@"',
)


def test_one_rank_out_of_memory_stops_all(nodewise):
    if "sanitizers" in nodewise("version").out:
        pytest.skip("the address sanitizer needs unlimited address space")
    words = ["solve", "--problem", "laplace27", "--n", "100", "--ignore-memory-check", "-q"]
    result = nodewise(*words, ranks=2, prefix=STARVE_RANK_1)
    # Mostly all ranks agree that one has no memory. Where it runs out between two messages of an
    # exchange they cannot, and the program is stopped instead.
    agreed = (5, ["nodewise: rank 1: not enough memory"])
    stopped = (70, ["nodewise: rank 1 failed alone, all ranks are stopped: not enough memory"])
    assert (result.code, result.messages) in (agreed, stopped)
    assert result.out == ""


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("option", ["-o", "--json"])
@pytest.mark.parametrize("target", ["missing/x.mtx", "/proc/x.mtx", "folder.mtx"])
def test_output_that_cannot_be_written(nodewise, tmp_path, option, target, ranks):
    (tmp_path / "folder.mtx").mkdir()
    result = nodewise("solve", "--problem", "laplace5", "--n", "5", option, target, ranks=ranks)
    assert_failed(result, 6, [target])
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.mtx"]


REPLACED = {
    "the matrix by the solution": ("A.mtx", ["solve", "A.mtx", "-o", "A.mtx"]),
    "the matrix by the report": ("A.mtx", ["solve", "A.mtx", "--json", "../{folder}/A.mtx"]),
    "the matrix of inspect": ("A.mtx", ["inspect", "A.mtx", "--json", "link.mtx"]),
    "the matrix of tune": ("A.mtx", ["tune", "A.mtx", "--json", "A.mtx"]),
    "the matrix of bench": ("A.mtx", ["bench", "spmv", "A.mtx", "--json", "A.mtx"]),
    "the matrix of convert": ("A.mtx", ["convert", "./A.mtx", "A.mtx"]),
    "the right-hand side": ("b.mtx", ["solve", "A.mtx", "--rhs", "b.mtx", "-o", "./b.mtx"]),
    "vectors": (
        "b.mtx",
        ["solve", "A.mtx", "--method", "aggregation", "--near-null-space", "b.mtx", "-o", "b.mtx"],
    ),
    "the machine of predict": (
        "m.json",
        ["predict", "A.mtx", "--machine", "m.json", "--virtual-ranks", "2", "--ranks-per-node", "1",
         "--json", "m.json"],
    ),
    "the machine of calibrate": ("m.json", ["calibrate", "--base", "m.json", "-o", "./m.json"]),
}


@pytest.mark.parametrize("case", REPLACED)
def test_no_output_replaces_an_input(nodewise, tmp_path, case):
    replaced, words = REPLACED[case]
    write_market(tmp_path / "A.mtx", 5, 5, laplacian(5))
    write_vector(tmp_path / "b.mtx", [1.0] * 5)
    (tmp_path / "m.json").write_text("{}")
    (tmp_path / "link.mtx").symlink_to("A.mtx")
    before = (tmp_path / replaced).read_bytes()
    result = nodewise(*(word.format(folder=tmp_path.name) for word in words))
    assert_failed(result, 2, ["name the same file", words[-1].split("/")[-1]])
    assert (tmp_path / replaced).read_bytes() == before


def test_on_several_ranks_no_output_replaces_an_input(nodewise, tmp_path):
    path = write_market(tmp_path / "A.mtx", 5, 5, laplacian(5))
    before = path.read_bytes()
    result = nodewise("solve", "A.mtx", "-o", path, ranks=3)
    assert_failed(result, 2, ["the matrix and --output name the same file"])
    assert path.read_bytes() == before


def test_a_device_is_not_replaced(nodewise):
    before = os.stat("/dev/null")
    result = nodewise("solve", "--problem", "laplace5", "--n", "5", "--json", "/dev/null")
    assert_failed(result, 6, ["/dev/null", "not a regular file"])
    assert os.stat("/dev/null").st_rdev == before.st_rdev


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "--problem", "laplace5", "--n", "5"],
        ["solve", "--problem", "laplace5", "--n", "5", "--progress", "live"],
        ["inspect", "--problem", "laplace5", "--n", "5"],
        ["convert", "--problem", "laplace5", "--n", "5", "A.mtx"],
        ["options", "--markdown"],
        ["solve", "--help"],
        ["version"],
    ],
)
def test_a_full_standard_output(nodewise, words):
    result = nodewise(*words, prefix=("bash", "-c", 'exec "$0" "$@" > /dev/full'))
    assert_failed(result, 6, ["cannot write all of the standard output"])


def test_nothing_printed_needs_no_room(nodewise):
    words = ["solve", "--problem", "laplace5", "--n", "5", "-q"]
    result = nodewise(*words, prefix=("bash", "-c", 'exec "$0" "$@" > /dev/full'))
    assert (result.code, result.err) == (0, "")


def test_convert_to_a_target_that_cannot_be_written(nodewise, tmp_path):
    result = nodewise("convert", "--problem", "laplace5", "--n", "5", "missing/A.mtx", ranks=3)
    assert_failed(result, 6, ["missing/A.mtx"])
    assert not list(tmp_path.iterdir())


def test_convert_to_an_unknown_format(nodewise, tmp_path):
    result = nodewise("convert", "--problem", "laplace5", "--n", "5", "A.xyz", ranks=2)
    assert result.code in (2, 6)
    assert len(result.messages) == 1
    assert "A.xyz" in result.messages[0]
    assert not list(tmp_path.iterdir())
