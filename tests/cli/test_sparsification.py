"""Sparser coarse matrices, as the command line makes and reports them."""

import json

import jsonschema
import pytest

FORMS = ["non-galerkin", "sparse-galerkin", "hybrid-galerkin"]
PROBLEM = ["--problem", "rotated_fe", "--n", 40, "--max-coarse-rows", 10]


def solved(nodewise, tmp_path, source, *words):
    path = tmp_path / "report.json"
    problem = [] if "--problem" in words else PROBLEM
    result = nodewise("solve", *problem, *words, "--json", path, ranks=4)
    assert result.code == 0, result.err
    report = json.loads(path.read_text())
    jsonschema.validate(report, json.loads((source / "docs" / "report.schema.json").read_text()))
    return report, result.out


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lumping", ["diagonal", "strong", "hypre"])
def test_reports_say_what_is_left(nodewise, tmp_path, source, form, lumping):
    words = ["--sparsification", form, "--lumping", lumping, "--drop-tolerance", "0.1", "--ranks-per-node", 2]
    report, out = solved(nodewise, tmp_path, source, *words)
    assert report["solve"]["converged"]
    finest, first = report["hierarchy"]["levels"][:2]
    assert finest["sparsity"] is None
    sparsity = first["sparsity"]
    assert sparsity["drop_tolerance"] == 0.1
    assert first["nonzeros"] < sparsity["nonzeros_before"]
    before, after = sparsity["direct_product_before"], sparsity["direct_product_after"]
    assert all(after[key] <= before[key] for key in before)
    assert f"{first['nonzeros']:,} of {sparsity['nonzeros_before']:,} left" in " ".join(out.split())


@pytest.mark.parametrize("form", FORMS)
def test_virtual_ranks_count_what_is_left(nodewise, tmp_path, source, form):
    words = ["--sparsification", form, "--drop-tolerance", "0.1", "--route", "direct", "--coarsening", "pmis",
             "--interpolation", "classical", "--max-interpolation-entries", 0, "--preset", "default"]
    report, _ = solved(nodewise, tmp_path, source, *words, "--redistribution", "none")
    path = tmp_path / "inspect.json"
    result = nodewise("inspect", *PROBLEM, *words[:4], *words[6:], "--virtual-ranks", 4,
                      "--ranks-per-node", 4, "--json", path)
    assert result.code == 0, result.err
    counted = json.loads(path.read_text())["hierarchy"]["levels"]
    assert [level["nonzeros"] for level in counted] == [level["nonzeros"] for level in report["hierarchy"]["levels"]]


def test_predictions_say_that_sparsification_itself_is_left_out(nodewise, tmp_path):
    path = tmp_path / "predict.json"
    result = nodewise("predict", *PROBLEM, "--sparsification", "hybrid-galerkin", "--redistribution", "none",
                      "--virtual-ranks", 16, "--ranks-per-node", 4, "--machine", "blue-waters", "--json", path)
    assert result.code == 0, result.err
    assert json.loads(path.read_text())["setup"]["left_out"] == ["sparsification"]


@pytest.mark.parametrize("words", [["--drop-tolerance", "-0.1"], ["--drop-tolerance", "2"], ["--drop-tolerance", "nan"],
                                   ["--drop-tolerance", "0.1,,1"], ["--lumping", "weak"], ["--method", "air"]])
def test_what_it_does_not_know_is_refused(nodewise, words):
    result = nodewise("solve", *PROBLEM, "--sparsification", "sparse-galerkin", *words, ranks=2)
    assert result.code != 0 and result.err.count("nodewise: ") == 1


def test_entries_come_back_during_a_solve(nodewise, tmp_path, source):
    words = ["--sparsification", "sparse-galerkin", "--drop-tolerance", "1", "--preset", "default"]
    plain, _ = solved(nodewise, tmp_path, source, *words)
    adaptive, out = solved(nodewise, tmp_path, source, *words, "--adaptive", "--adaptive-factor", "0.05")
    assert plain["hierarchy"]["entries_back"] == []
    events = adaptive["hierarchy"]["entries_back"]
    assert [event["iteration"] for event in events] == sorted(event["iteration"] for event in events)
    assert all(event["iteration"] % 3 == 0 and event["levels"] for event in events) and events
    assert f"iteration {events[0]['iteration']}" in out
    assert adaptive["solve"]["converged"]
    assert len(adaptive["solve"]["history"]) == adaptive["solve"]["iterations"] + 1
    nonzeros = [[level["nonzeros"] for level in report["hierarchy"]["levels"]] for report in (plain, adaptive)]
    assert all(less <= more for less, more in zip(*nonzeros, strict=True)) and nonzeros[0] != nonzeros[1]
    # Where convergence is good enough nothing comes back.
    relaxed, _ = solved(nodewise, tmp_path, source, *words, "--adaptive", "--adaptive-factor", "1")
    assert relaxed["hierarchy"]["entries_back"] == []
    assert relaxed["solve"]["iterations"] == plain["solve"]["iterations"]


BY_COST = ["--sparsification", "automatic", "--preset", "default", "--redistribution", "none", "--problem", "laplace27",
           "--n", 14, "--max-coarse-rows", 10]


def test_costs_decide_what_goes(nodewise, tmp_path, source):
    words = [*BY_COST, "--machine", "eos", "--details"]
    report, out = solved(nodewise, tmp_path, source, *words, "--ranks-per-node", 1)
    coarse = report["hierarchy"]["levels"][1:-1]
    choices = [level["sparsity_choice"] for level in coarse]
    assert len(choices) > 1 and all(choice["reason"] for choice in choices)
    for level, choice in zip(coarse, choices, strict=True):
        assert (level["sparsity"] is None) == (choice["drop"] is None)
        if choice["drop"]:
            assert level["sparsity"]["drop_tolerance"] == choice["tolerance"]
            assert choice["cycle_s_without"] < choice["cycle_s_with_all"]
    assert {choice["drop"] is None for choice in choices} == {True, False}
    assert "level 1 entries" in out
    on_one_node, _ = solved(nodewise, tmp_path, source, *words)
    assert [level["sparsity_choice"]["reason"] for level in on_one_node["hierarchy"]["levels"][1:-1]] == [
        "all rows are on one node"
    ] * len(coarse)


def test_predictions_decide_as_solves_do(nodewise, tmp_path, source):
    words = [*BY_COST, "--machine", "eos", "--coarsening", "pmis", "--interpolation", "classical",
             "--max-interpolation-entries", 0, "--ranks-per-node", 1]
    report, _ = solved(nodewise, tmp_path, source, *words, "--route", "automatic")
    expected = [level["nonzeros"] for level in report["hierarchy"]["levels"]]
    for command in ("predict", "inspect"):
        path = tmp_path / f"{command}.json"
        result = nodewise(command, *words, "--virtual-ranks", 4, "--json", path)
        assert result.code == 0, result.err
        found = json.loads(path.read_text())
        levels = found["levels"] if command == "predict" else found["hierarchy"]["levels"]
        assert [level["nonzeros"] for level in levels] == expected
        if command == "predict":
            assert "fewer entries" in result.out
            jsonschema.validate(found, json.loads((source / "docs" / "predict.schema.json").read_text()))
    without = nodewise("inspect", *BY_COST, "--virtual-ranks", 4, "--ranks-per-node", 1)
    assert without.code != 0 and "needs --machine" in without.err
