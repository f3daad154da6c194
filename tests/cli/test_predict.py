"""`nodewise predict`: what a hierarchy costs on machines that are not at hand."""

import json

import jsonschema
import pytest

from conftest import laplacian, write_market

SMALL = ["--problem", "laplace5", "--n", 20]
ON_32 = ["--virtual-ranks", 32, "--ranks-per-node", 8]
ROUTES = ["direct", "two_step", "three_step"]
SETUP = ["splitting", "spectral_radius", "row_scales", "interpolation", "interpolation_rows",
         "product_rows", "requests", "redistribution"]
TERMS = ["latency", "bandwidth", "injection", "queue", "contention"]
# One message between nodes costs 1 us and 1 ns a byte, on a node half a microsecond.
SIMPLE = {
    "schema_version": 1,
    "name": "simple",
    "source": "made up",
    "measured": False,
    "node": {"sockets": 1, "cores": 2},
    "protocols": {
        "switch_sizes": {"short_bytes": 0, "eager_bytes": 0},
        "same_node": {"rendezvous": {"latency_s": 5e-7, "rate_bytes_per_s": 1e10}},
        "other_node": {"rendezvous": {"latency_s": 1e-6, "rate_bytes_per_s": 1e9}},
    },
}


def predict(nodewise, tmp_path, *words):
    """The report of a run that succeeds, and what it printed."""
    path = tmp_path / "report.json"
    result = nodewise("predict", *words, "--json", path)
    assert result.code == 0, result.err
    return json.loads(path.read_text()), result.out


def simple_machine(tmp_path, **more):
    path = tmp_path / "simple.json"
    path.write_text(json.dumps({**SIMPLE, **more}))
    return path


@pytest.fixture
def report(nodewise, tmp_path, source):
    """Of a run on a shipped machine; it follows the schema."""
    found, _ = predict(nodewise, tmp_path, *SMALL, "--coarsening", "hmis", *ON_32,
                       "--machine", "generic-cluster", "--rank-counts", "8,32,128",
                       "--redistribution", "none")
    schema = json.loads((source / "docs" / "predict.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    validator.validate(found)
    assert not validator.is_valid({**found, "colour": "red"})
    return found


def test_the_report_adds_up(report):
    assert (report["ranks"], report["nodes"]) == (32, 4)
    sums = dict.fromkeys(ROUTES, 0)
    for level in report["levels"]:
        for what in ["product", "restriction", "prolongation", *SETUP]:
            if level[what] is None:
                assert what != "product" and level is report["levels"][-1]
                continue
            for route in ROUTES:
                time = level[what][route]
                formula, simulated = time["formula_s"], time["simulated_s"]
                assert formula["total"] == pytest.approx(sum(formula[t] for t in TERMS))
                assert simulated["low"] <= simulated["base"] <= simulated["high"]
                assert len(simulated["by_scenario"]) == len(report["scenarios"])
                times = level["in_a_cycle"]
                count = {"product": times["products"], **dict.fromkeys(SETUP, 0)}
                sums[route] += count.get(what, times["transfers"]) * formula["total"]
        if level["gathering"]:
            gathered = level["gathering"]["plain"]["formula_s"]["total"]
            for route in ROUTES:
                sums[route] += level["in_a_cycle"]["solves"] * gathered
    cycle = report["cycle"]
    for route in ROUTES:
        assert cycle["one_route"][route]["formula_s"]["total"] == pytest.approx(sums[route])
    assert cycle["best_by_formula"]["formula_s"]["total"] <= min(sums.values()) * (1 + 1e-12)
    assert cycle["best_by_simulation"]["simulated_s"]["base"] <= (1 + 1e-12) * min(
        cycle["one_route"][route]["simulated_s"]["base"] for route in ROUTES
    )


def test_a_setup_adds_up(report):
    setup = report["setup"]
    assert setup["left_out"] == []
    assert report["levels"][0]["splitting_rounds"] > 0
    allreduce = report["allreduce"]["plain"]["formula_s"]["total"]
    for route in ROUTES:
        seconds = setup["reductions_of_no_level"] * allreduce
        for level in report["levels"]:
            parts = [level[what][route] for what in SETUP if level[what]]
            if level["matrix_gathering"]:
                parts.append(level["matrix_gathering"]["plain"])
            seconds += sum(part["formula_s"]["total"] for part in parts)
            seconds += level["setup_reductions"] * allreduce
        assert setup["one_route"][route]["formula_s"]["total"] == pytest.approx(seconds)
        assert setup["best_by_formula"]["formula_s"]["total"] <= seconds * (1 + 1e-12)


def test_what_a_setup_sends_without_being_counted_is_named(nodewise, tmp_path):
    words = [*SMALL, *ON_32, "--machine", "eos", "--routes", "direct", "--method", "air",
             "--redistribution", "none"]
    report, out = predict(nodewise, tmp_path, *words, "--aggressive-levels", 1)
    assert report["setup"]["left_out"] == ["restriction_setup"]
    assert report["levels"][0]["splitting"]["direct"]["bytes"] > 0
    assert report["levels"][0]["interpolation"]["direct"]["bytes"] > 0
    assert "restriction_setup of the setup" in " ".join(out.split())


# All levels but the finest, where that one's last sweep saves a product in double.
@pytest.mark.parametrize("smoother, first", [("l1_gauss_seidel", 1), ("chebyshev", 0)])
def test_a_cycle_in_single_precision_sends_half_the_bytes(nodewise, tmp_path, smoother, first):
    words = [*SMALL, *ON_32, "--machine", "eos", "--routes", "direct", "--method", "aggregation",
             "--smoother", smoother, "--redistribution", "none"]
    plain, _ = predict(nodewise, tmp_path, *words)
    single, _ = predict(nodewise, tmp_path, *words, "--precision", "single")
    assert single["setup"]["left_out"] == []
    levels = zip(plain["levels"][:-1], single["levels"][:-1], strict=True)
    for level, (of_plain, of_single) in enumerate(levels):
        for what in ["product", "restriction", "prolongation"]:
            saved = 1 if level < first else 2
            bytes_of = of_single[what]["direct"]["bytes"]
            assert bytes_of * saved == of_plain[what]["direct"]["bytes"] > 0
        for what in SETUP:
            bytes_of = of_plain[what]["direct"]["bytes"]
            is_none = what == "redistribution" or (what == "row_scales" and smoother == "chebyshev")
            assert of_single[what]["direct"]["bytes"] == bytes_of and (bytes_of == 0) == is_none


# Bienz 2018, figures 3.9, 3.10 and 4.6, in shape.
@pytest.mark.parametrize(("problem", "n"), [("laplace27", 36), ("rotated_fe", 160)])
def test_middle_levels_cost_most_for_queues_and_links(nodewise, tmp_path, problem, n):
    report, _ = predict(nodewise, tmp_path, "--problem", problem, "--n", n, "--preset", "default",
                        "--virtual-ranks", 512, "--ranks-per-node", 16, "--machine", "blue-waters",
                        "--routes", "direct")
    levels = report["levels"][:-1]  # the last is solved directly

    def seconds(what, term):
        return [level[what]["direct"]["formula_s"][term] for level in levels]

    product = seconds("product", "total")
    dearest = product.index(max(product))
    assert 0 < dearest
    assert report["levels"][-1]["product"]["direct"]["formula_s"]["total"] < product[dearest]
    queue, contention = seconds("product", "queue"), seconds("product", "contention")
    assert queue[dearest] > contention[dearest] and queue[dearest] > 0.1 * product[dearest]
    assert sum(queue) > sum(contention)
    if problem == "rotated_fe":
        return  # in the plane links cost sparse products more from 1,024 ranks on
    both = ["interpolation_rows", "product_rows"]
    of_queues, of_links = (sum(sum(seconds(what, term)) for what in both)
                           for term in ["queue", "contention"])
    assert of_links > of_queues


def test_a_curve_of_strong_scaling(report):
    points = report["scaling"]["points"]
    assert [p["ranks"] for p in points] == [8, 32, 128]
    assert [p["rows_of_a_rank"] for p in points] == [50, 12.5, 3.125]
    work = [p["work_s"] for p in points]
    assert work == sorted(work, reverse=True) and work[0] > 0
    assert points[1]["first_route"] == report["cycle"]["one_route"]["direct"]
    for p in points:
        assert p["best_by_formula"]["formula_s"]["total"] <= p["first_route"]["formula_s"]["total"]
    seconds = [p["work_s"] + p["first_route"]["formula_s"]["total"] for p in points]
    turn = report["scaling"]["fastest"]["first_route"]["by_formula"]
    assert turn["ranks"] == points[seconds.index(min(seconds))]["ranks"]


def test_allreduces_are_scaled_by_measured_ones(nodewise, tmp_path):
    # By formula, of 8 bytes on two nodes of two: half a microsecond, then twice 8 ns and one.
    formula = 0.5e-6 + 0.8e-9 + 1e-6 + 8e-9
    measured = {"ranks": 4, "nodes": 2, "mpi": [{"bytes": 8, "seconds": 3 * formula}]}
    words = [*SMALL, "--virtual-ranks", 4, "--ranks-per-node", 2, "--routes", "direct", "--machine"]
    plain, _ = predict(nodewise, tmp_path, *words, simple_machine(tmp_path))
    scaled, out = predict(nodewise, tmp_path, *words, simple_machine(tmp_path, allreduce=measured))
    for kind, factor in [("plain", 3), ("node_aware", 1)]:
        assert scaled["machine"]["allreduce_scale"][kind] == pytest.approx(factor)
        total = plain["allreduce"][kind]["formula_s"]["total"]
        assert scaled["allreduce"][kind]["formula_s"]["total"] == pytest.approx(factor * total)
    assert plain["allreduce"]["plain"]["formula_s"]["total"] == pytest.approx(formula)
    assert "scaled by what the machine file has measured: 3 times" in " ".join(out.split())


# Ranks 0, 1 and 2, 3 share a node; each pair of neighbours exchanges one number.
def test_a_chain_by_hand(nodewise, tmp_path):
    path = write_market(tmp_path / "chain.mtx", 8, 8, laplacian(8))
    words = [path, "--virtual-ranks", 4, "--ranks-per-node", 2, "--routes", "direct"]
    report, out = predict(nodewise, tmp_path, *words, "--machine", simple_machine(tmp_path))
    time = report["levels"][0]["product"]["direct"]
    assert time["max_messages_off_node"] == 1
    formula = time["formula_s"]  # ranks 1 and 2: one message of 8 bytes each way
    assert formula["latency"] == pytest.approx(1.5e-6)
    assert formula["bandwidth"] == pytest.approx(8e-9 + 8e-10)
    assert formula["queue"] == formula["contention"] == 0
    assert report["machine"]["unknown"] == ["queue", "contention"]
    assert report["machine"]["left_out"] == []
    assert report["machine"]["overheads_assumed"]
    # The processors take a quarter of the latency at each end. Rank 2 sends to 1 first, which has it
    # after half a microsecond and 8 ns more, when all else has arrived.
    expected = (0.25 + 0.5 + 0.008 + 0.25) * 1e-6
    assert time["simulated_s"]["base"] == pytest.approx(expected)
    text = " ".join(out.split())
    assert "queue, contention, of which its file says nothing" in text
    assert report["levels"][0]["work_s"] is None


def test_tables_fit_a_page(nodewise):
    result = nodewise("predict", *SMALL, "--virtual-ranks", 100, "--ranks-per-node", 16,
                      "--machine", "blue-waters", "--s-per-flop", 1e-9, "--rank-counts", "16,64",
                      "--details")
    assert result.code == 0, result.err
    assert max(len(line) for line in result.out.splitlines()) <= 100
    assert "Strong scaling" in result.out and "All rounds of the splitting" in result.out


def test_the_answer_fits_a_screen(nodewise, tmp_path):
    words = [*SMALL, *ON_32, "--machine", "generic-cluster", "--rank-counts", "8,32"]
    report, out = predict(nodewise, tmp_path, *words)
    lines = out.splitlines()
    # Other than a file's name, which may be long.
    widths = [len(line) for line in lines if not line.strip().startswith("report ")]
    assert len(lines) <= 40 and max(widths) <= 100
    text = " ".join(out.split())
    cycle = report["cycle"]
    first = cycle["one_route"]["direct"]["simulated_s"]["base"]
    best = cycle["best_by_simulation"]["simulated_s"]["base"]
    (row,) = [line.split() for line in lines if line.split()[:2] == ["a", "cycle"]]
    assert float(row[-1]) == pytest.approx(first / best, abs=0.006)
    assert float(row[3]) == pytest.approx(1e6 * first, rel=0.01)
    assert "costs most" in text and "more ranks" in text and "--details" in text
    assert ("still pay at" in text) or ("pay up to" in text)
    assert "Strong scaling" not in out


@pytest.mark.parametrize(
    "words, message",
    [
        ([*SMALL, *ON_32], "predict needs --machine"),
        ([*SMALL, "--machine", "eos"], "predict needs --virtual-ranks"),
        ([*SMALL, *ON_32, "--machine", "moon"], "generic-cluster"),
        ([*SMALL, *ON_32, "--machine", "eos", "--rank-counts", "8,x"], "'x' is not a number of"),
        (
            [*SMALL, *ON_32, "--machine", "blue-waters", "--rank-counts", "8"],
            "has neither computation.s_per_flop_by_level nor computation.s_per_flop_by_size",
        ),
        ([*SMALL, *ON_32, "--machine", "eos", "--cycle", "k"], "--cycle k cannot be predicted"),
        ([*SMALL, *ON_32, "--machine", "eos", "--route", "direct"], "takes no --route"),
        (
            [*SMALL, "--virtual-ranks", "2", "--node-map", "0,1", "--machine", "eos",
             "--rank-counts", "4"],
            "--rank-counts needs --ranks-per-node",
        ),
    ],
)
def test_wrong_command_lines(nodewise, words, message):
    result = nodewise("predict", *words)
    assert (result.code, result.out) == (2, "")
    assert len(result.messages) == 1, result.err
    assert message in result.messages[0]


def test_a_machine_file_that_lacks_what_is_needed(nodewise, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**SIMPLE, "protocols": {"switch_sizes": {"short_bytes": 0,
                                                                        "eager_bytes": 0}}}))
    result = nodewise("predict", *SMALL, *ON_32, "--machine", path)
    assert result.code == 3
    assert "protocols" in result.messages[0]


def test_it_runs_in_one_process(nodewise):
    result = nodewise("predict", *SMALL, *ON_32, "--machine", "eos", ranks=2)
    assert result.code == 2
    (message,) = result.messages
    assert "predicts in one process: start nodewise on one rank, not on 2" in message


# On two ranks that both have rows of every level, an exchange is two messages.
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--cycle", "w", "--smoother", "chebyshev"],
        ["--smoother", "block_gauss_seidel", "--sweep-order", "symmetric", "--unknowns", 2],
        ["--cycle", "f", "--pre-sweeps", 2, "--sweep-order", "backward"],
        ["--cycle", "w", "--pre-sweeps", 2, "--sweep-order", "coarse_fine"],
        ["--method", "air", "--interpolation", "direct"],
    ],
)
def test_a_cycle_exchanges_as_often_as_a_real_one(nodewise, tmp_path, words):
    # Shortened rows, and those of multipass, may need points of one rank only.
    problem = ["--problem", "laplace27", "--n", 12, "--max-coarse-rows", 20,
               "--aggressive-levels", 0, "--max-interpolation-entries", 0, *words]
    report, _ = predict(nodewise, tmp_path, *problem, "--virtual-ranks", 2, "--ranks-per-node", 2,
                        "--machine", "eos", "--routes", "direct")
    path = tmp_path / "solve.json"
    stationary = ["--solver", "stationary", "--max-iterations", 1]
    assert nodewise("solve", *problem, *stationary, "--json", path, ranks=2).code == 1
    counted = {}
    for entry in json.loads(path.read_text())["operations"]["solve"]:
        if entry["level"] is not None:
            kind = {"smoothing": "products", "residual": "products"}.get(entry["operation"])
            key = entry["level"], kind or entry["operation"]
            counted[key] = counted.get(key, 0) + entry["messages_on_node"]
    for number, level in enumerate(report["levels"][:-1]):
        cycle = level["in_a_cycle"]
        assert level["active_ranks"] == 2
        assert counted[number, "products"] == 2 * cycle["products"]
        assert counted[number, "restriction"] == 2 * cycle["transfers"]
        # Direct interpolation may need points of one rank only.
        ways = (1, 2) if "direct" in words else (2,)
        assert counted[number, "prolongation"] in [n * cycle["transfers"] for n in ways]
    assert len(report["levels"]) > 1 and report["levels"][-1]["in_a_cycle"]["solves"] > 0


@pytest.mark.parametrize("by", ["automatic", "model_2014"])
def test_ranks_of_levels_are_decided_by_costs(nodewise, tmp_path, source, by):
    words = ["--problem", "laplace27", "--n", 20, "--max-coarse-rows", 5, "--virtual-ranks", 64,
             "--ranks-per-node", 8, "--machine", "blue-waters"]
    stay, alone = predict(nodewise, tmp_path, *words, "--redistribution", "none")
    moved, out = predict(nodewise, tmp_path, *words, "--redistribution", by)
    schema = json.loads((source / "docs" / "predict.schema.json").read_text())
    jsonschema.validate(moved, schema)
    assert moved["setup"]["left_out"] == []
    ranks = [[level["active_ranks"] for level in report["levels"]] for report in (stay, moved)]
    assert all(few <= many for many, few in zip(*ranks, strict=True))
    assert by == "automatic" or ranks[1] != ranks[0]
    # The first screen says what that gains beside routes, and where it was not asked for.
    assert "fewer ranks none, as given" in " ".join(alone.split())
    assert all(level["redistribution_choice"] is None for level in stay["levels"])
    choices = [level["redistribution_choice"] for level in moved["levels"]]
    moves = [(number, choice) for number, choice in enumerate(choices)
             if choice and choice["ranks"] < choice["ranks_before"]]
    text = f"fewer ranks by {by}: "
    for number, choice in moves[:1]:
        text += f"level {number} on {choice['ranks']} of {choice['ranks_before']} ranks: "
    assert text + ("" if moves else "none pays") in " ".join(out.split())


def test_copied_levels_send_nothing(nodewise, tmp_path, source):
    words = ["--problem", "laplace27", "--n", 12, "--max-coarse-rows", 5, "--virtual-ranks", 24,
             "--ranks-per-node", 8]
    copies = ["--redistribution", "ranks", "--redundant"]
    report, out = predict(nodewise, tmp_path, *words, *copies, "--machine", "eos")
    jsonschema.validate(report, json.loads((source / "docs" / "predict.schema.json").read_text()))
    assert [level["copies"] for level in report["levels"]] == [1] + [3] * (len(report["levels"]) - 1)
    finest, *coarse = report["levels"]
    assert finest["restriction"]["direct"]["max_messages_off_node"] == 2
    assert finest["prolongation"]["three_step"]["messages"] == 21  # to the others of each node
    assert finest["prolongation"]["direct"]["max_messages_off_node"] == 0
    for level in coarse:
        assert all(level["product"][route]["messages"] == 0 for route in level["product"])
    assert report["levels"][-1]["gathering"]["plain"]["messages"] == 0
    assert "levels on 24, 3 copies" in " ".join(out.split())
    path = tmp_path / "inspect.json"
    assert nodewise("inspect", *words, *copies, "--json", path).code == 0
    counted = json.loads(path.read_text())
    jsonschema.validate(counted, json.loads((source / "docs" / "inspect.schema.json").read_text()))
    level = counted["virtual_ranks"]["levels"][0]
    assert level["restriction"]["direct"]["off_node"]["messages"] == \
        finest["restriction"]["direct"]["messages"] - level["restriction"]["direct"]["on_node"]["messages"]
    assert level["interpolation"]["direct"]["off_node"]["messages"] == 0
    assert counted["virtual_ranks"]["levels"][1]["copies"] == 3


def test_ranks_of_levels_are_those_of_a_solve_on_such_nodes(nodewise, tmp_path):
    words = [*SMALL, "--virtual-ranks", 8, "--machine", "eos"]

    def chosen(*nodes):
        report, out = predict(nodewise, tmp_path, *words, *nodes)
        return report["options"]["redistribution"], " ".join(out.split())

    several, out = chosen("--ranks-per-node", 4, "--rank-counts", "4,8")
    assert several == "automatic" and "fewer ranks by automatic: " in out
    one, out = chosen("--ranks-per-node", 8)
    assert one == "none" and "fewer ranks none: all ranks are on one node" in out
    dealt, out = chosen("--ranks-per-node", 4, "--placement", "round_robin")
    assert dealt == "none" and "nodes are not filled one after the other" in out
    dealt, out = chosen("--node-map", "0,1,0,1,0,1,0,1")
    assert dealt == "none"


# Eos is charged five hops of 0.416 us beyond 0.238 us a message; the rest of its file says what is not taken.
def test_scenarios_of_a_machine(nodewise, tmp_path):
    path = write_market(tmp_path / "chain.mtx", 8, 8, laplacian(8))
    words = [path, "--virtual-ranks", 4, "--ranks-per-node", 2, "--routes", "direct", "--machine", "eos"]
    report, out = predict(nodewise, tmp_path, *words)
    formula = report["levels"][0]["product"]["direct"]["formula_s"]
    # A message on the node and one to the other; what is received has as much.
    assert formula["latency"] == pytest.approx(2 * 0.238e-6)
    assert formula["distance"] == pytest.approx(5 * 0.416e-6)
    assert formula["limited_bandwidth"] == formula["multicore"] == 0
    machine = report["machine"]
    assert machine["scenario"] == "distance"
    assert machine["left_out"] == ["network.hardware_bytes_per_s", "computation.caches"]
    text = " ".join(out.split())
    assert "scenario distance:" in text
    assert "network.hardware_bytes_per_s, computation.caches: its file has them" in text
    by_model, _ = predict(nodewise, tmp_path, *words, "--redistribution", "model_2014")
    assert by_model["machine"]["left_out"] == ["network.hardware_bytes_per_s"]
    other, _ = predict(nodewise, tmp_path, *words, "--scenario", "beta")
    formula = other["levels"][0]["product"]["direct"]["formula_s"]
    # B_max / B = 1.716, and two messages on the links of two nodes, 202 - 32 + 2 and 2 + 2 * 170 + 4.
    links = (2 + 170 + 2 + 340 + 4) / 2
    assert formula["limited_bandwidth"] == pytest.approx(0.858e-9 * (1.716 + 2 / links - 1))
    assert other["machine"]["left_out"] == ["computation.caches"]
    plain, _ = predict(nodewise, tmp_path, *words, "--scenario", "baseline")
    assert plain["levels"][0]["product"]["direct"]["formula_s"]["distance"] == 0
    assert "network.hop_latency_s" in plain["machine"]["left_out"]


# The same 32 cores of two nodes of Eos: 32 ranks, 16 of two threads, 8 of four.
def test_mixes_of_ranks_and_threads(nodewise, tmp_path):
    path = write_market(tmp_path / "chain.mtx", 64, 64, laplacian(64))
    words = [path, "--routes", "direct", "--machine", "eos"]
    for ranks, threads, bandwidth in ((32, 1, 11106), (16, 2, 5335.5), (8, 4, 2755)):
        mix = [*words, "--virtual-ranks", ranks]
        given = ["--ranks-per-node", 16] if threads == 1 else []
        report, out = predict(nodewise, tmp_path, *mix, *given, "--threads-per-rank", threads)
        assert (report["nodes"], report["threads_per_rank"]) == (2, threads)
        if threads > 1:
            assert f"{ranks} ranks of {threads} threads on 2 nodes" in " ".join(out.split())
        # The ranks share the work; each of them takes b_1 / b_j as long, for all of its threads.
        alone, _ = predict(nodewise, tmp_path, *mix, "--ranks-per-node", 16 // threads)
        slower = 11106 / bandwidth / threads
        assert report["work_of_a_cycle_s"] == pytest.approx(slower * alone["work_of_a_cycle_s"])
        assert report["cycle"] == alone["cycle"]
    crowded = nodewise("predict", *words, "--virtual-ranks", 16, "--ranks-per-node", 8, "--threads-per-rank", 4)
    assert crowded.code == 2
    assert "a node of machine 'eos' has 16 cores, too few for 8 ranks of 4 threads" in crowded.err
