"""Partitions: files of them, and the rows of virtual ranks."""

import gzip
import json

import pytest
from conftest import expect_same_products, laplacian, read_vector, write_market

CHAIN = ["--problem", "laplace5", "--n", 6]  # 36 rows


def test_a_partition_is_written_and_read(nodewise, tmp_path):
    words = [*CHAIN, "--partition", "strided", "--write-partition", "A.part"]
    result = nodewise("convert", *words, "--virtual-ranks", 3, "--ranks-per-node", 2)
    assert result.code == 0, result.err
    assert "A.part: 36 rows for 3 ranks on 2 nodes" in result.out
    assert (tmp_path / "A.part").read_text() == "".join(f"{k % 3}\n" for k in range(36))
    assert nodewise("convert", *words[:-1], "B.part.gz", ranks=3).code == 0
    text = (tmp_path / "A.part").read_bytes()
    assert gzip.decompress((tmp_path / "B.part.gz").read_bytes()) == text
    solutions = []
    for given in (["strided"], ["file", "--partition-file", "A.part"], ["file", "--partition-file", "B.part.gz"]):
        result = nodewise("solve", *CHAIN, "--random-rhs", "-t", 1e-12, "-o", "x.mtx", "--partition", *given, ranks=3)
        assert result.code == 0, result.err
        solutions.append(read_vector(tmp_path / "x.mtx"))
    assert solutions[0] == solutions[1] == solutions[2]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_matrix_is_written_in_the_order_of_the_parts(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 6, 6, [(i, i, float(i)) for i in range(1, 7)] + [(1, 2, 9.0)])
    words = [] if ranks == 3 else ["--virtual-ranks", 3, "--ranks-per-node", 1]
    result = nodewise("convert", "A.mtx", "B.mtx", "--partition", "strided", *words, ranks=ranks)
    assert result.code == 0, result.err
    entries = [line.split() for line in (tmp_path / "B.mtx").read_text().splitlines()[2:]]
    # Rows 1, 4, then 2, 5, then 3, 6.
    assert [(int(i), int(j), float(v)) for i, j, v in entries] == [
        (1, 1, 1), (1, 3, 9), (2, 2, 4), (3, 3, 2), (4, 4, 5), (5, 5, 3), (6, 6, 6)]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "text, message",
    [
        ("0\n" * 35, "A.part: 35 owners, but the matrix has 36 rows"),
        ("0\n" * 37, "A.part: 37 owners, but the matrix has 36 rows"),
        ("", "A.part: 0 owners, but the matrix has 36 rows"),
        ("0\n" * 20 + "7\n" + "0\n" * 15, "A.part, line 21: the owner 7 is none of the {ranks}"),
        ("0\n" * 35 + "-1\n", "A.part, line 36: the owner -1 is none of the {ranks}"),
        ("% a\n\nx\n" + "0\n" * 35, "A.part, line 3: 'x' is not the number of a rank"),
        ("0 0\n" + "0\n" * 35, "A.part, line 1: '0 0' is not the number of a rank"),
        ("1.5\n" * 36, "A.part, line 1: '1.5' is not the number of a rank"),
    ],
)
def test_files_that_are_no_partition(nodewise, tmp_path, ranks, text, message):
    (tmp_path / "A.part").write_text(text)
    result = nodewise("solve", *CHAIN, "--partition", "file", "--partition-file", "A.part", ranks=ranks)
    assert result.code == 3
    (line,) = result.messages
    assert message.format(ranks="1 rank" if ranks == 1 else f"{ranks} ranks") in line


def test_a_partition_for_other_numbers_of_ranks(nodewise, tmp_path):
    (tmp_path / "A.part").write_text("0\n1\n" * 18)
    given = ["--partition", "file", "--partition-file", "A.part"]
    result = nodewise("solve", *CHAIN, *given, ranks=3)
    assert result.code == 3
    assert result.messages == ["nodewise: A.part: no row is for rank 2; it is not a partition for 3 ranks"]
    result = nodewise("inspect", *CHAIN, *given, "--virtual-ranks", 40, "--ranks-per-node", 8)
    assert result.messages == ["nodewise: A.part: 36 rows cannot be divided among 40 ranks"]
    result = nodewise("solve", *CHAIN, "--partition", "file", "--partition-file", "none.part", ranks=3)
    assert result.code == 3
    (line,) = result.messages
    assert "none.part" in line


def test_points_stay_together(nodewise, tmp_path):
    (tmp_path / "A.part").write_text("0\n0\n1\n" * 12)
    given = ["--partition", "file", "--partition-file", "A.part", "--unknowns", 3, "--preset", "default"]
    result = nodewise("inspect", *CHAIN, *given, "--virtual-ranks", 2, "--ranks-per-node", 1)
    assert result.code == 3
    assert "row 3 is for rank 1, and the first row of its point, of 3 rows, for rank 0" in result.err


@pytest.mark.parametrize(
    "words, message",
    [
        (["solve", *CHAIN, "--partition-file", "A.part"], "--partition-file needs --partition file"),
        (["solve", *CHAIN, "--partition", "file"], "--partition file needs --partition-file FILE"),
        (["convert", *CHAIN, "A.mtx", "--write-partition", "A.part"], "--write-partition needs --partition METHOD"),
        (["convert", *CHAIN, "A.mtx", "--placement", "block"], "--placement needs --partition METHOD"),
        (["solve", *CHAIN, "--placement", "exchange"], "--placement: 'exchange' is not one of none, block"),
        (["inspect", *CHAIN, "--partition", "automatic"], "--partition automatic goes by costs, which `nodewise inspect`"),
        (["convert", *CHAIN, "--partition", "automatic", "--write-partition", "A.part"], "`nodewise convert` does not"),
        (["predict", *CHAIN, "--partition", "automatic", "--virtual-ranks", 2, "--ranks-per-node", 1], "needs --machine"),
        (["convert", *CHAIN, "A.mtx", "--virtual-ranks", 2, "--ranks-per-node", 1], "--virtual-ranks needs"),
        (["convert", *CHAIN, "--partition", "strided"], "convert needs one file to write, but none is given"),
        (["convert", *CHAIN, "A.mtx", "--partition", "strided", "--write-partition", "A.mtx"], "name the same file"),
    ],
)
def test_wrong_command_lines(nodewise, words, message):
    result = nodewise(*words)
    assert result.code == 2 and message in result.err


# Where nothing in the hierarchy depends on the ranks the counts are those of real ranks.
@pytest.mark.parametrize("partition", ["strided", "contiguous", "node_aware"])
def test_counts_are_those_of_a_real_run(nodewise, tmp_path, partition):
    problem = ["--problem", "rotated_fe", "--n", 17, "--coarsening", "pmis", "--partition", partition]
    problem += ["--max-interpolation-entries", 0, "--max-coarse-rows", 10]
    virtual = ["--virtual-ranks", 5, "--ranks-per-node", 2, "--json", "inspect.json"]
    result = nodewise("inspect", *problem, *virtual)
    if "has no METIS" in result.err:
        pytest.skip("without METIS")
    assert result.code == 0, result.err
    assert f"partition {partition}: " in " ".join(result.out.split())
    report = json.loads((tmp_path / "inspect.json").read_text())
    assert report["options"]["partition"] == partition
    for route in ["direct", "three_step"]:
        words = [*problem, "--ranks-per-node", 2, "--route", route, "--json", "solve.json"]
        assert nodewise("solve", *words, ranks=5).code == 0
        real = json.loads((tmp_path / "solve.json").read_text())
        expect_same_products(report, real, route)


def test_strided_rows_send_more_whatever_looks_at_them(nodewise, tmp_path):
    virtual = ["--virtual-ranks", 16, "--ranks-per-node", 4, "--json", "p.json"]
    times = []
    for partition in ["none", "strided"]:
        words = ["--problem", "laplace5", "--n", 24, "-m", "blue-waters", "--partition", partition]
        assert nodewise("predict", *words, *virtual).code == 0
        report = json.loads((tmp_path / "p.json").read_text())
        assert report["options"]["partition"] == partition
        times.append(report["cycle"]["best_by_formula"]["formula_s"]["total"])
    assert times[1] > times[0]


# Parts 0 and 2 are neighbours, and so are 1 and 3.
def test_parts_are_placed_on_the_ranks_at_hand(nodewise, tmp_path):
    write_market(tmp_path / "A.mtx", 16, 16, laplacian(16))
    (tmp_path / "A.part").write_text("".join(f"{r}\n" for r in [0, 2, 1, 3] for _ in range(4)))
    words = ["A.mtx", "--partition", "file", "--partition-file", "A.part", "--placement", "pair-exchange"]
    words += ["--json", "r.json"]
    place = ["--ranks-per-node", 2]
    wanted = dict(parts=4, moved_parts=2, values_between_nodes_before=6, values_between_nodes=2)
    found = {}
    for machine in ([], ["-m", "blue-waters"]):
        result = nodewise("solve", *words, *place, *machine, ranks=4)
        assert result.code == 0, result.err
        assert "pair_exchange: 2 of 4 parts on other ranks; 2 values between nodes" in " ".join(result.out.split())
        found = json.loads((tmp_path / "r.json").read_text())["placement"]
        assert {key: found[key] for key in wanted} == wanted
        assert (found["product_s"] is None) == (not machine)
    assert found["product_s"] < found["product_s_before"]
    result = nodewise("inspect", *words, *place, "--virtual-ranks", 4)
    assert result.code == 0, result.err
    found = json.loads((tmp_path / "r.json").read_text())
    assert {key: found["placement"][key] for key in wanted} == wanted
    direct = found["virtual_ranks"]["levels"][0]["product"]["direct"]
    assert direct["off_node"]["bytes"] == 16
    result = nodewise("predict", *words, *place, "-m", "blue-waters", "--virtual-ranks", 4)
    assert result.code == 0, result.err
    found = json.loads((tmp_path / "r.json").read_text())["placement"]
    assert {key: found[key] for key in wanted} == wanted
    result = nodewise("convert", *words[:-2], "--write-partition", "B.part", *place, "--virtual-ranks", 4)
    assert result.code == 0, result.err
    owners = [int(line) for line in (tmp_path / "B.part").read_text().split()]
    assert len({owners[k] // 2 for k in range(8)}) == 1 and len({owners[k] // 2 for k in range(8, 16)}) == 1


# A grid whose points are numbered at random, so that every rank needs values of all others.
def test_a_partition_is_made_where_it_pays(nodewise, tmp_path):
    side = 24
    place = [k * 295 % side**2 for k in range(side**2)]
    links = [(k, k + 1) for k in range(side**2) if (k + 1) % side] + [(k, k + side) for k in range(side * (side - 1))]
    entries = [(i, i, 4.0) for i in range(1, side**2 + 1)]
    entries += [(place[a] + 1, place[b] + 1, -1.0) for k, m in links for a, b in ((k, m), (m, k))]
    write_market(tmp_path / "A.mtx", side**2, side**2, entries)
    words = ["A.mtx", "--partition", "automatic", "-m", "eos", "--json", "r.json"]
    for solves, chosen in ((1, "none"), (1000000, "node_aware")):
        given = [*words, "--expected-solves", solves, "--route", "direct", "--ranks-per-node", 1]
        result = nodewise("solve", *given, ranks=4)
        assert result.code == 0, result.err
        found = json.loads((tmp_path / "r.json").read_text())["partition_choice"]
        if "neither METIS" in found["reason"]:
            pytest.skip("without METIS")
        assert (found["chosen"], found["products"]) == (chosen, 30 * solves)
        assert 30 < found["pays_after"] < 30000000
        assert f"automatic, {chosen}: predicted" in " ".join(result.out.split())
        virtual = [*words, "--expected-solves", solves, "--routes", "direct", "--ranks-per-node", 1]
        result = nodewise("predict", *virtual, "--virtual-ranks", 4)
        assert result.code == 0, result.err
        foreseen = json.loads((tmp_path / "r.json").read_text())["partition_choice"]
        assert foreseen == found


def test_a_partition_is_decided_on_by_tune(nodewise, tmp_path):
    words = [*CHAIN, "--partition", "automatic", "--max-candidates", 2]
    result = nodewise("tune", *words, "--ranks-per-node", 1, ranks=2)
    assert result.code == 0, result.err
    assert "--partition automatic" in result.out


@pytest.mark.parametrize("placement", ["none", "block", "round-robin", "pair-exchange"])
def test_placements_of_ranks_dealt_in_turns(nodewise, tmp_path, placement):
    words = [*CHAIN, "--random-rhs", "-t", 1e-12, "-o", "x.mtx", "--json", "r.json"]
    assert nodewise("solve", *words).code == 0
    wanted = read_vector(tmp_path / "x.mtx")
    result = nodewise("solve", *words, "--placement", placement, "--node-map", "0,1,0,1", ranks=4)
    assert result.code == 0, result.err
    assert read_vector(tmp_path / "x.mtx") == pytest.approx(wanted, rel=1e-9)
    found = json.loads((tmp_path / "r.json").read_text())["placement"]
    if placement == "none":
        assert found is None
        return
    # Four stripes of the grid, three of whose sides cross unless neighbours share a node.
    assert found["values_between_nodes_before"] == 36
    assert found["values_between_nodes"] == (36 if placement == "round-robin" else 12)


@pytest.mark.parametrize("ranks", [1, 3])
def test_tune_and_inspect_move_rows(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 200, 200, laplacian(200))
    given = ["A.mtx", "--partition", "strided"]
    result = nodewise("tune", *given, "--max-candidates", 3, ranks=ranks)
    assert result.code == 0, result.err
    assert "--partition strided" in result.out  # in the command to paste
    result = nodewise("inspect", *given, ranks=ranks)
    assert result.code == 0, result.err
    assert "partition strided: " in " ".join(result.out.split())
