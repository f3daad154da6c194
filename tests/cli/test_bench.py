"""`nodewise bench`: that all kernels are measured and counted. No times are tested."""

import json

import jsonschema
import pytest

from conftest import laplacian, write_market

SHORT = ["--seconds", "0.1", "--quiet"]


@pytest.fixture
def bench(nodewise, tmp_path, source):
    """Measures, and gives the report."""

    def run(*words, ranks=1):
        result = nodewise("bench", "spmv", *words, *SHORT, "--json", "r.json", ranks=ranks)
        assert result.code == 0, result.err
        report = json.loads((tmp_path / "r.json").read_text())
        schema = json.loads((source / "docs" / "bench.schema.json").read_text())
        jsonschema.Draft7Validator(schema).validate(report)
        return report

    return run


def kernels_of(level):
    return {(k["kernel"], k["vectors"], k["precision"]): k for k in level["kernels"]}


def test_counts_are_those_of_the_storage(bench, tmp_path):
    path = write_market(tmp_path / "A.mtx", 30, 30, laplacian(30))
    report = bench(path, "--vectors", 3)
    level = report["levels"][0]
    rows, nonzeros = level["rows"], level["nonzeros"]
    assert (rows, nonzeros) == (30, 88)
    kernels = kernels_of(level)
    product = kernels["product", 1, "double"]
    assert product["flops"] == 2 * nonzeros
    assert product["matrix_bytes"] == 12 * nonzeros + 8 * rows
    assert product["moved_bytes"] == product["matrix_bytes"] + 24 * rows
    assert product["kappa_bytes"] is None or not product["in_cache"]
    single = kernels["product", 1, "single"]
    assert single["moved_bytes"] == 8 * nonzeros + 8 * rows + 12 * rows
    three = kernels["product", 3, "double"]
    assert three["moved_bytes"] == product["matrix_bytes"] + 3 * 24 * rows
    assert kernels["residual", 1, "double"]["read_bytes"] == 16 * rows
    assert all(k["times_s"]["count"] > 0 for k in kernels.values())


def test_products_are_measured_of_matrices_that_are_none_for_multigrid(bench):
    report = bench("--problem", "holstein_hubbard", "--sites", 4, "--electrons-up", 2,
                   "--electrons-down", 2, "--phonons", 3, "--no-cycle", ranks=2)
    (level,) = report["levels"]
    assert level["rows"] == 36 * 20 == report["matrix"]["rows"]
    assert level["nonzeros"] == report["matrix"]["nonzeros"]
    names = {k["kernel"] for k in level["kernels"]}
    assert names == {"product", "own_product", "residual"}


def test_levels_have_sweeps_and_transfers_on_several_ranks(bench):
    report = bench("--problem", "laplace5", "--n", 20, "--max-coarse-rows", 20, ranks=2)
    assert len(report["levels"]) > 1
    for level in report["levels"][:-1]:
        names = {k["kernel"] for k in level["kernels"]}
        wanted = {"first_sweep", "sweep", "restriction", "interpolation"}
        assert wanted | {"own_product", "product", "residual"} == names
        assert all(k["moved_bytes"] > 0 for k in level["kernels"])
    assert report["memory"]["triad_bytes_per_s"] > 0


def test_sweeps_in_blocks_are_counted_by_their_storage(bench, tmp_path):
    path = write_market(tmp_path / "A.mtx", 30, 30, laplacian(30))
    report = bench(path, "--unknowns", 2, "--smoother", "block_gauss_seidel", "--max-coarse-rows", 9)
    level = report["levels"][0]
    kernels = kernels_of(level)
    rows, points, blocks = 30, 15, 43  # each point with its neighbours
    matrix = blocks * (4 * 8 + 4) + points * 8
    assert kernels["product", 1, "double"]["matrix_bytes"] == matrix
    sweep = kernels["sweep", 1, "double"]
    assert sweep["matrix_bytes"] == matrix + points * 8  # where the diagonal is
    assert sweep["read_bytes"] == 3 * 8 * rows  # b, and blocks of the inverse
    assert sweep["flops"] == 2 * 4 * blocks + (2 * 2 + 1) * rows


def test_incomplete_factors_are_counted(bench, tmp_path):
    path = write_market(tmp_path / "A.mtx", 30, 30, laplacian(30))
    kernels = kernels_of(bench(path, "--smoother", "ilu0", "--max-coarse-rows", 9)["levels"][0])
    first, sweep = kernels["first_sweep", 1, "double"], kernels["sweep", 1, "double"]
    assert first["flops"] == 2 * 88 + 2 * 30
    assert first["matrix_bytes"] >= 88 * 12 + 30 * 32  # whole cache lines
    assert sweep["flops"] == first["flops"] + kernels["residual", 1, "double"]["flops"] + 30


def test_sweeps_that_are_not_counted_are_timed(bench):
    report = bench("--problem", "laplace5", "--n", 8, "--method", "air")
    sweep = kernels_of(report["levels"][0])["sweep", 1, "double"]
    assert sweep["moved_bytes"] is None and sweep["share_of_bound"] is None
    assert sweep["times_s"]["median"] > 0


def test_a_benchmark_has_to_be_named(nodewise):
    result = nodewise("bench", "A.mtx")
    assert result.code == 2
    assert "nodewise bench spmv A.mtx" in result.messages[0]
    assert "told what to measure" in nodewise("bench").messages[0]
    assert "no matrix" in nodewise("bench", "spmv").messages[0]


def overlap_of(nodewise, source, tmp_path, *words, **more):
    result = nodewise("bench", "overlap", *words, *SHORT, "--json", "r.json", **more)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "overlap.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    return report


def ways_of(report, kernel, level=0):
    cases = [c for c in report["cases"] if (c["kernel"], c["level"]) == (kernel, level)]
    return {(c["route"], c["threads"], c["overlap"]): c for c in cases}


def test_overlap_is_measured_in_every_mode_and_route(nodewise, source, tmp_path):
    report = overlap_of(nodewise, source, tmp_path, "-p", "laplace7", "-n", 12, "--threads", 2,
                        "--ranks-per-node", 2, ranks=4)
    modes = [(1, "none"), (1, "naive"), (2, "none"), (2, "naive"), (2, "task")]
    products = ways_of(report, "product")
    routes = ["direct", "two_step", "three_step"]
    assert set(products) == {(r, *m) for r in routes for m in modes}
    assert set(ways_of(report, "cycle")) == {(None, *m) for m in modes}
    coarse = ways_of(report, "product", 1)
    assert len(report["levels"]) > 1 and len(coarse) == len(modes)
    for case in report["cases"]:
        assert case["times_s"]["count"] > 0 and case["speedup"] > 0
        assert case["speedup"] == 1 or case["overlap"] != "naive"
        assert case["work_s"]["median"] > 0
    # A result with ghosts is written once behind the messages and twice beside them: twice eight
    # bytes moved, for the rows of the two planes of each rank that meet another's.
    behind, beside = (products["direct", 1, m]["moved_bytes"] for m in ("none", "naive"))
    planes = 6 * 12 * 12
    assert beside - behind == 16 * planes


def test_overlap_is_measured_without_a_cycle(nodewise, source, tmp_path):
    report = overlap_of(nodewise, source, tmp_path, "-p", "holstein_hubbard", "--sites", 2,
                        "--electrons-up", 1, "--electrons-down", 1, "--phonons", 4,
                        "--no-cycle")
    assert report["levels"] == [] and not ways_of(report, "cycle")
    assert set(ways_of(report, "product")) == {("direct", 1, "none"), ("direct", 1, "naive")}


@pytest.fixture
def amg2023(nodewise, tmp_path, source):
    """Runs the benchmark AMG2023, and gives what it prints and its report."""

    def run(*words, ranks=1):
        result = nodewise("bench", "amg2023", *words, "--json", "r.json", ranks=ranks)
        assert result.code == 0, result.err
        report = json.loads((tmp_path / "r.json").read_text())
        schema = json.loads((source / "docs" / "amg2023.schema.json").read_text())
        jsonschema.Draft7Validator(schema).validate(report)
        return result.out, report

    return run


@pytest.mark.parametrize("ranks, processors", [(1, (1, 1, 1)), (2, (1, 2, 1)), (4, (2, 1, 2))])
def test_problem_1_of_amg2023(amg2023, ranks, processors):
    n = (7, 6, 5)
    out, report = amg2023("--n", *n, "--processors", *processors, ranks=ranks)
    rows, nonzeros = 1, 1
    for points, boxes in zip(n, processors):
        rows *= points * boxes
        nonzeros *= 3 * points * boxes - 2
    assert report["matrix"]["rows"] == rows and report["matrix"]["nonzeros"] == nonzeros
    assert report["problem"] == {"number": 1, "points_per_rank": list(n), "processors": list(processors)}
    assert report["method"] == "gmres" and report["relative_residual"] <= 1e-12
    levels = report["levels"]
    assert levels[0]["nonzeros"] == nonzeros
    total = sum(level["nonzeros"] + level["interpolation_nonzeros"] for level in levels)
    assert report["nonzeros_AP"] == total
    merit = total / (report["setup_s"] + report["solve_s"])
    assert report["figure_of_merit"] == pytest.approx(merit)
    first = next(line for line in out.splitlines() if line.startswith("Figure of merit"))
    assert f"{merit:.4g}" in first and "problem 1" in first


def test_problem_2_of_amg2023(amg2023):
    out, report = amg2023("--problem", 2, "--n", "6,6,6", ranks=2)
    assert report["problem"]["processors"] == [2, 1, 1]
    assert report["matrix"]["nonzeros"] == 7 * 12 * 36 - 2 * (36 + 2 * 72)
    assert report["method"] == "cg" and report["relative_residual"] <= 1e-8
    assert report["options"]["aggressive-levels"] == 1 and report["preset"]["name"] == "default"
    merit = report["nonzeros_AP"] / (report["setup_s"] + 3 * report["solve_s"])
    assert report["figure_of_merit"] == pytest.approx(merit)
    _, report = amg2023("--problem=2", "--aggressive-levels", 0)
    assert report["options"]["aggressive-levels"] == 0
    assert report["matrix"]["rows"] == 1000  # ten points a rank in each direction


@pytest.mark.parametrize("words, text", [
    (["--processors", "2", "2", "1"], "--processors 2 2 1 are 4 ranks, but the program runs on 1"),
    (["--processors", "2", "1"], "3 whole numbers"),
    (["--n", "4", "0", "4"], "a whole number >= 1"),
    (["--n", "4", "4"], "1 or 3 whole numbers"),
    (["--problem", "3"], "AMG2023 has --problem 1 and 2, and no '3'"),
    (["--coefficients", "6", "-1"], "takes no --coefficients"),
    (["--seconds", "3"], "takes no --seconds"),
    (["A.mtx"], "makes its own matrix"),
])
def test_amg2023_refuses(nodewise, words, text):
    result = nodewise("bench", "amg2023", *words)
    assert result.code == 2
    assert text in result.err
    assert result.err.startswith("nodewise: ") and result.err.count("\n") == 1


def test_amg2023_has_no_figure_without_convergence(nodewise, tmp_path, source):
    """One point of each rank in a direction of two ranks: the matrix of problem 2 is indefinite."""
    result = nodewise("bench", "amg2023", "--problem", 2, "--n", 8, 1, 8, "--processors", 1, 2, 1,
                      "--json", "r.json", ranks=2)
    assert result.code == 1
    assert "the solver did not converge: there is no figure of merit" in result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "amg2023.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    assert report["figure_of_merit"] is None and not report["converged"]


def test_amg2023_refuses_other_ranks_once(nodewise):
    result = nodewise("bench", "amg2023", "--processors", 2, 2, 1, ranks=2)
    assert result.code == 2
    assert result.err.count("--processors 2 2 1 are 4 ranks, but the program runs on 2") == 1


def test_model_problems_in_boxes(nodewise, tmp_path):
    solve = nodewise("solve", "-p", "laplace27", "-n", 8, 6, 5, "--processors", 2, 1, 1, "--coefficients",
                     26, -4, -0.15, -0.0125, "--json", "r.json", ranks=2)
    assert solve.code == 0, solve.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["matrix"]["rows"] == 240
    assert report["options"]["n"] == "8,6,5" and report["options"]["processors"] == "2,1,1"
    assert report["options"]["coefficients"] == "26,-4,-0.15,-0.0125"
    wrong = nodewise("solve", "-p", "laplace27", "-n", 8, "--processors", 3, 1, 1, ranks=2)
    assert wrong.code == 2 and "--processors 3,1,1 are 3 boxes, but the matrix is made by 2 ranks" in wrong.err
    plain = nodewise("solve", "-p", "laplace5", "-n", "8,8,8")
    assert plain.code == 2 and "laplace5 takes one --n" in plain.err
