"""`--preset`: named sets of options, and the rule that chooses one."""

import json

import jsonschema
import pytest

from conftest import laplacian, write_market


def solve(nodewise, tmp_path, *words, ranks=1):
    path = tmp_path / "report.json"
    result = nodewise("solve", *words, "--json", path, ranks=ranks)
    assert result.code == 0, result.err
    return json.loads(path.read_text()), " ".join(result.out.split())


def blocks(n):
    """Entries of the 1-D Laplacian for three coupled unknowns a point."""
    entries = []
    for i, j, value in laplacian(n):
        for a in range(3):
            for b in range(3):
                entries.append((3 * i - 2 + a, 3 * j - 2 + b, value * (2.0 if a == b else 0.3)))
    return entries


def test_without_a_preset_the_matrix_is_looked_at(nodewise, tmp_path):
    report, out = solve(nodewise, tmp_path, "--problem", "laplace9", "--n", 12)
    assert (report["preset"]["name"], report["preset"]["rule"]) == ("grid", "auto")
    assert report["hierarchy"]["cycle_precision"]["name"] == "single"
    assert "grid, by auto: symmetric" in out
    assert report["preset"]["set"] == {
        "method": "aggregation",
        "aggregates": "auto",
        "precision": "auto",
    }
    assert "cycle in single precision below level 0: changes A x of a smooth x by" in out
    # Its recurrences need a preconditioner that is linear to the last bit.
    report, _ = solve(nodewise, tmp_path, "--problem", "laplace5", "--n", 12, "--solver", "pipelined_cg")
    assert "precision" not in report["preset"]["set"]
    assert report["hierarchy"]["cycle_precision"] == {"name": "double", "reason": None}


@pytest.mark.parametrize("ranks", [1, 3])
def test_devices_take_a_preset_of_their_own(nodewise, tmp_path, ranks):
    words = ["--problem", "laplace27", "--n", 9, "--device", "host"]
    report, out = solve(nodewise, tmp_path, *words, ranks=ranks)
    assert (report["preset"]["name"], report["preset"]["rule"]) == ("card", "auto")
    assert report["preset"]["reason"].endswith("; solved on a device")
    assert report["preset"]["set"] == {
        "method": "aggregation",
        "aggregates": "independent_set",
        "smoother": "chebyshev",
        "precision": "single",
    }
    report, _ = solve(nodewise, tmp_path, *words, "--preset", "grid", ranks=ranks)
    assert report["preset"]["name"] == "grid"


def test_the_default_changes_nothing(nodewise, tmp_path, source):
    words = ["--problem", "laplace5", "--n", 12, "--preset", "default"]
    report, out = solve(nodewise, tmp_path, *words)
    assert report["hierarchy"]["cycle_precision"] == {"name": "double", "reason": None}
    assert report["preset"] == {
        "name": "default",
        "rule": None,
        "reason": None,
        "set": {},
        "kept": {},
    }
    assert "preset default" not in out
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)


def test_given_options_win(nodewise, tmp_path, source):
    words = ["--problem", "laplace5", "--n", 12, "--preset", "graph-laplacian", "--smoother", "jacobi"]
    report, out = solve(nodewise, tmp_path, *words)
    assert report["preset"]["set"] == {
        "coarsening": "pmis",
        "precision": "auto",
        "aggressive_levels": "1",
        "aggressive_paths": "2",
    }
    assert report["preset"]["kept"] == {"smoother": "chebyshev"}
    assert (report["options"]["smoother"], report["options"]["coarsening"]) == ("jacobi", "pmis")
    assert "graph-laplacian; sets --coarsening pmis --precision auto --aggressive-levels 1" in out
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)


@pytest.mark.parametrize("ranks", [1, 2])
def test_auto_finds_the_unknowns_of_points(nodewise, tmp_path, ranks):
    path = write_market(tmp_path / "A.mtx", 300, 300, blocks(100))
    report, out = solve(nodewise, tmp_path, path, "--preset", "auto", ranks=ranks)
    assert report["preset"]["name"] == "elasticity"
    assert report["preset"]["rule"] == "auto"
    assert report["options"]["unknowns"] == 3
    assert "by auto: symmetric, and its blocks are those of 3 unknowns a point" in out


def test_a_preset_names_the_method_unless_one_is_given(nodewise, tmp_path):
    words = ["--problem", "random", "--n", 50, "--preset", "convection"]
    report, out = solve(nodewise, tmp_path, *words)
    assert report["solve"]["method"] == "gmres"
    assert "the method is the preset's" in out
    report, _ = solve(nodewise, tmp_path, *words, "--solver", "bicgstab")
    assert report["solve"]["method"] == "bicgstab"
    assert report["preset"]["kept"] == {"solver": "gmres"}


def test_options_of_classical_coarsening_are_not_ignored(nodewise, tmp_path):
    words = ["--problem", "laplace9", "--n", 12, "--interpolation", "direct"]
    report, out = solve(nodewise, tmp_path, *words)
    assert report["preset"]["name"] == "grid"
    assert report["preset"]["kept"] == {"method": "aggregation", "aggregates": "auto"}
    assert (report["options"]["method"], report["options"]["interpolation"]) == ("classical", "direct")


def test_options_without_effect_are_named(nodewise, tmp_path):
    words = ["--problem", "laplace9", "--n", 12, "--preset", "default"]
    idle = ["--aggressive-paths", 2, "--restart", 20]
    report, out = solve(nodewise, tmp_path, *words, *idle)
    assert report["idle_options"] == [
        {"option": "restart", "needs": "solver gmres, fgmres or gcr"},
        {"option": "aggressive-paths", "needs": "aggressive_levels above 0"}]
    assert "without effect --restart (needs solver gmres, fgmres or gcr)" in out
    report, out = solve(nodewise, tmp_path, *words, *idle, "--aggressive-levels", 1, "--solver", "gmres")
    assert report["idle_options"] == [] and "without effect" not in out
    report, _ = solve(nodewise, tmp_path, *words, "--preconditioner", "none", "--cycle", "w",
                      "--route", "direct")
    assert report["idle_options"] == [{"option": "cycle", "needs": "preconditioner amg"}]


def test_misspelt_presets_are_refused(nodewise):
    result = nodewise("solve", "--problem", "laplace5", "--preset", "elastisity")
    assert result.code == 2
    assert "did you mean 'elasticity'?" in result.err


def test_inspect_takes_presets(nodewise, tmp_path):
    path = tmp_path / "report.json"
    words = ["--problem", "laplace9", "--n", 12, "--preset", "auto", "--json", path]
    result = nodewise("inspect", *words)
    assert result.code == 0
    assert json.loads(path.read_text())["preset"]["name"] == "grid"


def test_the_table_is_in_the_documentation(nodewise, source):
    table = nodewise("options", "--presets").out
    assert table.startswith("| preset | for |")
    assert table in (source / "docs" / "methods" / "presets.md").read_text()


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_way_out_is_told(nodewise, tmp_path, ranks):
    """Of a Laplacian that a shift makes indefinite, after conjugate gradients found that out."""
    entries = [(i, j, v - (0.77 if i == j else 0.0)) for i, j, v in laplacian(60)]
    path = write_market(tmp_path / "A.mtx", 60, 60, entries)
    result = nodewise("solve", path, "--json", tmp_path / "r.json", ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert [a["preconditioner"] for a in report["attempts"]] == ["amg"]
    assert report["preset"]["name"] in ("direct", "indefinite")
    assert report["hierarchy"] is None
    assert "tried before" in result.out and "gave up (indefinite_" in result.out
    assert f"at last          preset {report['preset']['name']}: " in result.out


def test_what_a_way_was_refused_for_is_in_words_of_the_command_line(nodewise, tmp_path):
    """Two equal rows without a diagonal: factors are refused, and with them the next way is told why."""
    entries = [(1, 2, 1.0), (2, 1, 1.0), (1, 3, 1.0), (3, 1, 1.0)]
    path = write_market(tmp_path / "A.mtx", 3, 3, entries)
    result = nodewise("solve", path, "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["attempts"], result.out
    for text in [result.out, report["preset"]["reason"], *(a["why_given_up"] for a in report["attempts"])]:
        assert "`" not in text and "counted from 0" not in text
