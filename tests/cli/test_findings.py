"""What `nodewise solve` finds in the way of a fast solve."""

import json

import jsonschema

from conftest import laplacian, write_market


def findings(nodewise, tmp_path, source, *words, ranks=1, code=0):
    path = tmp_path / "report.json"
    result = nodewise("solve", *words, "--json", path, ranks=ranks)
    assert result.code == code, result.err
    report = json.loads(path.read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    return report["findings"], " ".join(result.out.split())


def neumann(n):
    entries = laplacian(n)
    return [(i, j, 1.0 if i == j and i in (1, n) else value) for i, j, value in entries]


def test_a_model_problem_has_none(nodewise, tmp_path, source):
    found, out = findings(nodewise, tmp_path, source, "--problem", "laplace5", "--n", 12)
    assert found == []
    assert "Findings" not in out


def test_a_singular_system_without_a_solution(nodewise, tmp_path, source):
    path = write_market(tmp_path / "A.mtx", 40, 40, neumann(40))
    words = [path, "--random-rhs"]
    found, out = findings(nodewise, tmp_path, source, *words, ranks=2, code=1)
    assert [f["kind"] for f in found] == ["null_space", "inconsistent_rhs"]
    assert "subtract its mean from the right-hand side" in out
    found, _ = findings(nodewise, tmp_path, source, path)  # b = A x
    assert [f["kind"] for f in found] == ["null_space"]


def test_a_method_for_symmetric_matrices(nodewise, tmp_path, source):
    entries = [(i, j, v * 1.01 if j < i else v) for i, j, v in laplacian(30)]
    path = write_market(tmp_path / "A.mtx", 30, 30, [(i, j, 3.0 if i == j else v) for i, j, v in entries])
    words = [path, "--solver", "cg", "--preconditioner", "jacobi"]
    found, _ = findings(nodewise, tmp_path, source, *words)
    assert [f["kind"] for f in found] == ["nonsymmetric_matrix"]
    assert 0 < found[0]["magnitude"] < 0.1
    assert findings(nodewise, tmp_path, source, path)[0] == []
