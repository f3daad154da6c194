"""`nodewise eigen`: eigenpairs beside SciPy's, and what is refused."""

import json
import math
import os
import pathlib

import jsonschema
import pytest

from conftest import laplacian, write_market

MATRICES = pathlib.Path(
    os.environ.get("NODEWISE_MATRIX_DIR",
                   pathlib.Path(__file__).parents[3] / "shared" / "data" / "matrices"))


def find(nodewise, tmp_path, source, *words, ranks=1, code=0):
    """The report of a run, which follows the schema, and what it printed."""
    path = tmp_path / "report.json"
    result = nodewise("eigen", *words, "--json", path, ranks=ranks)
    assert result.code == code, result.err
    report = json.loads(path.read_text())
    schema = json.loads((source / "docs" / "eigen.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(report)
    assert report["exit_code"] == code
    return report, result.out


def values(report):
    return [pair["value"] for pair in report["pairs"]]


def read_columns(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    rows, cols = map(int, lines[0].split())
    numbers = [float(word) for line in lines[1:] for word in line.split()]
    return [numbers[c * rows:(c + 1) * rows] for c in range(cols)]


def chain_value(n, k):
    return 4 * math.sin(k * math.pi / (2 * (n + 1))) ** 2


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("method", ["lanczos", "lobpcg", "auto"])
def test_pairs_of_a_chain(nodewise, tmp_path, source, method, ranks):
    n = 100
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    report, out = find(nodewise, tmp_path, source, "A.mtx", "--pairs", "3", "--eigensolver", method,
                       "--tolerance", "1e-9", "-o", "x.mtx", ranks=ranks)
    for k, pair in enumerate(report["pairs"], start=1):
        assert pair["value"] == pytest.approx(chain_value(n, k), abs=1e-12)
        assert abs(pair["value"] - chain_value(n, k)) <= pair["bound"] + 1e-14
    assert report["eigensolver"]["name"] == ("lobpcg" if method == "auto" else method)
    assert (report["hierarchy"] is None) == (method == "lanczos")
    vectors = read_columns(tmp_path / "x.mtx")
    for x, pair in zip(vectors, report["pairs"]):
        padded = [0.0, *x, 0.0]
        r = [2 * padded[i] - padded[i - 1] - padded[i + 1] - pair["value"] * padded[i]
             for i in range(1, n + 1)]
        assert math.hypot(*x) == pytest.approx(1, abs=1e-12)
        assert math.hypot(*r) == pytest.approx(pair["residual"], abs=1e-13)
    text = " ".join(out.split())
    assert "the 3 smallest eigenvalues, from" in text
    assert "eigenvectors x.mtx" in text


def test_the_other_end(nodewise, tmp_path, source):
    n = 80
    write_market(tmp_path / "A.mtx", n, n, laplacian(n))
    for method in ["lanczos", "lobpcg"]:
        report, _ = find(nodewise, tmp_path, source, "A.mtx", "-k", "2", "--which", "largest",
                         "--eigensolver", method)
        assert values(report) == pytest.approx([chain_value(n, n), chain_value(n, n - 1)], abs=1e-9)
        assert report["eigensolver"]["preconditioner"] == "none"


@pytest.mark.parametrize("words, energy", [(["--interaction", "0"], -8.0),
                                           (["--interaction", "4"], -3.66870618)])
def test_ground_states(nodewise, tmp_path, source, words, energy):
    report, _ = find(nodewise, tmp_path, source, "--problem", "holstein_hubbard", "--phonons", "0",
                     "--coupling", "0", *words)
    assert report["eigensolver"]["name"] == "lanczos"
    assert values(report) == pytest.approx([energy], abs=1e-8)


def test_beside_scipy(nodewise, tmp_path, source):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    mmread = pytest.importorskip("scipy.io").mmread
    for words in [["--problem", "laplace7", "--n", "9"],
                  ["--problem", "holstein_hubbard", "--phonons", "3", "--sites", "4",
                   "--electrons-up", "2", "--electrons-down", "2"]]:
        assert nodewise("convert", *words, "A.mtx").code == 0
        wanted = sorted(linalg.eigsh(mmread(tmp_path / "A.mtx").tocsr(), k=5, which="SA", tol=1e-12,
                                     return_eigenvectors=False))
        for method in ["lanczos", "lobpcg"]:
            more = ["--preconditioner", "none"] if method == "lobpcg" else []
            report, _ = find(nodewise, tmp_path, source, *words, "--pairs", "5", "--eigensolver",
                             method, *more, ranks=2)
            assert values(report) == pytest.approx(wanted, abs=1e-8)


# Linear elements on (0, 1): stiffness 1/h (-1 2 -1), mass h/6 (1 4 1).
def test_generalised_problem(nodewise, tmp_path, source):
    n, h = 60, 1 / 61
    write_market(tmp_path / "K.mtx", n, n, [(i, j, v / h) for i, j, v in laplacian(n)])
    write_market(tmp_path / "M.mtx", n, n,
                 [(i, j, (4.0 if i == j else 1.0) * h / 6) for i, j, _ in laplacian(n)])
    report, _ = find(nodewise, tmp_path, source, "K.mtx", "--mass", "M.mtx", "-k", "4", ranks=3)
    assert report["eigensolver"]["name"] == "lobpcg"
    for k, pair in enumerate(report["pairs"], start=1):
        c = math.cos(k * math.pi * h)
        exact = 6 / h**2 * (1 - c) / (2 + c)
        assert pair["value"] == pytest.approx(exact, rel=1e-8)
        assert abs(pair["value"] - exact) <= pair["bound"] + 1e-9
    assert report["work"]["mass_products"] > 0


def test_the_rail(nodewise, tmp_path, source):
    io, linalg = pytest.importorskip("scipy.io"), pytest.importorskip("scipy.sparse.linalg")
    stiffness, mass = MATRICES / "rail_79841.mtx.gz", MATRICES / "rail_79841_mass.mtx.gz"
    if not stiffness.exists():
        pytest.skip(f"{stiffness} is not here")
    report, _ = find(nodewise, tmp_path, source, stiffness, "--mass",
                     mass, "--pairs", "4", "--tolerance", "1e-10")
    assert report["iterations"] <= 25
    K, M = (io.mmread(str(file)).tocsc() for file in (stiffness, mass))
    wanted = linalg.eigsh(K, k=4, M=M, sigma=0, return_eigenvectors=False)
    assert values(report) == pytest.approx(sorted(wanted), rel=1e-8)
    for pair, value in zip(report["pairs"], sorted(wanted)):
        assert pair["quadratic_bound"] <= 1e-7 * value


def test_not_converged(nodewise, tmp_path, source):
    report, out = find(nodewise, tmp_path, source, "--problem", "laplace5", "--n", "30",
                       "--eigensolver", "lanczos", "--max-iterations", "1", "-o", "x.mtx", code=1)
    assert report["outcome"] == "max_iterations"
    assert "--max-iterations" in " ".join(out.split())
    assert not (tmp_path / "x.mtx").exists()
    find(nodewise, tmp_path, source, "--problem", "laplace5", "--n", "30", "--eigensolver",
         "lanczos", "--max-iterations", "1", "-o", "x.mtx", "--output-anyway", code=1)
    assert (tmp_path / "x.mtx").exists()


@pytest.mark.parametrize(
    "words, code, text",
    [
        (["--eigensolver", "lanczos", "--mass", "A.mtx"], 2, "--mass needs --eigensolver lobpcg"),
        (["--eigensolver", "lanczos", "--preconditioner", "amg"], 2, "--preconditioner amg has no"),
        (["--which", "largest", "--preconditioner", "jacobi"], 2, "is for --which smallest"),
        (["--basis", "50"], 2, "--basis needs --eigensolver lanczos"),
        (["--block-size", "3"], 2, "--block-size needs --eigensolver lobpcg"),
        (["--pairs", "0"], 2, "--pairs"),
        (["--pairs", "11"], 2, "--pairs: 11 are wanted, but the matrix has 10 rows"),
        (["--eigensolver", "lobpcg", "--pairs", "4", "--block-size", "3"], 2, "--block-size"),
        (["--eigensolver", "lanczos", "--pairs", "4", "--basis", "5"], 2, "--basis"),
        (["--solver", "cg"], 2, "takes no --solver"),
        (["--mass", "missing.mtx"], 3, "missing.mtx: cannot be opened"),
        (["--mass", "B.mtx"], 3, "--mass"),
        (["--mass", "S.mtx"], 4, "S.mtx is not symmetric"),
    ],
)
@pytest.mark.parametrize("ranks", [1, 3])
def test_refusals(nodewise, tmp_path, words, code, text, ranks):
    write_market(tmp_path / "A.mtx", 10, 10, laplacian(10))
    write_market(tmp_path / "B.mtx", 11, 11, laplacian(11))
    write_market(tmp_path / "S.mtx", 10, 10, [*laplacian(10), (1, 5, 1.0)])
    result = nodewise("eigen", "A.mtx", *words, ranks=ranks)
    assert result.code == code, result.out + result.err
    assert len(result.messages) == 1
    assert text in result.messages[0]


def test_asymmetric_matrices_are_refused(nodewise, tmp_path):
    write_market(tmp_path / "S.mtx", 10, 10, [*laplacian(10), (1, 5, 1.0)])
    result = nodewise("eigen", "S.mtx", ranks=2)
    assert result.code == 4
    assert "S.mtx is not symmetric" in result.messages[0]


def test_entries_that_are_not_finite(nodewise, tmp_path):
    huge = [(4, 4, 1.5e308), (4, 4, 1.5e308)]  # the sum of which is infinite
    write_market(tmp_path / "N.mtx", 10, 10, [*laplacian(10), *huge])
    for method in ["lanczos", "lobpcg"]:
        result = nodewise("eigen", "N.mtx", "--eigensolver", method, ranks=2)
        assert result.code == 4
        assert len(result.messages) == 1 and "1 entry that is not finite" in result.messages[0]


def test_the_smallest_matrix(nodewise, tmp_path, source):
    write_market(tmp_path / "A.mtx", 1, 1, [(1, 1, 7.0)])
    for method in ["lanczos", "lobpcg"]:
        report, out = find(nodewise, tmp_path, source, "A.mtx", "--eigensolver", method, ranks=2)
        assert values(report) == [7.0]
        assert "the smallest eigenvalue is 7," in " ".join(out.split())


def test_what_cannot_fit_is_refused(nodewise):
    result = nodewise("eigen", "--problem", "laplace7", "--n", "100", "--pairs", "10000")
    assert result.code == 5
    assert "--ignore-memory-check" in result.messages[0]


# A tolerance of the norm of the matrix is coarse beside small values.
def test_doubtful_digits_are_named(nodewise, tmp_path, source):
    n = 50
    entries = [(i, j, 1e6 * v) for i, j, v in laplacian(n)]
    write_market(tmp_path / "A.mtx", n, n, entries)
    words = ["A.mtx", "--eigensolver", "lobpcg", "--preconditioner", "none"]
    _, loose = find(nodewise, tmp_path, source, *words, "--tolerance", "1e-2")
    assert "a smaller --tolerance" in " ".join(loose.split())
    _, sharp = find(nodewise, tmp_path, source, *words)
    assert "a smaller --tolerance" not in " ".join(sharp.split())


def test_indefinite_matrices_with_multigrid(nodewise, tmp_path, source):
    n = 40
    write_market(tmp_path / "A.mtx", n, n,
                 [(i, j, v - (0.5 if i == j else 0.0)) for i, j, v in laplacian(n)])
    report, out = find(nodewise, tmp_path, source, "A.mtx", "--eigensolver", "lobpcg",
                       "--preconditioner", "jacobi", code=1)
    assert report["outcome"] == "indefinite_matrix"
    assert "--preconditioner none" in " ".join(out.split())
    report, _ = find(nodewise, tmp_path, source, "A.mtx")
    assert report["eigensolver"]["name"] == "lanczos"
    assert values(report) == pytest.approx([chain_value(n, 1) - 0.5], abs=1e-9)
