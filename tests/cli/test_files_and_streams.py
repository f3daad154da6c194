"""What happens to files and standard streams: replaced, compressed, foreign, closed, interrupted."""

import gzip
import json
import os
import signal
import stat
import struct
import subprocess
import time

import pytest
from conftest import PROGRAM, laplacian, read_vector, write_market, write_vector

SMALL = ["--problem", "laplace5", "--n", "5"]
FAILING = ["solve", "--problem", "laplace5", "--n", "20", "--max-iterations", "1"]


def through_shell(redirection):
    return ("bash", "-c", f'exec "$0" "$@" {redirection}')


# Links, modes and read-only files.


@pytest.mark.parametrize("words", [["-o", "link.mtx"], ["--json", "link.mtx"]])
def test_a_symbolic_link_stays_and_its_target_is_written(nodewise, tmp_path, words):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.mtx").symlink_to("real/x.mtx")
    for _ in range(2):  # the target is made, then replaced
        assert nodewise("solve", *SMALL, *words).code == 0
        assert os.readlink(tmp_path / "link.mtx") == "real/x.mtx"
        assert (tmp_path / "real" / "x.mtx").stat().st_size > 100
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.mtx", "real", "x.mtx"]


@pytest.mark.parametrize("option", ["-o", "--json"])
def test_the_mode_is_kept(nodewise, tmp_path, option):
    target = tmp_path / "x.mtx"
    target.write_text("old")
    target.chmod(0o600)
    assert nodewise("solve", *SMALL, option, target, ranks=3).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text() != "old"


@pytest.mark.parametrize("words", [["solve", *SMALL, "-o"], ["solve", *SMALL, "--json"],
                                   ["convert", *SMALL]])
def test_a_read_only_file_is_not_replaced(nodewise, tmp_path, words):
    target = tmp_path / "x.mtx"
    target.write_text("old")
    target.chmod(0o400)
    result = nodewise(*words, target)
    assert (result.code, result.messages) == (
        6, [f"nodewise: {target}: cannot be written: it is read-only"])
    assert target.read_text() == "old"


# Standard streams.


@pytest.mark.parametrize("command", [["solve"], ["inspect"], ["tune", "--max-candidates", "1"]])
def test_a_report_on_standard_output_is_alone_there(nodewise, tmp_path, command):
    result = nodewise(*command, *SMALL, "--json", "-")
    assert result.code == 0
    assert json.loads(result.out)["schema_version"] >= 1
    assert not list(tmp_path.iterdir())


def test_a_report_on_a_full_standard_output(nodewise):
    result = nodewise("solve", *SMALL, "--json", "-", prefix=through_shell("> /dev/full"))
    assert (result.code, len(result.messages)) == (6, 1)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("compress", [False, True])
def test_a_matrix_from_standard_input(nodewise, tmp_path, ranks, compress):
    path = write_market(tmp_path / "A.mtx", 50, 50, laplacian(50))
    if compress:
        path.write_bytes(gzip.compress(path.read_bytes()))
    result = nodewise("solve", "-", "-o", "x.mtx", ranks=ranks, prefix=through_shell("< A.mtx"))
    assert result.code == 0, result.err
    assert "standard input (Matrix Market" in " ".join(result.out.split())
    assert read_vector(tmp_path / "x.mtx") == pytest.approx([1.0] * 50, rel=1e-6)


def test_a_fault_of_standard_input_is_named(nodewise):
    result = nodewise("solve", "-", prefix=through_shell("< /dev/null"))
    assert (result.code, result.messages) == (3, ["nodewise: standard input: the file is empty"])


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
@pytest.mark.parametrize("words, code", [(["solve", "missing.mtx"], 3),
                                         ([*FAILING], 1)])
def test_the_exit_code_needs_no_standard_error(nodewise, redirection, words, code):
    assert nodewise(*words, prefix=through_shell(redirection)).code == code


def test_a_closed_standard_error_is_not_mixed_into_files(nodewise, tmp_path):
    words = [*FAILING, "-o", "x.mtx", "--output-anyway"]
    assert nodewise(*words, prefix=through_shell("2>&-")).code == 1
    assert "nodewise" not in (tmp_path / "x.mtx").read_text()


# Compressed output.


@pytest.mark.parametrize("ranks", [1, 3])
def test_compressed_matrices_and_vectors(nodewise, tmp_path, ranks):
    nodewise("convert", *SMALL, "A.mtx", ranks=ranks)
    assert nodewise("convert", *SMALL, "A.mtx.gz", ranks=ranks).code == 0
    assert gzip.decompress((tmp_path / "A.mtx.gz").read_bytes()) == (
        tmp_path / "A.mtx").read_bytes()
    assert nodewise("solve", "A.mtx.gz", "-o", "x.mtx.gz", ranks=ranks).code == 0
    (tmp_path / "x.mtx").write_bytes(gzip.decompress((tmp_path / "x.mtx.gz").read_bytes()))
    assert read_vector(tmp_path / "x.mtx") == pytest.approx([1.0] * 25, rel=1e-6)


# Formats.


def petsc_identity(order):
    ints = [1211216, 2, 2, 2, 1, 1, 0, 1]
    return struct.pack(f"{order}8i", *ints) + struct.pack(f"{order}2d", 1.0, 1.0)


def test_the_content_tells_the_format(nodewise, tmp_path):
    (tmp_path / "petsc.mtx").write_bytes(petsc_identity(">"))
    write_market(tmp_path / "market.petsc", 5, 5, laplacian(5))
    assert nodewise("solve", "petsc.mtx").code == 0
    assert nodewise("solve", "market.petsc").code == 0


FOREIGN = {
    "little.petsc": (petsc_identity("<"), "little.petsc: this is PETSc binary in little-endian "
                     "order; only big-endian is read"),
    "a.petsc": (gzip.compress(petsc_identity(">")), "PETSc binary, which is not read compressed"),
    "utf16.mtx": ("%%MatrixMarket".encode("utf-16"), "UTF-16"),
    "a.zip": (b"PK\x03\x04rest", "zip archive: unpack it first"),
    "a.mtx.xz": (b"\xfd7zXZ\x00rest", "compressed by xz"),
    "a.mat": (b"MATLAB 5.0 MAT-file", "a MATLAB file"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named_for_what_they_are(nodewise, tmp_path, name):
    content, message = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    result = nodewise("solve", name)
    assert (result.code, len(result.messages)) == (3, 1)
    assert message in result.messages[0]


def test_a_byte_order_mark_is_skipped(nodewise, tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"
    (tmp_path / "bom.mtx").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert nodewise("solve", "bom.mtx", "-q").code == 0


def test_an_index_beyond_64_bits_is_said_as_it_is_written(nodewise, tmp_path):
    (tmp_path / "A.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 12345678901234567890 1\n")
    result = nodewise("solve", "A.mtx", "-q")
    assert "line 4: column index 12345678901234567890 is outside 1 .. 2" in result.messages[0]


# Signals.


def started(tmp_path, *words):
    return subprocess.Popen([PROGRAM, *words], cwd=tmp_path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def wait_for(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("waited in vain")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_solve_reports(tmp_path, number):
    words = ["solve", "--problem", "laplace5", "--n", "200", "--preconditioner", "none",
             "--solver", "stationary", "--max-iterations", "100000000", "--stagnation-window", "0",
             "--scale", "diagonal", "--tolerance", "0", "--json", "r.json", "-o", "x.mtx"]
    run = started(tmp_path, *words)
    lines = iter(run.stdout.readline, b"")
    for line in lines:
        if b"iteration   20 " in line:
            break
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 1, err
    assert "the solver did not converge (interrupted)" in err.decode()
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solve"]["outcome"] == "interrupted"
    assert report["solve"]["iterations"] >= 20
    assert report["exit_code"] == 1
    assert not (tmp_path / "x.mtx").exists()
    assert b"a signal ended the solve after" in out


def test_an_interrupted_convert_leaves_nothing(tmp_path):
    run = started(tmp_path, "convert", "--problem", "laplace27", "--n", "70", "A.mtx")
    wait_for(lambda: list(tmp_path.glob("*.partial")) or run.poll() is not None)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    assert run.returncode == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


# Vectors.


def test_a_transposed_right_hand_side_is_recognised(nodewise, tmp_path):
    write_market(tmp_path / "A.mtx", 5, 5, laplacian(5))
    write_market(tmp_path / "rhs.mtx", 1, 5, [(1, 1, 1.0)])
    result = nodewise("solve", "A.mtx", "--rhs", "rhs.mtx")
    assert (result.code, result.messages) == (
        3, ["nodewise: --rhs: rhs.mtx is 1 x 5, but needs 5 rows: transposed?"])


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_initial_guess_saves_the_iterations(nodewise, tmp_path, ranks):
    write_market(tmp_path / "A.mtx", 50, 50, laplacian(50))
    write_vector(tmp_path / "one.mtx", [1.0] * 50)
    result = nodewise("solve", "A.mtx", "--initial-guess", "one.mtx", "--json", "r.json",
                      ranks=ranks)
    assert result.code == 0, result.err
    assert json.loads((tmp_path / "r.json").read_text())["solve"]["iterations"] == 0
    write_vector(tmp_path / "short.mtx", [1.0] * 49)
    result = nodewise("solve", "A.mtx", "--initial-guess", "short.mtx", ranks=ranks)
    assert (result.code, result.messages) == (
        3, ["nodewise: --initial-guess: short.mtx is 49 x 1, but needs 50 rows"])


def test_constants_removed_from_the_right_hand_side_of_a_singular_system(nodewise, tmp_path):
    n = 30
    entries = laplacian(n)
    entries = [(i, j, 1.0 if i == j and i in (1, n) else v) for i, j, v in entries]
    write_market(tmp_path / "A.mtx", n, n, entries)
    write_vector(tmp_path / "b.mtx", [1.0] + [0.0] * (n - 1))
    words = ["solve", "A.mtx", "--rhs", "b.mtx", "-q"]
    assert nodewise(*words).code == 1
    assert nodewise(*words, "--remove-constants").code == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_diagonal_scaling_gives_the_solution_of_the_given_system(nodewise, tmp_path, ranks):
    n = 60
    scale = [10.0 ** (i % 7 - 3) for i in range(n + 1)]
    entries = [(i, j, v * scale[i] * scale[j]) for i, j, v in laplacian(n)]
    write_market(tmp_path / "A.mtx", n, n, entries)
    words = ["solve", "A.mtx", "--scale", "diagonal", "--tolerance", "1e-12", "-o", "x.mtx",
             "--json", "r.json"]
    result = nodewise(*words, ranks=ranks)
    assert result.code == 0, result.err
    assert read_vector(tmp_path / "x.mtx") == pytest.approx([1.0] * n, rel=1e-6)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solve"]["true_relative_residual"] < 1e-12
    zero = write_market(tmp_path / "Z.mtx", 2, 2, [(1, 2, 1.0), (2, 1, 1.0), (1, 1, 1.0)])
    result = nodewise("solve", zero, "--scale", "diagonal", ranks=ranks)
    assert (result.code, result.messages) == (
        4, ["nodewise: --scale diagonal: row 2 has no nonzero diagonal entry"])
