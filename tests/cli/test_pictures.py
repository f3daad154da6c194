"""What reports have for pages: pictures of levels, and predictions beside measured times."""

import json

import jsonschema
import pytest
from conftest import laplacian, write_market


def solved(nodewise, source, tmp_path, *words, ranks):
    result = nodewise("solve", *words, "--json", "r.json", ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    return report


def square(rows, bins):
    assert len(rows) == bins
    counts = [[0] * bins for _ in range(bins)]
    for i, row in enumerate(rows):
        columns = []
        for pair in row.split():
            column, count = (int(word) for word in pair.split(":"))
            assert count > 0
            columns.append(column)
            counts[i][column] = count
        assert columns == sorted(set(columns))
    return counts


def total(counts):
    return sum(map(sum, counts))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_band_of_ones_is_seen(nodewise, source, tmp_path, ranks):
    """150 rows in 128 bins: the first 22 have two."""
    n = 150
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    words = ["A.mtx", "--preconditioner", "jacobi", "--max-iterations", 400]
    report = solved(nodewise, source, tmp_path, *map(str, words), ranks=ranks)
    assert report["hierarchy"] is None and report["prediction"] is None
    (picture,) = report["pictures"]["levels"]
    bin_of = [i // 2 if i < 44 else i - 22 for i in range(n)]
    expected = [[0] * 128 for _ in range(128)]
    for i in range(n):
        for j in range(max(0, i - 1), min(n, i + 2)):
            expected[bin_of[i]][bin_of[j]] += 1
    assert (picture["rows"], picture["bins"], picture["node_bins"]) == (n, 128, 1)
    assert square(picture["entries"], 128) == expected
    # Neighbours send each other one value.
    messages = 2 * (ranks - 1)
    assert picture["messages"] == [f"0:{messages}" if messages else ""]
    assert picture["bytes"] == [f"0:{8 * messages}" if messages else ""]


@pytest.mark.parametrize("route", ["direct", "two_step", "three_step"])
@pytest.mark.parametrize("node_map", ["0,0,0,0", "0,1,1,0", "2,0,0,0", "3,2,1,0"])
def test_sums_are_those_of_the_levels(nodewise, source, tmp_path, node_map, route):
    words = ["-p", "laplace5", "-n", "20", "--node-map", node_map, "--route", route, "--max-coarse-rows", "20"]
    report = solved(nodewise, source, tmp_path, *words, ranks=4)
    levels, pictures = report["hierarchy"]["levels"], report["pictures"]["levels"]
    nodes = len(set(node_map.split(",")))
    for level, picture in zip(levels, pictures, strict=True):
        assert picture["rows"] == level["rows"] and picture["node_bins"] == nodes
        assert total(square(picture["entries"], picture["bins"])) == level["nonzeros"]
        traffic = level["product_traffic"]
        for what in ("messages", "bytes"):
            counts = square(picture[what], nodes)
            on_node = sum(counts[k][k] for k in range(nodes))
            assert on_node == traffic[f"{what}_on_node"]
            assert total(counts) - on_node == traffic[f"{what}_off_node"]


def test_predictions_are_of_what_ran(nodewise, source, tmp_path):
    words = ["-p", "laplace5", "-n", "20", "--ranks-per-node", "1", "--machine", "eos", "--max-coarse-rows", "20"]
    report = solved(nodewise, source, tmp_path, *words, ranks=3)
    prediction = report["prediction"]
    runs = {(a["operation"], a["level"]): a["runs"] for a in report["operations"]["solve"]}
    assert prediction["machine"] == "eos" and prediction["not_predicted"] is None
    assert prediction["cycles"] == runs["restriction", 0]
    assert prediction["krylov_products"] == runs["krylov_product", None]
    assert len(prediction["levels"]) == len(report["hierarchy"]["levels"])
    for level in prediction["levels"]:
        of_a_cycle = (level["products_in_a_cycle"] * level["product_s"]
                      + level["transfers_in_a_cycle"] * (level["restriction_s"] + level["prolongation_s"]))
        assert level["communicating_s"] == pytest.approx(prediction["cycles"] * of_a_cycle)
    assert prediction["levels"][0]["product_s"] > 0
    assert report["local_kernels"]["kernels"]


def test_a_cycle_that_is_not_predicted_says_why(nodewise, source, tmp_path):
    words = ["-p", "laplace5", "-n", "12", "--machine", "eos", "--cycle", "k"]
    report = solved(nodewise, source, tmp_path, *words, ranks=2)
    assert report["prediction"]["levels"] == []
    assert "cycle k" in report["prediction"]["not_predicted"]
