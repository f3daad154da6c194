"""`--options FILE`: a run is repeated from its report."""

import json

import pytest

COMMAND = ["solve", "--problem", "laplace9", "--n", 30, "--random-rhs"]


def report_of(nodewise, path, *words, ranks=1):
    result = nodewise(*words, "--json", path, ranks=ranks)
    assert result.code == 0, result.err
    return json.loads(path.read_text())


def of_solve(report):
    """What says how, without what says where to report."""
    left_out = ("json", "options", "preset")
    return {name: value for name, value in report["options"].items() if name not in left_out}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("words", [
    [],
    ["--method", "air", "--restriction-distance", 1],
    ["--preset", "default", "--coarsening", "cljp", "--aggressive-levels", 1, "--interpolation",
     "standard", "--smoother", "chebyshev", "--chebyshev-degree", 3],
    ["--method", "aggregation", "--prolongation-sweeps", 2, "--candidate-sweeps", 1],
])
def test_a_report_repeats_its_run(nodewise, tmp_path, words, ranks):
    first = report_of(nodewise, tmp_path / "first.json", *COMMAND, *words, ranks=ranks)
    again = report_of(nodewise, tmp_path / "again.json", *COMMAND, "--options",
                      tmp_path / "first.json", ranks=ranks)
    assert of_solve(again) == of_solve(first)
    assert again["solve"]["iterations"] == first["solve"]["iterations"]
    assert again["solve"]["method"] == first["solve"]["method"]
    assert [level["rows"] for level in again["hierarchy"]["levels"]] == [
        level["rows"] for level in first["hierarchy"]["levels"]]
    assert again["preset"]["name"] == "default" and again["idle_options"] == []


def test_given_options_win(nodewise, tmp_path):
    file = tmp_path / "options.json"
    file.write_text('{"coarsening": "pmis", "aggressive_levels": 2, "tolerance": 1e-4}')
    report = report_of(nodewise, tmp_path / "r.json", *COMMAND, "--options", file,
                       "--aggressive-levels", 1)
    assert (report["options"]["coarsening"], report["options"]["aggressive-levels"]) == ("pmis", 1)
    assert report["options"]["tolerance"] == 1e-4
    report = report_of(nodewise, tmp_path / "r.json", *COMMAND, "--options", file, "--method",
                       "aggregation")
    assert report["options"]["method"] == "aggregation" and "coarsening" not in report["options"]


@pytest.mark.parametrize("text, message", [
    ("[1]", "is neither a report of nodewise nor a JSON object of options"),
    ('{"coarsning": "pmis"}', "there is no option 'coarsning'; did you mean 'coarsening'?"),
    ('{"max_row_sum": 7}', "--max-row-sum"),
])
def test_what_is_wrong_in_a_file_is_said(nodewise, tmp_path, text, message):
    file = tmp_path / "options.json"
    file.write_text(text)
    result = nodewise(*COMMAND, "--options", file)
    assert result.code != 0 and message in result.err
    assert "options.json" in result.err


def test_a_file_that_is_not_there_is_named(nodewise):
    result = nodewise(*COMMAND, "--options", "nowhere.json")
    assert result.code == 3 and "cannot read 'nowhere.json'" in result.err


def test_options_of_other_methods_are_refused(nodewise):
    for words, message in [
        (["--preset", "default", "--coarse-filter", 0.1],
         "--coarse-filter needs --method air; the default is classical"),
        (["--method", "aggregation", "--max-row-sum", 1],
         "--max-row-sum needs --method classical or --method air, not --method aggregation"),
        (["--preset", "grid", "--method", "classical", "--aggregates", "standard"],
         "--aggregates needs --method aggregation, not --method classical"),
    ]:
        result = nodewise(*COMMAND, *words)
        assert result.code == 2 and message in result.err
