"""Solves that succeed, and solves that end with a diagnosis."""

import json
import os
import re

import jsonschema
import pytest
from conftest import laplacian, read_vector, write_market, write_vector
from test_aggregation import write_problem


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_solution_file_holds_the_known_solution(nodewise, tmp_path, ranks):
    n = 40
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    solution = [1.0 + (i % 7) for i in range(n)]
    padded = [0.0, *solution, 0.0]
    rhs = [2 * padded[i] - padded[i - 1] - padded[i + 1] for i in range(1, n + 1)]
    write_vector(tmp_path / "b.mtx", rhs)
    result = nodewise("solve", "A.mtx", "--rhs", "b.mtx", "-o", "x.mtx", "--tolerance", "1e-12",
                      ranks=ranks)
    assert result.code == 0, result.err
    x = read_vector(tmp_path / "x.mtx")
    assert max(abs(a - b) for a, b in zip(x, solution, strict=True)) < 1e-8
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.mtx", "b.mtx", "x.mtx"]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("modes", [["--near-null-space", "B.mtx"], ["--coordinates", "x.mtx"]])
@pytest.mark.parametrize("preset", [[], ["--preset", "auto"], ["--preset", "elasticity"]])
def test_modes_make_the_preset_aggregate(nodewise, tmp_path, preset, modes, ranks):
    write_problem(tmp_path, 7, 7)  # 49 points, which three ranks cannot share evenly
    words = ["A.mtx", "--unknowns", "2", *modes, *preset, "--json", "r.json"]
    result = nodewise("solve", *words, ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["preset"]["name"] == "elasticity"
    assert (report["options"]["method"], report["options"]["unknowns"]) == ("aggregation", 2)


def test_modes_are_for_aggregation_alone(nodewise):
    for modes in (["--near-null-space", "B.mtx"], ["--coordinates", "x.mtx"]):
        for other in (["--preset", "poisson"], ["--method", "classical"], ["--method", "air"]):
            result = nodewise("solve", "A.mtx", "--unknowns", "3", *modes, *other)
            assert result.code == 2
            assert f"{modes[0]} is for --method aggregation" in result.err


@pytest.mark.parametrize("ranks", [1, 3])
def test_quiet_prints_nothing(nodewise, ranks):
    result = nodewise("solve", "--problem", "laplace5", "--n", "10", "-q", ranks=ranks)
    assert (result.code, result.out, result.messages) == (0, "", [])


@pytest.mark.parametrize("ranks", [1, 3])
def test_one_line_for_every_iteration_and_level(nodewise, tmp_path, ranks):
    words = ["solve", "--problem", "laplace5", "--n", "40", "--json", "r.json"]
    result = nodewise(*words, ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    pattern = r"^  iteration +(\d+) +relative residual \d"
    numbers = [int(number) for number in re.findall(pattern, result.out, re.MULTILINE)]
    assert numbers == list(range(1, report["solve"]["iterations"] + 1))
    assert len(numbers) >= 3
    levels = re.findall(r"^  level +(\d+) +\S+ rows", result.out, re.MULTILINE)
    assert [int(level) for level in levels] == list(range(len(report["hierarchy"]["levels"])))
    assert len(levels) >= 2
    assert "\r" not in result.out
    assert max(map(len, result.out.splitlines())) <= 100


def test_live_progress_replaces_its_line(nodewise):
    words = ["solve", "--problem", "laplace5", "--n", "20", "--progress", "live"]
    result = nodewise(*words, "--details")
    assert result.code == 0
    assert "\r\x1b[K  iteration" in result.out
    assert "Relative residual after each iteration" in result.out
    short = nodewise(*words).out
    assert "Relative residual after each iteration" not in short
    assert short.count("\n") <= 40 and "Hierarchy\n" in short and "Result\n" in short


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize(
    "options",
    [
        ["--problem", "laplace27", "--n", "12"],
        ["--problem", "rotated_fe", "--n", "30", "--solver", "gmres", "--ranks-per-node", "3"],
        ["--problem", "laplace5", "--n", "20", "--preconditioner", "jacobi", "--random-rhs"],
        ["--problem", "laplace5", "--n", "20", "--preconditioner", "none", "--ranks-per-node", "2"],
        ["--problem", "laplace7", "--n", "6", "--max-iterations", "2"],
        ["--problem", "laplace5", "--n", "20", "--solver", "minres", "--norm", "natural"],
    ],
)
def test_report_follows_the_schema(nodewise, tmp_path, source, options, ranks):
    result = nodewise("solve", *options, "--json", "r.json", ranks=ranks)
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(report)
    assert report["exit_code"] == result.code
    assert report["machine"]["ranks"] == ranks
    assert sum(report["machine"]["ranks_per_node"]) == ranks
    assert report["command_line"] == ["solve", *options, "--json", "r.json"]
    solve = report["solve"]
    assert solve["history"][0] == pytest.approx(1.0)
    assert len(solve["history"]) == solve["iterations"] + 1
    if result.code == 0 and "--norm" not in options:
        assert solve["true_relative_residual"] <= 1e-8
    assert (report["error"] is None) == ("--random-rhs" in options)


def test_schema_rejects_unknown_and_missing_fields(nodewise, tmp_path, source):
    nodewise("solve", "--problem", "laplace5", "--n", "5", "--json", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid(report)
    assert not validator.is_valid({**report, "surprise": 1})
    for field in report:
        assert not validator.is_valid({k: v for k, v in report.items() if k != field}), field


def test_options_in_the_report_are_those_given(nodewise, tmp_path):
    words = ["--problem", "laplace5", "--n", "9", "--tolerance", "1e-5", "--coarsening", "pmis"]
    nodewise("solve", *words, "--json", "r.json")
    options = json.loads((tmp_path / "r.json").read_text())["options"]
    assert options["n"] == 9
    assert options["tolerance"] == 1e-5
    assert options["coarsening"] == "pmis"
    assert options["problem"] == "laplace5"
    assert options["quiet"] is False


@pytest.mark.parametrize(
    "node_map, on_node, off_node", [("0,0,0,0", 6, 0), ("0,1,2,3", 0, 6), ("0,0,1,1", 4, 2)]
)
def test_messages_are_counted_by_placement(nodewise, tmp_path, node_map, on_node, off_node):
    # Four strips of a grid: each rank sends to the one above and the one below, 6 messages in all,
    # each with a line of 16 values.
    words = ["--problem", "laplace5", "--n", "16", "--node-map", node_map, "--json", "r.json"]
    nodewise("solve", *words, ranks=4)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["machine"]["placement"] == "given"
    assert report["machine"]["nodes"] == len(set(node_map.split(",")))
    traffic = report["hierarchy"]["levels"][0]["product_traffic"]
    assert (traffic["messages_on_node"], traffic["messages_off_node"]) == (on_node, off_node)
    assert traffic["bytes_on_node"] == on_node * 16 * 8
    assert traffic["bytes_off_node"] == off_node * 16 * 8
    assert traffic["max_messages_of_a_rank"] == 2


def test_domains_are_given_and_counted(nodewise, tmp_path):
    # The same four strips on one node: two of the six messages cross from half to half.
    words = ["--problem", "laplace5", "--n", "16", "--domain-map", "3,3,1,1", "--json", "r.json"]
    result = nodewise("solve", *words, ranks=4)
    assert "4 ranks on 1 node with 2 domains" in result.out
    assert "stay in one domain" in result.out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["machine"]["domains"] == 2
    traffic = report["hierarchy"]["levels"][0]["product_traffic"]
    assert (traffic["messages_on_node"], traffic["messages_on_domain"]) == (6, 4)
    assert (traffic["bytes_on_node"], traffic["bytes_on_domain"]) == (6 * 16 * 8, 4 * 16 * 8)


def test_threads_are_used_or_refused(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "12", "--threads", "2", "--json", "r.json"]
    result = nodewise("solve", *words)
    if "OpenMP" in nodewise("version").out:
        assert result.code == 0, result.err
        assert "1 rank on 1 node, 2 threads each" in result.out
        report = json.loads((tmp_path / "r.json").read_text())
        assert report["machine"]["threads_per_rank"] == 2
    else:
        assert result.code == 2
        assert "without OpenMP" in result.messages[0]


@pytest.mark.parametrize("ranks", [1, 2])
def test_threads_are_bound_or_refused(nodewise, source, tmp_path, ranks):
    words = ["--problem", "laplace27", "--n", "12", "--bind", "cores", "--json", "r.json"]
    result = nodewise("solve", *words, ranks=ranks)
    if "hwloc" not in nodewise("version").out:
        assert result.code == 2
        assert "--bind: this build was made without hwloc" in result.messages[0]
        return
    cores = len(os.sched_getaffinity(0))  # at least as many as there are cores
    if cores < ranks:
        assert result.code == 2
        assert len(result.messages) == 1
        return
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    assert re.fullmatch(r"core [0-9]+", report["machine"]["bound_to"])
    told = ", bound to " + report["machine"]["bound_to"] + (" (rank 0)" if ranks > 1 else "")
    assert told in " ".join(result.out.split())
    result = nodewise("solve", *words[:4], "--json", "r.json", ranks=ranks)
    assert json.loads((tmp_path / "r.json").read_text())["machine"]["bound_to"] is None
    assert "bound to" not in result.out


@pytest.mark.parametrize("ranks", [1, 2])
def test_threads_that_find_no_cores_are_refused(nodewise, ranks):
    if not {"hwloc", "OpenMP"} <= set(re.findall(r"\w+", nodewise("version").out)):
        pytest.skip("needs hwloc and OpenMP")
    words = ["solve", "--problem", "laplace27", "--n", "12", "--bind"]
    result = nodewise(*words, "cores", "--threads", "256", ranks=ranks)
    if len(os.sched_getaffinity(0)) < 256:
        assert result.code == 2
        assert len(result.messages) == 1
        assert f"--bind: {256 * ranks} cores are needed for the threads of {ranks} rank" in result.err
    result = nodewise(*words, "siblings", ranks=ranks)
    assert result.code == 2
    assert len(result.messages) == 1
    assert "needs --threads of 2 or more" in result.err


def test_binding_is_no_matter_of_calibration(nodewise):
    # Its threads would all be on the core of the first.
    result = nodewise("calibrate", "--bind", "cores")
    assert result.code == 2
    assert "--bind" in result.messages[0]


# On the coarsest level every rank needs something of every other; there are two domains of two.
@pytest.mark.parametrize("route, messages", [("direct", 8), ("two_step", 4), ("three_step", 4)])
def test_routes_over_domains(nodewise, tmp_path, route, messages):
    words = ["--problem", "laplace27", "--n", "12", "--domain-map", "0,1,0,1", "--route", route]
    words += ["--aggressive-levels", "0"]
    result = nodewise("solve", *words, "--json", "r.json", ranks=4)
    assert result.code == 0, result.err
    levels = json.loads((tmp_path / "r.json").read_text())["hierarchy"]["levels"]
    traffic = levels[-1]["product_traffic"]
    assert traffic["messages_on_node"] - traffic["messages_on_domain"] == messages
    assert traffic["messages_off_node"] == 0


def test_domains_are_found_or_refused(nodewise):
    # The ranks of a test are bound to nothing, so that no node is divided.
    result = nodewise("solve", "--problem", "laplace5", "--n", "8", "--domains", "numa", ranks=2)
    if "hwloc" in nodewise("version").out:
        assert result.code == 0, result.err
        assert "no two ranks are bound to different domains" in result.out.replace("\n", " ")
        assert "stay in one domain" not in result.out
    else:
        assert result.code == 2
        assert "made without hwloc" in result.messages[0]


# By every mapping of node pairs to ranks the same entries cross; sums on the way back differ in their order alone.
def test_node_mappings(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "12", "--ranks-per-node", "2", "--route", "three_step", "--aggressive-levels", "0"]
    reports = {}
    for mapping in ("by_size", "owner", "split"):
        extra = ["--split-entries", "1"] if mapping == "split" else []
        result = nodewise("solve", *words, "--node-mapping", mapping, *extra, "--json", "r.json", ranks=4)
        assert result.code == 0, result.err
        reports[mapping] = json.loads((tmp_path / "r.json").read_text())
    for mapping in ("owner", "split"):
        assert reports[mapping]["solve"]["history"] == pytest.approx(reports["by_size"]["solve"]["history"], rel=1e-3)
    traffic = {m: r["hierarchy"]["levels"][-1]["product_traffic"] for m, r in reports.items()}
    assert len({t["bytes_off_node"] for t in traffic.values()}) == 1
    # Two parts of each direction, as both nodes have two ranks for their one partner; one by one owner.
    assert [traffic[m]["messages_off_node"] for m in ("by_size", "owner", "split")] == [4, 2, 4]
    refused = nodewise("solve", *words, "--split-entries", "5", ranks=4)
    assert refused.code == 2 and "--node-mapping split" in refused.messages[0]


# On the coarsest level every rank needs something of every other; there are two nodes of two.
@pytest.mark.parametrize("route, messages", [("direct", 8), ("two_step", 4), ("three_step", 4)])
def test_routes_by_level(nodewise, tmp_path, route, messages):
    words = ["--problem", "laplace27", "--n", "12", "--ranks-per-node", "2", "--route", route]
    words += ["--route-from-level", "1", "--aggressive-levels", "0", "--json", "r.json"]
    result = nodewise("solve", *words, ranks=4)
    assert result.code == 0, result.err
    levels = json.loads((tmp_path / "r.json").read_text())["hierarchy"]["levels"]
    assert [level["route"] for level in levels] == ["direct"] + [route] * (len(levels) - 1)
    assert levels[-1]["product_traffic"]["messages_off_node"] == messages
    assert ("Routes" in result.out) == (route != "direct")


def test_routes_are_chosen_by_a_model(nodewise, source, tmp_path):
    words = ["--problem", "laplace27", "--n", "12", "--node-map", "0,1,0,1", "--json", "r.json"]
    words += ["--route", "direct,automatic", "--setup-route", "automatic", "--machine", "blue-waters"]
    result = nodewise("solve", *words, "--details", ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    levels = report["hierarchy"]["levels"]
    assert levels[0]["route_choice"] is None
    chosen = [(level["setup_route"], level["setup_route_choice"]) for level in levels]
    chosen += [(level["route"], level["route_choice"]) for level in levels[1:]]
    for route, choice in chosen:
        # Without predictions there was nothing to choose; what is taken must pay for its planning.
        cheapest = min(choice["predictions"], key=lambda p: p["seconds"], default={"route": "direct"})
        assert route in (cheapest["route"], "direct")
        assert choice["basis"] == ("the machine blue-waters" if choice["predictions"] else None)
    assert any(choice["predictions"] for _, choice in chosen)
    assert "predicted" in result.out


def test_routes_and_transports_are_chosen_without_a_machine(nodewise, source, tmp_path):
    # The planes in the middle are needed by two ranks of the other node, which is worth a look.
    words = ["--problem", "laplace27", "--n", "12", "--node-map", "0,1,0,1", "--json", "r.json"]
    words += ["--route", "automatic", "--expected-solves", 25]
    result = nodewise("solve", *words, "--details", ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    levels = report["hierarchy"]["levels"]
    assert levels[0]["route_choice"]["basis"].startswith("a short look at the network: ")
    assert levels[-1]["route_choice"]["reason"] == "a level that is solved directly exchanges nothing"
    for level in levels[:-1]:
        assert level["route"] != "automatic" and level["setup_route"] != "automatic"
        trials = level["transport_choice"]["trials"]
        assert trials[0]["transport"] == "point_to_point"
        assert level["transport"] in [trial["transport"] for trial in trials]
    assert "a short look at the network" in result.out
    looks = [entry for entry in report["operations"]["setup"] if entry["operation"] == "network_probe"]
    assert len(looks) == 1


def test_transports_are_not_tried_for_one_solve(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "8", "--json", "r.json"]
    result = nodewise("solve", *words, ranks=2)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["options"]["transport"] == "automatic"
    choice = report["hierarchy"]["levels"][0]["transport_choice"]
    assert choice == {"reason": "a trial pays from 25 expected solves on", "trials": []}
    assert "expected solves" not in result.out  # nothing to see on one node


def test_routes_of_setup_and_solve(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "16", "--ranks-per-node", "2", "--json", "r.json"]
    words += ["--route", "direct,three-step", "--setup-route", "two_step,direct,three_step"]
    words += ["--aggressive-levels", "0"]
    result = nodewise("solve", *words, ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    levels = report["hierarchy"]["levels"]
    assert len(levels) == 3
    assert [level["route"] for level in levels] == ["direct", "three_step", "three_step"]
    assert [level["setup_route"] for level in levels] == ["two_step", "direct", "three_step"]
    assert report["options"]["route"] == "direct,three_step"
    assert "three_step (setup: direct)" in result.out


def test_transports(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "16", "--ranks-per-node", "2", "--json", "r.json"]
    words += ["--route", "three_step", "--aggressive-levels", "0"]
    plain = nodewise("solve", *words, ranks=4)
    history = json.loads((tmp_path / "r.json").read_text())["solve"]["history"]
    words += ["--transport", "persistent,shared-memory,rma", "--setup-transport", "neighborhood"]
    result = nodewise("solve", *words, ranks=4)
    assert plain.code == result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    levels = report["hierarchy"]["levels"]
    assert [level["transport"] for level in levels] == ["persistent", "shared_memory", "rma"]
    assert {level["setup_transport"] for level in levels} == {"neighborhood"}
    assert report["solve"]["history"] == history  # the same bits
    assert "three_step, shared_memory (setup: three_step, neighborhood)" in result.out


def test_tables_fit_the_page(nodewise):
    words = ["--problem", "laplace27", "--n", "32", "--node-map", "0,0,0,1",
             "--domain-map", "0,0,1,0", "--route", "direct,three_step", "--setup-route", "two_step",
             "--transport", "shared_memory", "--setup-transport", "neighborhood"]
    result = nodewise("solve", *words, ranks=4)
    assert result.code == 0, result.err
    assert max(map(len, result.out.splitlines())) <= 100
    profile = nodewise("solve", *words, "--profile", ranks=4).out
    assert "that stayed in one domain" in profile
    assert max(map(len, profile.splitlines())) <= 112
    routes = result.out.partition("Routes of the exchanges")[2].splitlines()
    transports = "shared_memory (setup: two_step, neighborhood)"
    assert routes[1].split(maxsplit=2) == ["level", "0", f"direct, {transports}"]
    assert re.fullmatch(rf"  levels 1 to \d +three_step, {re.escape(transports)}", routes[2])
    assert routes[3] == ""


def test_a_transport_that_the_mpi_lacks_is_refused(nodewise):
    words = ["--problem", "laplace5", "--n", "9", "--transport", "persistent_neighborhood"]
    result = nodewise("solve", *words, ranks=2)
    if result.code != 0:  # MPI 4 has it
        assert result.code == 2
        assert "transport persistent_neighborhood: needs MPI 4" in result.err


def operations(report, phase):
    """The entries of a phase by operation and level; each must be there once."""
    entries = report["operations"][phase]
    found = {(entry["operation"], entry["level"]): entry for entry in entries}
    assert len(found) == len(entries)
    return found


def test_operations_agree_with_the_plans(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "16", "--ranks-per-node", "2", "--route", "three_step",
             "--precision", "same", "--aggressive-levels", "0",
             "--allreduce", "mpi"]  # whose messages nobody counts
    result = nodewise("solve", *words, "--json", "r.json", ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    solve = operations(report, "solve")
    levels = report["hierarchy"]["levels"]
    assert len(levels) == 3
    fields = ["messages_on_node", "messages_off_node", "bytes_on_node", "bytes_off_node"]
    for number, level in enumerate(levels[:-1]):
        for operation in ("smoothing", "residual"):  # one product's exchange each in a cycle
            entry = solve[operation, number]
            # A cycle smooths twice; the first time begins at zero and exchanges nothing.
            cycles = entry["runs"] / (2 if operation == "smoothing" else 1)
            assert cycles == report["solve"]["iterations"]
            for field in fields:
                assert entry[field] == cycles * level["product_traffic"][field], (operation, field)
    products = solve["krylov_product", None]
    for field in fields:
        assert products[field] == products["runs"] * levels[0]["product_traffic"][field]
    assert solve["coarse_solve", 2]["collective_calls"] == report["solve"]["iterations"]
    assert solve["dot_products", None]["runs"] > 2 * report["solve"]["iterations"]
    setup = operations(report, "setup")
    for number in range(2):
        for operation in ("splitting", "interpolation", "AP", "PtAP", "new_matrix", "planning"):
            assert setup[operation, number]["messages_off_node"] > 0, (operation, number)
        assert setup["strength", number]["messages_on_node"] == 0


def test_operations_count_messages_inside_domains(nodewise, tmp_path):
    words = ["--problem", "laplace27", "--n", "16", "--domain-map", "0,0,1,1", "--json", "r.json"]
    result = nodewise("solve", *words, ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    solve = operations(report, "solve")
    traffic = report["hierarchy"]["levels"][0]["product_traffic"]
    products = solve["krylov_product", None]
    assert 0 < traffic["messages_on_domain"] < traffic["messages_on_node"]
    for field in traffic.keys() - {"max_messages_of_a_rank"}:
        assert products[field] == products["runs"] * traffic[field], field


@pytest.mark.parametrize("preconditioner", ["amg", "none"])
def test_no_mean_time_is_above_the_largest(nodewise, tmp_path, preconditioner):
    words = ["--problem", "laplace5", "--n", "40", "--json", "r.json"]
    words += ["--preconditioner", preconditioner]
    assert nodewise("solve", *words, ranks=3).code == 0
    report = json.loads((tmp_path / "r.json").read_text())
    for phase in ("setup", "solve"):
        for entry in report["operations"][phase]:
            for name, mean in entry["mean_of_the_ranks"].items():
                assert 0 <= mean <= entry["max_of_a_rank"][name] * (1 + 1e-9)
    product = operations(report, "solve")["krylov_product", None]
    assert product["mean_of_the_ranks"]["computing_s"] > 0
    assert product["mean_of_the_ranks"]["communicating_s"] > 0


@pytest.mark.parametrize("ranks", [1, 4])
def test_profile(nodewise, ranks):
    words = ["--problem", "laplace7", "--n", "10", "--coarsening", "hmis", "--ranks-per-node", "2",
             "--profile"]
    result = nodewise("solve", *words, ranks=ranks)
    assert result.code == 0, result.err
    for operation in ("splitting", "PtAP", "restriction", "coarse solve", "dot products"):
        assert len(re.findall(rf"^  .* {operation}( |$)", result.out, re.MULTILINE)) > 0, operation
    assert ("busiest" in result.out) == ("pretended" in result.out) == (ranks > 1)
    assert max(map(len, result.out.splitlines())) <= 110
    assert "prolongation" not in nodewise("solve", *words[:-1], ranks=ranks).out


def test_profile_compares_kernels_with_the_memory(nodewise, tmp_path, source):
    words = ["--problem", "laplace5", "--n", 20, "--profile", "--max-coarse-rows", 50]
    plain = nodewise("solve", *words)
    assert plain.code == 0, plain.err
    assert "nodewise calibrate --output m.json" in plain.out and "kappa" not in plain.out
    machine = json.loads((source / "machines" / "eos.json").read_text())
    machine["computation"]["thread_bandwidth"] = [{"threads": 1, "bytes_per_s": 3e9}]
    machine["computation"].pop("caches", None)
    (tmp_path / "m.json").write_text(json.dumps(machine))
    known = nodewise("solve", *words, "--machine", "m.json", "--json", "r.json")
    assert known.code == 0, known.err
    assert "bytes a flop" in " ".join(known.out.split()) and "kappa" in known.out
    report = json.loads((tmp_path / "r.json").read_text())
    found = report["local_kernels"]
    assert found["bandwidth_bytes_per_s"] == pytest.approx(4e9) and found["not_counted"] is None
    kernels = {(k["kernel"], k["level"]): k for k in found["kernels"]}
    assert {name for name, level in kernels if level == 0} == {
        "krylov_product", "relaxation", "restriction", "prolongation"
    }
    product = kernels["krylov_product", 0]
    rows, nonzeros = 400, 1920
    assert product["flops"] == product["runs"] * 2 * nonzeros
    assert product["moved_bytes"] == product["runs"] * (12 * nonzeros + 8 * rows + 24 * rows)
    seconds = product["moved_bytes"] / 4e9
    assert product["share_of_bound"] == pytest.approx(seconds / product["computing_s"])
    kappa = (product["computing_s"] - seconds) * 4e9 / (product["runs"] * nonzeros)
    assert product["kappa_bytes"] == pytest.approx(kappa)
    # Eq. 1: kappa bytes for two flops.
    with_kappa = product["bytes_per_flop"] + kappa / 2
    assert product["bytes_per_flop_with_kappa"] == pytest.approx(with_kappa)
    # A sweep from zero and the residual after it read the matrix once, and so does the sweep back.
    relaxation = kernels["relaxation", 0]
    assert relaxation["runs"] == kernels["restriction", 0]["runs"]
    per_run = relaxation["flops"] / relaxation["runs"]
    assert 2 * 2 * nonzeros <= per_run <= 2 * 2 * nonzeros + 8 * rows
    # Below the finest level the cycle is in single precision; in double its values and vectors take
    # twice the bytes.
    assert report["hierarchy"]["cycle_precision"]["name"] == "single"
    words += ["--machine", "m.json", "--precision", "same"]
    assert nodewise("solve", *words, "--json", "same.json").code == 0
    double = json.loads((tmp_path / "same.json").read_text())["local_kernels"]["kernels"]
    double = {(k["kernel"], k["level"]): k for k in double}
    levels = report["hierarchy"]["levels"]
    assert [level["precision"] for level in levels[:2]] == ["double", "single"]
    for level, wider in [(0, 1), (1, 2)]:
        transfer = (kernels["prolongation", level], double["prolongation", level])
        single_bytes, double_bytes = (k["moved_bytes"] / k["runs"] for k in transfer)
        entries = transfer[0]["flops"] / transfer[0]["runs"] / 2
        columns_and_rows = 4 * entries + 8 * levels[level]["rows"]
        assert double_bytes - columns_and_rows == wider * (single_bytes - columns_and_rows)


PLAIN = "nonblocking|personalized"  # which of the two pays is no matter of the placement alone


# Rank 0 has one node, the others share a second: each has at most 3 others to hear from.
@pytest.mark.parametrize(
    "options, dot_products, sparse_exchange",
    [
        ([], ("node_aware", True, "For vectors of up to 8192 bytes"),
         (PLAIN, True, "joining messages saves the busiest rank")),
        (["--node-map", "0,0,0,0"], ("mpi", True, "with 1 node of 4 ranks there is nothing"),
         (PLAIN, True, "all ranks are on one node")),
        (["--allreduce", "mpi", "--sparse-exchange", "locality_personalized"],
         ("mpi", False, "as set"),
         ("locality_personalized", False, ", because joining messages saves the busiest rank")),
        (["--solver", "gmres", "--restart", "1023"], ("node_aware", True, "For longer ones"), None),
        (["--solver", "gmres", "--restart", "1024"], ("mpi", True, "For longer ones"), None),
    ],
)
def test_algorithms_of_collective_communication(nodewise, tmp_path, options, dot_products,
                                                sparse_exchange):
    words = ["--problem", "laplace27", "--n", "8", "--json", "r.json", "--profile"]
    placement = [] if "--node-map" in options else ["--node-map", "0,1,1,1"]
    result = nodewise("solve", *words, *placement, *options, ranks=4)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())["collective_communication"]
    printed = " ".join(result.out.split())
    assert "Collective communication" in printed
    for name, expected in (("dot_products", dot_products), ("sparse_exchange", sparse_exchange)):
        if expected is None:
            continue
        algorithm, chosen, reason = expected
        choice = report[name]
        assert re.fullmatch(algorithm, choice["algorithm"])
        assert choice["chosen"] == chosen
        assert reason in choice["reason"]
        assert f"{name.replace('_', ' ')} {choice['algorithm']}" in printed
        assert choice["reason"] in printed


@pytest.mark.parametrize("ranks", [1, 3])
def test_one_by_one_matrix(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 1, 1, [(1, 1, 4.0)])
    write_vector(tmp_path / "b.mtx", [2.0])
    result = nodewise("solve", "A.mtx", "--rhs", "b.mtx", "-o", "x.mtx", ranks=ranks)
    assert result.code == 0, result.err
    assert read_vector(tmp_path / "x.mtx") == [0.5]


def test_more_ranks_than_rows(nodewise, tmp_path):
    write_market(tmp_path / "A.mtx", 3, 3, laplacian(3))
    result = nodewise("solve", "A.mtx", "-o", "x.mtx", ranks=6)
    assert result.code == 0, result.err
    assert read_vector(tmp_path / "x.mtx") == pytest.approx([1.0, 1.0, 1.0], abs=1e-7)


@pytest.mark.parametrize("ranks", [1, 3])
def test_nonsymmetric_matrix_is_detected(nodewise, tmp_path, ranks):
    n = 30
    entries = [(i, j, v * 1.5 if j < i else v) for i, j, v in laplacian(n)]
    entries = [(i, j, 3.0 if i == j else v) for i, j, v in entries]
    write_market(tmp_path / "A.mtx", n, n, entries)
    result = nodewise("solve", "A.mtx", "--preset", "default", "--json", "r.json", ranks=ranks)
    assert result.code == 0, result.err
    method = re.search(r"method +((?:.+\n)+)", result.out).group(1)
    assert " ".join(method.split()) == (
        "GMRES(50), preconditioned by algebraic multigrid; the matrix is not symmetric, "
        "hence the method"
    )
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["matrix"]["symmetric"] is False
    assert report["solve"]["method"] == "gmres"
    assert report["error"]["relative"] < 1e-6


SOLVERS = [
    "cg", "flexible_cg", "pipelined_cg", "enlarged_cg", "minres", "gmres", "fgmres", "bicgstab", "idr",
    "stationary",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver(nodewise, tmp_path, solver, ranks):
    words = ["solve", "--problem", "laplace27", "--n", "10", "--solver", solver.replace("_", "-")]
    result = nodewise(*words, "--json", "r.json", "--profile", ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solve"]["method"] == solver
    assert report["solve"]["method_was_chosen_by_symmetry"] is False
    assert report["solve"]["iterations"] <= (25 if solver == "stationary" else 12)
    assert report["solve"]["true_relative_residual"] <= 1e-8
    assert report["error"]["relative"] < 1e-6
    assert max(map(len, result.out.splitlines())) <= 100


@pytest.mark.parametrize("norm", ["unpreconditioned", "preconditioned", "natural"])
def test_the_norm_and_the_tolerance_that_decided_are_stated(nodewise, tmp_path, norm):
    words = ["solve", "--problem", "laplace5", "--n", "30", "--json", "r.json", "--norm", norm]
    result = nodewise(*words)
    assert result.code == 0, result.err
    solve = json.loads((tmp_path / "r.json").read_text())["solve"]
    assert (solve["norm"], solve["target"]) == (norm, 1e-8)
    assert solve["history"][-1] <= 1e-8
    assert (solve["reference_norm"] == solve["rhs_norm"]) == (norm == "unpreconditioned")
    text = " ".join(result.out.split())
    assert (f"the {norm} norm, which was tested" in text) == (norm != "unpreconditioned")
    assert "the absolute tolerance" not in text
    loose = nodewise(*words, "--absolute-tolerance", 1e-2 * solve["reference_norm"])
    solve = json.loads((tmp_path / "r.json").read_text())["solve"]
    assert solve["target"] == pytest.approx(1e-2)
    assert 1e-8 < solve["history"][-1] <= 1e-2
    assert "the absolute tolerance" in " ".join(loose.out.split())


def test_symmetric_file_is_the_whole_matrix(nodewise, tmp_path):
    n = 30
    lower = [(i, j, v) for i, j, v in laplacian(n) if j <= i]
    write_market(tmp_path / "A.mtx", n, n, lower, "symmetric")
    result = nodewise("solve", "A.mtx", "--json", "r.json", ranks=2)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["matrix"]["symmetric"] is True
    assert report["matrix"]["nonzeros"] == 3 * n - 2
    assert report["solve"]["method"] == "cg"


@pytest.mark.parametrize("ranks", [1, 3])
def test_pure_neumann_problem(nodewise, tmp_path, ranks):
    n = 60
    entries = [(i, j, 1.0 if i == j and i in (1, n) else v) for i, j, v in laplacian(n)]
    write_market(tmp_path / "A.mtx", n, n, entries)
    result = nodewise("solve", "A.mtx", "--json", "r.json", ranks=ranks)
    assert result.code == 0, result.err
    assert "up to a constant" in result.out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["right_hand_side"] == "consistent"
    assert report["error"]["modulo_constants"] is True
    assert report["error"]["relative"] < 1e-5


def test_indefinite_matrix_is_diagnosed(nodewise, tmp_path):
    entries = [(1, 1, 1.0), (2, 2, -1.0), (3, 3, 2.0)]
    write_market(tmp_path / "A.mtx", 3, 3, entries)
    write_vector(tmp_path / "b.mtx", [1.0, 2.0, 3.0])
    result = nodewise("solve", "A.mtx", "--rhs", "b.mtx", "--preconditioner", "none", "-o", "x.mtx",
                      "--json", "r.json", ranks=2)
    assert result.code == 1
    assert len(result.messages) == 1
    assert "indefinite" in result.messages[0]
    assert "not written" in result.out
    assert not (tmp_path / "x.mtx").exists()
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solve"]["outcome"] == "indefinite_matrix"
    assert report["solve"]["diagnosis"]
    assert report["solution_file"] is None


def test_iteration_limit_and_output_anyway(nodewise, tmp_path):
    arguments = ["solve", "--problem", "laplace5", "--n", "30", "--max-iterations", "2", "-q"]
    result = nodewise(*arguments, "-o", "x.mtx", ranks=2)
    assert (result.code, result.out) == (1, "")
    assert len(result.messages) == 1
    assert "max_iterations" in result.messages[0]
    assert not list(tmp_path.iterdir())
    assert nodewise(*arguments, "-o", "x.mtx", "--output-anyway", ranks=2).code == 1
    assert len(read_vector(tmp_path / "x.mtx")) == 900


def test_graph_laplacian(nodewise, tmp_path):
    # A ring of 12 with one chord; its grounded Laplacian has 11 rows.
    ring = [(i % 12 + 1, (i + 1) % 12 + 1, 1.0) for i in range(12)] + [(1, 7, 2.0)]
    both = ring + [(j, i, v) for i, j, v in ring]
    write_market(tmp_path / "W.mtx", 12, 12, both)
    result = nodewise("solve", "W.mtx", "--graph-laplacian", "--json", "r.json", ranks=3)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["matrix"]["rows"] == 11
    assert report["matrix"]["graph_laplacian"] is True
    assert report["error"]["relative"] < 1e-7


def test_convert_and_solve_again(nodewise, tmp_path):
    problem = ["--problem", "rotated_fe", "--n", "12"]
    result = nodewise("convert", *problem, "A.mtx", ranks=3)
    assert result.code == 0, result.err
    assert nodewise("solve", *problem, "-q", "--json", "direct.json").code == 0
    assert nodewise("solve", "A.mtx", "-q", "--json", "file.json", ranks=2).code == 0
    direct = json.loads((tmp_path / "direct.json").read_text())
    file = json.loads((tmp_path / "file.json").read_text())
    assert direct["matrix"]["nonzeros"] == file["matrix"]["nonzeros"]
    assert direct["matrix"]["rows"] == file["matrix"]["rows"] == 144


def test_an_existing_solution_survives_a_failure(nodewise, tmp_path):
    (tmp_path / "x.mtx").write_text("precious\n")
    (tmp_path / "A.mtx").write_text("broken\n")
    assert nodewise("solve", "A.mtx", "-o", "x.mtx", ranks=3).code == 3
    assert (tmp_path / "x.mtx").read_text() == "precious\n"


@pytest.mark.parametrize(
    "words, reason",
    [
        (["--cycle", "k"], "--cycle k"),
        (["--cycle", "f"], "--cycle f"),
        (["--pre-sweeps", "2"], "--pre-sweeps other than post_sweeps"),
        (["--sweep-order", "forward"], "--sweep-order forward"),
    ],
)
def test_conjugate_gradients_get_no_preconditioner_that_is_not_symmetric(nodewise, words, reason):
    problem = ["solve", "--problem", "laplace5", "--n", "40", *words]
    refused = nodewise(*problem, "--solver", "cg")
    assert refused.code == 2
    assert f"{reason} makes multigrid nonsymmetric, which cg cannot use" in refused.messages[0]
    chosen = nodewise(*problem)
    assert chosen.code == 0
    assert ("flexible GMRES(" if reason == "--cycle k" else "  GMRES(") in chosen.out
    flexible = nodewise(*problem, "--solver", "flexible_cg")
    assert flexible.code == 0


def test_conjugate_gradients_take_coarse_points_first(nodewise):
    problem = ["solve", "--problem", "rotated_fe", "--n", "40", "--sweep-order", "coarse_fine"]
    solved = nodewise(*problem, "--profile", ranks=2)
    assert solved.code == 0
    assert "conjugate gradients, preconditioned" in solved.out
    assert "sweeps through coarse or fine points are not counted" in solved.out
    refused = nodewise(*problem, "--smoother", "ilu0", ranks=2)
    assert refused.code != 0
    assert "--sweep-order needs --smoother" in refused.messages[0]


def test_a_norm_that_the_method_does_not_know_is_refused(nodewise):
    problem = ["solve", "--problem", "laplace5", "--n", "10"]
    refused = nodewise(*problem, "--solver", "gmres", "--norm", "natural")
    assert refused.code == 2
    assert "gmres can test the unpreconditioned norm only" in refused.messages[0]


@pytest.mark.parametrize("solver", ["gmres", "bicgstab"])
def test_a_cycle_that_changes_wants_a_flexible_method(nodewise, solver):
    problem = ["solve", "--problem", "laplace5", "--n", "40", "--cycle", "k"]
    refused = nodewise(*problem, "--solver", solver)
    assert refused.code == 2
    assert f"another map for every vector, which {solver} cannot use" in refused.messages[0]
    assert nodewise(*problem, "--solver", "fgmres").code == 0


def test_a_negative_definite_system_is_solved(nodewise, tmp_path):
    n = 60
    entries = [f"{i} {i} -2" for i in range(1, n + 1)] + [f"{i + 1} {i} 1" for i in range(1, n)]
    header = f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(entries)}\n"
    (tmp_path / "A.mtx").write_text(header + "\n".join(entries) + "\n")
    for ranks in (1, 3):
        solved = nodewise("solve", "A.mtx", ranks=ranks)
        assert solved.code == 0
        assert "the matrix is symmetric with a negative diagonal, hence the method" in " ".join(
            solved.out.split()
        )
    refused = nodewise("solve", "A.mtx", "--solver", "cg")
    assert refused.code == 1
    tuned = nodewise("tune", "A.mtx", "--max-seconds", "5")
    assert tuned.code == 0


def test_a_preset_leaves_the_method_to_a_cycle_that_changes(nodewise):
    problem = ["solve", "--problem", "convection2d", "--n", "30", "--preset", "convection"]
    plain, varied = nodewise(*problem), nodewise(*problem, "--cycle", "k")
    assert (plain.code, varied.code) == (0, 0)
    assert "  GMRES(" in plain.out and "flexible GMRES(" in varied.out
    refused = nodewise(*problem, "--cycle", "k", "--solver", "gmres")
    assert refused.code == 2
    assert "which gmres cannot use: drop it, or take --solver fgmres" in refused.messages[0]


def test_coarse_levels_on_fewer_ranks(nodewise, tmp_path):
    def ranks_of(*words):
        report = tmp_path / "report.json"
        result = nodewise("solve", "--problem", "laplace27", "--n", 12, "--max-coarse-rows", 5, *words,
                          "--json", report, ranks=4)
        assert result.code == 0, result.err
        return [level["active_ranks"] for level in json.loads(report.read_text())["hierarchy"]["levels"]]

    assert ranks_of()[:2] == [4, 4]
    given = ranks_of("--redistribution", "ranks", "--active-ranks", "2,1")
    assert given[:2] == [4, 2] and set(given[2:]) == {1}
    assert set(ranks_of("--redistribution", "rows", "--rows-per-rank", 1000)[1:]) == {1}


def test_levels_are_moved_collectively(nodewise, tmp_path, source):
    def report_of(move):
        path = tmp_path / "report.json"
        result = nodewise("solve", "--problem", "laplace27", "--n", 12, "--max-coarse-rows", 5, "--redistribution",
                          "ranks", "--active-ranks", "2,1", "--redistribution-move", move, "--json", path, ranks=4)
        assert result.code == 0, result.err
        report = json.loads(path.read_text())
        jsonschema.validate(report, json.loads((source / "docs" / "report.schema.json").read_text()))
        return report

    direct, collective = report_of("direct"), report_of("collective")
    assert direct["solve"]["iterations"] == collective["solve"]["iterations"]
    messages = [level["gather_traffic"]["messages_on_node"] for level in collective["hierarchy"]["levels"]]
    assert messages[:2] == [2, 1] and not any(messages[2:])
    assert not any(level["gather_traffic"]["messages_on_node"] for level in direct["hierarchy"]["levels"])


def test_a_way_to_move_levels_needs_a_redistribution(nodewise):
    result = nodewise("solve", "--problem", "laplace5", "--n", 5, "--redistribution-move", "collective")
    assert result.code == 0 and "--redistribution-move" in result.out


@pytest.mark.parametrize("by", ["automatic", "model_2014"])
def test_ranks_of_levels_are_decided_by_costs(nodewise, tmp_path, source, by):
    path = tmp_path / "report.json"
    result = nodewise("solve", "--problem", "laplace27", "--n", 12, "--max-coarse-rows", 5, "--details",
                      "--redistribution", by, "--machine", "blue-waters", "--ranks-per-node", 2,
                      "--json", path, ranks=4)
    assert result.code == 0, result.err
    report = json.loads(path.read_text())
    jsonschema.validate(report, json.loads((source / "docs" / "report.schema.json").read_text()))
    finest, *coarse = report["hierarchy"]["levels"]
    assert finest["redistribution_choice"] is None and len(coarse) > 0
    for number, level in enumerate(coarse, start=1):
        choice = level["redistribution_choice"]
        assert choice["ranks"] == level["active_ranks"] <= choice["ranks_before"]
        assert f"level {number} ranks" in result.out and choice["reason"].split()[0] in result.out


@pytest.mark.parametrize(
    "words, message",
    [
        (["--active-ranks", "2"], "--redistribution ranks"),
        (["--redistribution", "ranks", "--active-ranks", "2,0"], "--active-ranks"),
        (["--redistribution", "ranks", "--active-ranks", "two"], "--active-ranks"),
        (["--redistribution", "rank"], "ranks"),
        (["--redistribution", "ranks", "--redistribution-move", "collectively"], "collective"),
        (["--redistribution", "ranks", "--redistribution-groups", "nodes"], "node"),
    ],
)
def test_redistribution_that_cannot_be(nodewise, words, message):
    result = nodewise("solve", "--problem", "laplace5", "--n", 5, *words)
    assert result.code == 2 and message in result.err


@pytest.mark.parametrize("partition", ["contiguous", "strided"])
def test_partitions_give_the_solution_in_the_order_of_the_file(nodewise, tmp_path, partition):
    write_market(tmp_path / "A.mtx", 200, 200, laplacian(200))

    def solved(*words):
        x = tmp_path / "x.mtx"
        result = nodewise("solve", tmp_path / "A.mtx", "--random-rhs", "-t", 1e-12, "-o", x, *words, ranks=3)
        assert result.code == 0, result.err
        return read_vector(x)

    assert solved("--partition", partition) == pytest.approx(solved(), abs=1e-9)
