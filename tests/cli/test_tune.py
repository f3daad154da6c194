"""`nodewise tune`: combinations of options side by side."""

import json
import shlex

import jsonschema
import pytest

from conftest import laplacian, write_market

LAPLACE = ["tune", "--problem", "laplace5", "--n", 20]


def tune(nodewise, tmp_path, source, *words, ranks=1, code=0):
    path = tmp_path / "tune.json"
    result = nodewise(*words, "--json", path, ranks=ranks)
    assert result.code == code, result.err
    report = json.loads(path.read_text())
    schema = json.loads((source / "docs" / "tune.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    return report, result.out


def test_candidates_are_sorted_and_the_best_can_be_pasted(nodewise, tmp_path, source):
    words = [*LAPLACE, "--max-candidates", 5, "--tolerance", "1e-6"]
    report, out = tune(nodewise, tmp_path, source, *words)
    candidates = report["candidates"]
    assert len(candidates) == 5
    times = [c["total_s"] for c in candidates if c["converged"]]
    assert times == sorted(times)
    assert {} in [c["options"] for c in candidates]
    assert report["best"] == candidates[0]["command"]
    assert report["best"] in out
    program, command, *rest = shlex.split(report["best"])
    assert (program, command) == ("nodewise", "solve")
    assert not any(word.startswith(("--max-candidates", "--json")) for word in rest)
    assert rest[:6] == ["--problem", "laplace5", "--n", "20", "--tolerance", "1e-6"]
    assert nodewise(command, *rest).code == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_command_repeats_what_was_measured(nodewise, tmp_path, source, ranks):
    matrix = tmp_path / "A.mtx"
    assert nodewise("convert", *LAPLACE[1:], matrix).code == 0
    words = ["tune", matrix, "--max-candidates", 6]
    report, _ = tune(nodewise, tmp_path, source, *words, ranks=ranks)
    for candidate in report["candidates"]:
        words = shlex.split(candidate["command"])
        words = words[words.index("nodewise") + 1 :]
        again = tmp_path / "solve.json"
        assert nodewise(*words, "--json", again, ranks=ranks).code == 0
        solve = json.loads(again.read_text())
        assert solve["solve"]["iterations"] == candidate["iterations"], candidate["command"]
        complexity = solve["hierarchy"]["operator_complexity"]
        assert complexity == candidate["operator_complexity"], candidate["command"]


def test_given_options_hold_for_every_candidate(nodewise, tmp_path, source):
    words = [*LAPLACE, "--smoother", "l1_jacobi", "--max-candidates", 4]
    report, _ = tune(nodewise, tmp_path, source, *words, ranks=2)
    assert all("smoother" not in c["options"] for c in report["candidates"])
    assert report["best"].startswith("mpirun -n 2 nodewise solve")


# Read as by solve, and kept in the commands; two ranks with a node each have a network to choose by.
def test_a_machine_serves_the_choices_of_candidates(nodewise, tmp_path, source):
    words = [*LAPLACE, "--redistribution", "automatic", "--ranks-per-node", 1, "--max-candidates", 2]
    missing = nodewise(*words, "--machine", "nowhere")
    assert missing.code == 3 and "nowhere" in missing.err
    report, _ = tune(nodewise, tmp_path, source, *words, "--machine", "eos", ranks=2)
    assert "--machine eos" in report["best"]


# Parts 0 and 2 are neighbours, and so are 1 and 3.
def test_the_gain_of_a_placement_is_told(nodewise, tmp_path, source):
    write_market(tmp_path / "A.mtx", 16, 16, laplacian(16))
    (tmp_path / "A.part").write_text("".join(f"{r}\n" for r in [0, 2, 1, 3] for _ in range(4)))
    words = ["tune", "A.mtx", "--partition", "file", "--partition-file", "A.part", "--max-candidates", 1]
    placed = ["--placement", "pair-exchange", "--ranks-per-node", 2]
    report, out = tune(nodewise, tmp_path, source, *words, *placed, ranks=4)
    assert report["placement"]["moved_parts"] == 2
    assert report["placement"]["values_between_nodes"] == 2
    assert "pair_exchange: 2 of 4 parts on other ranks" in " ".join(out.split())
    assert "--placement pair-exchange" in report["best"]


def test_without_time_one_candidate_is_tried(nodewise, tmp_path, source):
    words = [*LAPLACE, "--max-seconds", 0]
    report, out = tune(nodewise, tmp_path, source, *words, code=1)
    assert len(report["candidates"]) == 1
    assert "given up" in report["candidates"][0]["reason"]
    assert report["not_tried"] > 0
    assert report["best"] is None
    assert "not tried for lack of time" in out


def test_failing_candidates_do_not_end_the_run(nodewise, tmp_path, source):
    entries = [(i, j, 0.0 if i == j == 7 else v) for i, j, v in laplacian(30)]
    path = write_market(tmp_path / "A.mtx", 30, 30, entries)
    report, out = tune(nodewise, tmp_path, source, "tune", path, "--max-candidates", 3,
                       "--preconditioner", "amg", code=1)
    assert len(report["candidates"]) == 3
    assert all("zero diagonal" in c["reason"] for c in report["candidates"])
    assert "Not converged" in out


def saddle_point(n):
    """[L B^T; B 0] with a Laplacian L of n rows, and n / 2 rows of differences."""
    entries = [(i, j, v + (0.5 if i == j else 0)) for i, j, v in laplacian(n)]
    for k in range(n // 2):
        for column, value in ((2 * k + 1, 1.0), (2 * k + 2, -1.0)):
            entries += [(n + k + 1, column, value), (column, n + k + 1, value)]
    return entries


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_multigrid_cannot_take_is_tried_without_it(nodewise, tmp_path, ranks):
    path = write_market(tmp_path / "A.mtx", 60, 60, saddle_point(40))
    result = nodewise("tune", path, "--json", "t.json", ranks=ranks)
    assert result.code == 0, result.err
    trials = json.loads((tmp_path / "t.json").read_text())["candidates"]
    assert 2 <= len(trials) <= 6  # those that need no multigrid
    assert all("--smoother" not in trial["command"] or "--permute-rows" in trial["command"] for trial in trials)
