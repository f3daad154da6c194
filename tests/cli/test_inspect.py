"""`nodewise inspect`: a matrix, its hierarchy, and what virtual ranks would send."""

import json

import jsonschema
import pytest

from conftest import expect_same_products, laplacian, write_market

LAPLACE = ["inspect", "--problem", "laplace5", "--n", "20"]
OPERATIONS = ["product", "interpolation", "interpolation_rows"]


def inspect(nodewise, tmp_path, *words, ranks=1):
    """The report of a run that succeeds, and what it printed."""
    path = tmp_path / "report.json"
    result = nodewise("inspect", *words, "--json", path, ranks=ranks)
    assert result.code == 0, result.err
    return json.loads(path.read_text()), result.out


def schema(source):
    return json.loads((source / "docs" / "inspect.schema.json").read_text())


def test_matrix_facts(nodewise, tmp_path):
    entries = [(1, 1, 2.0), (1, 4, -0.5), (2, 2, -3.0), (2, 1, 4.0), (3, 3, 1.0), (4, 2, 1.0)]
    path = write_market(tmp_path / "A.mtx", 4, 4, entries)
    report, out = inspect(nodewise, tmp_path, path)
    matrix = report["matrix"]
    assert (matrix["rows"], matrix["columns"], matrix["nonzeros"]) == (4, 4, 6)
    assert (matrix["shortest_row"], matrix["longest_row"], matrix["empty_rows"]) == (1, 2, 0)
    assert matrix["bandwidth"] == 3
    assert (matrix["zero_diagonals"], matrix["negative_diagonals"]) == (1, 1)
    assert matrix["dominant_rows"] == 2
    assert (matrix["smallest_modulus"], matrix["largest_modulus"]) == (0.5, 4.0)
    assert not matrix["symmetric"]
    assert report["hierarchy"] is None
    assert "row 4 has no nonzero diagonal entry" in report["no_hierarchy"]
    assert "row 4 has no nonzero diagonal entry" in " ".join(out.split())


@pytest.mark.parametrize("ranks", [1, 3])
def test_without_virtual_ranks_it_runs_on_any_number(nodewise, tmp_path, ranks):
    report, out = inspect(nodewise, tmp_path, *LAPLACE[1:], ranks=ranks)
    assert report["machine"]["ranks"] == ranks
    assert report["virtual_ranks"] is None
    levels = report["hierarchy"]["levels"]
    assert (levels[0]["rows"], levels[0]["nonzeros"]) == (400, 5 * 400 - 4 * 20)
    assert levels[0]["longest_row"] == 5
    assert levels[-1]["coarse_solver"] == "direct"
    assert ("on-node" in out) == (ranks > 1)


@pytest.mark.parametrize(
    "words",
    [
        ["--problem", "laplace7", "--n", "6"],
        [*LAPLACE[1:], "--virtual-ranks", "12", "--ranks-per-node", "5"],
        [*LAPLACE[1:], "--virtual-ranks", "3", "--node-map", "7,0,7", "--routes", "two-step"],
        [*LAPLACE[1:], "--virtual-ranks", "3", "--node-map", "7,0,7", "--method", "air"],
    ],
)
def test_report_follows_the_schema(nodewise, tmp_path, source, words):
    report, _ = inspect(nodewise, tmp_path, *words)
    validator = jsonschema.Draft7Validator(schema(source))
    validator.validate(report)
    report["matrix"]["colour"] = "red"
    assert not validator.is_valid(report)


# A chain of 8 points on 4 virtual ranks, two nodes of two: every rank sends one number to each
# neighbour, and one pair of neighbours is on different nodes.
def test_a_chain_is_counted_exactly(nodewise, tmp_path):
    path = write_market(tmp_path / "chain.mtx", 8, 8, laplacian(8))
    report, _ = inspect(nodewise, tmp_path, path, "--virtual-ranks", 4, "--ranks-per-node", 2)
    counts = report["virtual_ranks"]
    assert (counts["ranks"], counts["nodes"], counts["ranks_per_node"]) == (4, 2, [2, 2])
    finest = counts["levels"][0]
    assert (finest["active_ranks"], finest["most_rows_of_a_rank"]) == (4, 2)
    assert set(finest["product"]) == {"direct", "two_step", "three_step"}
    on_node = dict(max_messages_of_a_rank=1, max_bytes_of_a_rank=8, messages=4, bytes=32)
    assert finest["product"]["direct"] == {
        "on_domain": on_node,  # nodes are not divided
        "on_node": on_node,
        "off_node": dict(max_messages_of_a_rank=1, max_bytes_of_a_rank=8, messages=2, bytes=16),
    }


def test_dealing_ranks_round_robin_sends_more_between_nodes(nodewise, tmp_path):
    path = write_market(tmp_path / "chain.mtx", 8, 8, laplacian(8))
    words = [path, "--virtual-ranks", 4, "--ranks-per-node", 2, "--placement", "round_robin"]
    report, out = inspect(nodewise, tmp_path, *words)
    direct = report["virtual_ranks"]["levels"][0]["product"]["direct"]
    assert direct["on_node"]["messages"] == 0
    assert direct["off_node"]["messages"] == 6
    assert "successive ranks on successive nodes" in out


def test_a_machine_decides_on_the_ranks_of_levels(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", 12, "--virtual-ranks", 64, "--ranks-per-node", 8]
    costs = ["--machine", "blue-waters"]

    def levels(command, *more):
        path = tmp_path / "report.json"
        assert nodewise(command, *words, *more, "--json", path).code == 0
        report = json.loads(path.read_text())
        found = report["virtual_ranks"]["levels"] if command == "inspect" else report["levels"]
        return report["options"]["redistribution"], [level["active_ranks"] for level in found]

    assert levels("inspect")[0] == "none"
    assert levels("inspect", *costs) == levels("predict", *costs)
    assert levels("inspect", *costs)[0] == "automatic"
    assert levels("inspect", *costs, "--redistribution", "model_2014")[0] == "model_2014"


@pytest.mark.parametrize("more", [["--redistribution", "none"], []])
def test_a_machine_that_decides_nothing_is_refused(nodewise, more):
    words = ["inspect", *LAPLACE[1:], "--machine", "eos", *more]
    if more:
        words += ["--virtual-ranks", 4, "--ranks-per-node", 2]
    result = nodewise(*words)
    assert result.code == 2
    assert "--machine is for the ranks of levels" in result.messages[0]


def test_routes_send_less_between_nodes_and_never_more(nodewise, tmp_path):
    words = ["--problem", "rotated_fe", "--n", 40, "--virtual-ranks", 64, "--ranks-per-node", 8]
    report, _ = inspect(nodewise, tmp_path, *words)
    levels = report["virtual_ranks"]["levels"]
    assert len(levels) == len(report["hierarchy"]["levels"]) > 2
    gains = 0
    for level in levels:
        for operation in OPERATIONS:
            routes = level[operation]
            if routes is None:
                assert operation != "product" and level is levels[-1]
                continue
            direct, two, three = (
                routes[route]["off_node"] for route in ["direct", "two_step", "three_step"]
            )
            for route in (two, three):
                assert route["messages"] <= direct["messages"]
                assert route["bytes"] <= direct["bytes"]
                gains += route["messages"] < direct["messages"]
            assert three["bytes"] == two["bytes"]
    assert gains > 0


# Where nothing in the hierarchy depends on the ranks the counts are those of real ranks.
@pytest.mark.parametrize("coarsening", ["pmis", "hmis"])
def test_counts_are_those_of_a_real_run(nodewise, tmp_path, coarsening):
    problem = ["--problem", "laplace7", "--n", 9, "--coarsening", coarsening]
    problem += ["--max-interpolation-entries", 0, "--max-coarse-rows", 10]
    report, out = inspect(
        nodewise, tmp_path, *problem, "--virtual-ranks", 4, "--ranks-per-node", 2
    )
    assert report["virtual_ranks"]["coarse_levels_are_exact"]
    assert "coarser ones likewise" in " ".join(out.split())
    path = tmp_path / "solve.json"
    for route in ["direct", "two_step", "three_step"]:
        words = [*problem, "--ranks-per-node", 2, "--route", route, "--json", path]
        assert nodewise("solve", *words, ranks=4).code == 0
        expect_same_products(report, json.loads(path.read_text()), route)


def test_any_shape_can_be_counted(nodewise, tmp_path):
    path = write_market(tmp_path / "wide.mtx", 2, 4, [(1, 4, 1.0), (2, 1, 1.0)])
    words = [path, "--virtual-ranks", 2, "--ranks-per-node", 1, "--routes", "direct"]
    report, out = inspect(nodewise, tmp_path, *words)
    assert report["matrix"]["zero_diagonals"] is None
    assert "not square" in report["no_hierarchy"]
    (level,) = report["virtual_ranks"]["levels"]
    assert level["product"]["direct"]["off_node"]["messages"] == 2
    assert level["interpolation"] is None
    assert "2 rows, 4 columns" in out


def test_tables_fit_a_page(nodewise):
    words = ["--n", 100, "--virtual-ranks", 1000, "--ranks-per-node", 16]
    result = nodewise(*LAPLACE[:3], *words, "--details")
    assert result.code == 0
    lines = result.out.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert "1,000 ranks on 63 nodes of 8 to 16, successive ranks on one node" in result.out
    assert sum(line.startswith("Between nodes") for line in lines) == 2


def test_the_answer_fits_a_screen(nodewise):
    result = nodewise(*LAPLACE[:3], "--n", 100, "--virtual-ranks", 1000, "--ranks-per-node", 16)
    lines = result.out.splitlines()
    assert len(lines) <= 40 and max(len(line) for line in lines) <= 100
    assert {"Matrix", "Hierarchy", "Virtual ranks"} < set(lines)
    (three_step,) = [line.split() for line in lines if line.split()[:1] == ["three-step"]]
    assert int(three_step[1].replace(",", "")) > 0
    assert not any(line.startswith("Between nodes") for line in lines)
    assert "--details" in result.out


def test_quiet_prints_nothing(nodewise):
    result = nodewise(*LAPLACE, "--quiet", "--virtual-ranks", 4, "--ranks-per-node", 2)
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize(
    "words, message",
    [
        (["inspect"], "no matrix: give a Matrix Market file"),
        ([*LAPLACE, "--virtual-ranks", "8"], "--virtual-ranks needs --ranks-per-node N or"),
        ([*LAPLACE, "--routes", "direct"], "--routes is for virtual ranks; it needs"),
        ([*LAPLACE, "--smoother", "jacobi"], "`nodewise inspect` takes no --smoother"),
        ([*LAPLACE, "--route", "two_step"], "`nodewise inspect` takes no --route"),
        (["solve", "--virtual-ranks", "8"], "`nodewise solve` takes no --virtual-ranks"),
        (
            [*LAPLACE, "--virtual-ranks", "2", "--ranks-per-node", "1", "--routes", "direct,fast"],
            "--routes: 'fast' is none of direct, two_step, three_step",
        ),
        (
            [*LAPLACE, "--virtual-ranks", "2", "--node-map", "0,1", "--routes", "direct,direct"],
            "--routes: direct is named twice",
        ),
        (
            [*LAPLACE, "--virtual-ranks", "3", "--node-map", "0,1"],
            "--node-map: 2 node numbers given for 3 ranks",
        ),
        (
            [*LAPLACE, "--virtual-ranks", "2", "--node-map", "0,1", "--placement", "block"],
            "--node-map has dealt them",
        ),
    ],
)
def test_wrong_command_lines(nodewise, words, message):
    result = nodewise(*words)
    assert result.code == 2
    assert result.out == ""
    assert len(result.messages) == 1, result.err
    assert message in result.messages[0]


def test_virtual_ranks_are_counted_in_one_process(nodewise):
    words = [*LAPLACE, "--virtual-ranks", 8, "--ranks-per-node", 2]
    result = nodewise(*words, ranks=2)
    assert result.code == 2
    (message,) = result.messages
    assert "counts in one process: start nodewise on one rank, not on 2" in message


def test_a_report_that_cannot_be_written(nodewise):
    result = nodewise(*LAPLACE, "--json", "no/such/folder.json")
    assert result.code == 6
    assert len(result.messages) == 1
