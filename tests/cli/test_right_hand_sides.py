"""Several right-hand sides in one run."""

import json

import jsonschema
from conftest import laplacian, write_market


def write_columns(path, columns):
    """An array file of several columns."""
    lines = ["%%MatrixMarket matrix array real general", f"{len(columns[0])} {len(columns)}"]
    path.write_text("\n".join(lines + [repr(float(v)) for c in columns for v in c]) + "\n")
    return path


def read_columns(path):
    """The columns of an array file."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    rows, cols = map(int, lines[0].split())
    values = [float(word) for line in lines[1:] for word in line.split()]
    assert len(values) == rows * cols
    return [values[c * rows:(c + 1) * rows] for c in range(cols)]


def product(x):
    """The 1-D Laplacian times x."""
    padded = [0.0, *x, 0.0]
    return [2 * padded[i] - padded[i - 1] - padded[i + 1] for i in range(1, len(x) + 1)]


def report_of(folder, source, name):
    report = json.loads((folder / name).read_text())
    schema = json.loads((source / "docs" / "report.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    return report


def sent(report):
    """What was sent in the solve: messages, collective calls and bytes."""
    operations = report["operations"]["solve"]
    return [
        sum(op["messages_on_node"] + op["messages_off_node"] for op in operations),
        sum(op["collective_calls"] for op in operations),
        sum(op["bytes_on_node"] + op["bytes_off_node"] for op in operations),
    ]


# Columns that differ by powers of two take the same steps to the last bit.
def test_all_are_solved_in_the_messages_of_one(nodewise, tmp_path, source):
    n = 60
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    solution = [1.0 + (i % 7) for i in range(n)]
    factors = [1.0, -2.0, 0.25]
    b = product(solution)
    write_columns(tmp_path / "b.mtx", [b])
    write_columns(tmp_path / "B.mtx", [[f * value for value in b] for f in factors])
    words = ["solve", "A.mtx", "--tolerance", "1e-12", "--max-coarse-rows", "5"]
    one = nodewise(*words, "--rhs", "b.mtx", "--json", "one.json", ranks=3)
    assert one.code == 0, one.err
    all_of_them = nodewise(*words, "--rhs", "B.mtx", "--json", "all.json", "-o", "X.mtx", ranks=3)
    assert all_of_them.code == 0, all_of_them.err
    assert "conjugate gradients for all right-hand sides at once" in all_of_them.out
    assert "3 of 3 converged" in all_of_them.out
    assert max(map(len, all_of_them.out.splitlines())) <= 100
    for factor, x in zip(factors, read_columns(tmp_path / "X.mtx"), strict=True):
        assert max(abs(a - factor * e) for a, e in zip(x, solution, strict=True)) < 1e-8
    one, several = (report_of(tmp_path, source, name) for name in ("one.json", "all.json"))
    assert [len(r["solve"]["right_hand_sides"]) for r in (one, several)] == [1, 3]
    assert [r["solve"]["at_once"] for r in (one, several)] == [False, True]
    iterations = one["solve"]["iterations"]
    assert iterations > 2
    for system in several["solve"]["right_hand_sides"]:
        assert system["iterations"] == iterations == len(system["history"]) - 1
        assert system["true_relative_residual"] < 1e-12
    # cg() by itself agrees once on what it is given, as all of them together do.
    messages, collectives, volume = sent(one)
    assert messages > 0
    assert sent(several)[0] == messages
    assert sent(several)[2] == 3 * volume
    assert abs(sent(several)[1] - collectives) <= 2 * 3


def test_one_that_fails_is_named_and_the_others_are_solved(nodewise, tmp_path, source):
    n = 30
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    easy = [0.0] * n  # solved before the first iteration
    hard = [1.0 + (i % 3) for i in range(n)]
    write_columns(tmp_path / "B.mtx", [easy, hard])
    words = ["solve", "A.mtx", "--rhs", "B.mtx", "--preconditioner", "none", "--max-iterations",
             "3", "--json", "r.json"]
    result = nodewise(*words, "-o", "X.mtx")
    assert result.code == 1
    assert len(result.messages) == 1
    assert "did not converge for right-hand side 2: 1 of 2 converged" in result.messages[0]
    assert not (tmp_path / "X.mtx").exists()
    solve = report_of(tmp_path, source, "r.json")["solve"]
    assert [r["outcome"] for r in solve["right_hand_sides"]] == ["converged", "max_iterations"]
    assert (solve["right_hand_side"], solve["outcome"]) == (2, "max_iterations")
    assert "NOT CONVERGED: 1 of 2 converged, after 0 to 3 iterations" in result.out


def test_other_methods_take_one_after_another(nodewise, tmp_path, source):
    words = ["solve", "--problem", "laplace5", "--n", "16", "--solver", "gmres", "--random-rhs"]
    result = nodewise(*words, "--rhs-count", "2", "--rhs-seed", "4", "--json", "two.json")
    assert result.code == 0, result.err
    assert "right-hand side 2 of 2" in result.out
    assert nodewise(*words, "--rhs-seed", "5", "--json", "five.json").code == 0
    two, five = (report_of(tmp_path, source, name)["solve"] for name in ("two.json", "five.json"))
    assert two["at_once"] is False
    assert two["right_hand_sides"][1] == five["right_hand_sides"][0]


def test_a_broken_line_and_a_format_without_room(nodewise, tmp_path):
    write_market(tmp_path / "A.mtx", 2, 2, laplacian(2))
    lines = ["%%MatrixMarket matrix array real general", "2 2", "1", "2", "3", "four"]
    (tmp_path / "B.mtx").write_text("\n".join(lines) + "\n")
    result = nodewise("solve", "A.mtx", "--rhs", "B.mtx", ranks=2)
    assert result.code == 3
    assert "B.mtx" in result.messages[0] and "line 6" in result.messages[0]
    result = nodewise("solve", "A.mtx", "--random-rhs", "--rhs-count", "3", "-o", "x.petsc")
    assert result.code == 2
    assert "a PETSc file holds one vector" in result.messages[0]
