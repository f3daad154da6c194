"""Help, version, reference pages, and command lines that do not fit."""

import os
import re
import shlex
import shutil
import subprocess

import pytest


PROBLEM = ["solve", "--problem", "laplace5"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["slove"], "there is no command 'slove'; did you mean 'solve'?"),
        (["A.mtx"], "did you mean 'nodewise solve A.mtx'?"),
        ([], "no command; `nodewise --help` lists them"),
        (["solve"], "no matrix: give a Matrix Market file, or a model problem by --problem NAME"),
        (["solve", "--tolerence", "1e-6"], "no option --tolerence; did you mean --tolerance?"),
        (["solve", "--max_iterations=3"], "did you mean --max-iterations?"),
        (["solve", "--colour", "red"], "`nodewise solve --help` lists the options"),
        (["convert", "--tolerance", "1"], "`nodewise convert` takes no --tolerance"),
        (["solve", "--problem", "laplace28"], "did you mean 'laplace27'?"),
        ([*PROBLEM, "--solver", "cgg"], "did you mean 'cg'?"),
        ([*PROBLEM, "--tolerance", "-1"], "--tolerance: '-1' is not a number in [0, 1]"),
        ([*PROBLEM, "--tolerance", "nan"], "--tolerance: 'nan' is not a number"),
        ([*PROBLEM, "--n", "10x"], "--n: '10x' is not a whole number"),
        ([*PROBLEM, "--max-levels", "0"], "--max-levels: '0' is not"),
        ([*PROBLEM, "--n"], "nodewise: --n needs a value"),
        (
            [*PROBLEM, "--random-rhs", "--rhs-seed", "2147483648"],
            "--rhs-seed: '2147483648' is more than 2147483647, the largest number that is taken",
        ),
        ([*PROBLEM, "--seed", "4294967296"], "--seed: '4294967296' is more than 2147483647"),
        ([*PROBLEM, "--seed", "-4294967296"], "'-4294967296' is not a whole number >= 0"),
        ([*PROBLEM, "-o"], "nodewise: --output needs a value"),
        ([*PROBLEM, "--n", "3", "--n", "4"], "nodewise: --n is given more than once"),
        ([*PROBLEM, "-q", "--quiet"], "nodewise: --quiet is given more than once"),
        (["solve", "A.mtx", "--n", "10"], "--n describes a model problem; it needs --problem"),
        (["solve", "A.mtx", "--problem", "laplace5"], "not both ('A.mtx')"),
        (["solve", "A.mtx", "b.mtx"], "'b.mtx' is one file too many"),
        (["solve", "A.mtx", "--rhs", "b.mtx", "--random-rhs"], "--rhs or --random-rhs, not both"),
        (["solve", "A.mtx", "--rhs-count", "2"], "--rhs-count needs --random-rhs"),
        (["solve", "A.mtx", "--problem-rhs"], "--problem-rhs needs --problem NAME"),
        (["solve", "--problem", "beam", "--problem-rhs", "--random-rhs"], "--random-rhs or --problem-rhs, not both"),
        (["solve", "--problem", "beam", "--problem-rhs", "--rhs", "b.mtx"], "--rhs or --problem-rhs, not both"),
        (["solve", "--problem", "laplace5", "--problem-rhs"], "laplace5 has no right-hand side of its own; take problem grad_div2d, grad_div3d"),
        (["solve", "A.mtx", "--output-anyway"], "--output-anyway needs --output"),
        (["solve", "A.mtx", "-o", "x.mtx", "--json", "x.mtx"], "name the same file"),
        (["solve", "A.mtx", "--sparse-exchange", "rma"], "messages of one size only"),
        (["solve", "A.mtx", "--sparse-exchange", "persnalized"], "did you mean 'personalized'?"),
        (["solve", "A.mtx", "--node-map", "0", "--ranks-per-node", "1"], "not both"),
        (["solve", "A.mtx", "--node-map", "0,0,1,1,2"], "--node-map: 5 node numbers given for"),
        (["solve", "A.mtx", "--node-map", "0,x"], "--node-map: 'x' is not a node number"),
        (["solve", "A.mtx", "--domains", "numa", "--domain-map", "0"], "not both"),
        (["solve", "A.mtx", "--domain-map", "0,0,1"], "--domain-map: 3 domain numbers given for"),
        (["solve", "A.mtx", "--domain-map", "0,x"], "--domain-map: 'x' is not a domain number"),
        ([*PROBLEM, "--route", "direct,thre_step"], "--route: 'thre_step' is not one of"),
        ([*PROBLEM, "--setup-transport", "automatic"], "'automatic' is not one of"),
        ([*PROBLEM, "--machine", "eos"], "--machine is for --route automatic, --redistribution automatic, --sparsification automatic, --partition automatic, --placement, --device, --profile, or --json"),
        (["tune", *PROBLEM[1:], "--machine", "eos"], "--machine is for --redistribution automatic, --sparsification automatic, --partition automatic, --placement or --device"),
        (
            ["inspect", *PROBLEM[1:], "--setup-route", "automatic"],
            "`nodewise inspect` takes no --setup-route",
        ),
        ([*PROBLEM, "--setup-route", "direct,"], "--setup-route: '' is not one of"),
        (
            [*PROBLEM, "--route", "direct,two_step", "--route-from-level", "1"],
            "give routes by level or --route-from-level, not both",
        ),
        (
            ["solve", "A.mtx", "--near-null-space", "B.mtx", "--coordinates", "x.mtx"],
            "give --near-null-space or --coordinates, not both",
        ),
        (
            ["solve", "A.mtx", "--preset", "poisson", "--coordinates", "x.mtx"],
            "--coordinates is for --method aggregation",
        ),
        ([*PROBLEM, "--sor-weight", "2"], "--sor-weight: '2' is not a number in"),
        (["convert", "A.mtx"], "convert needs a file to read and one to write, but 1 is given"),
        (["convert", "--problem", "laplace5"], "needs one file to write, but none is given"),
        (["report", "a.json", "-o", "a.html"], 'pip install "nodewise[report]"'),
        ([*PROBLEM, "--report", "a.html"], "--report a.html is made by the Python package"),
        (["version", "now"], "unexpected argument 'now'"),
        (["bench", "spvm", "a.mtx"], "no benchmark 'spvm'; did you mean 'nodewise bench spmv a.mtx'?"),
        (["bench", "a.mtx"], "did you mean 'nodewise bench spmv a.mtx'?"),
        (
            ["tune", "A.mtx", "-o", "x.mtx"],
            "`nodewise tune` takes no -o; --json FILE writes its report",
        ),
        (
            ["solve", "-p", "random", "-n", "3"],
            "--entries 8 (the default) is too many for --n 3: at most 2",
        ),
        (
            ["solve", "-p", "laplace5", "--epsilon", "2"],
            "--epsilon needs --problem rotated_fe or rotated_fd",
        ),
    ],
)
def test_a_wrong_command_line_ends_with_one_message_and_code_2(nodewise, words, message):
    result = nodewise(*words)
    assert result.code == 2
    assert result.out == ""
    assert len(result.messages) == 1, result.err
    assert message in result.messages[0]


def test_options_that_conjugate_gradients_cannot_have(nodewise):
    result = nodewise(*PROBLEM, "-s", "cg", "--sweep-order", "forward")
    assert (result.code, result.messages) == (
        2,
        ["nodewise: --sweep-order forward makes multigrid nonsymmetric, which cg cannot use: drop "
         "it, or take --solver gmres"],
    )


def test_on_several_ranks_one_message(nodewise):
    result = nodewise("solve", "--problem", "laplace5", "--tolerence", "1e-6", ranks=3)
    assert result.code == 2
    assert result.out == ""
    (message,) = result.messages
    assert message == "nodewise: there is no option --tolerence; did you mean --tolerance?"


@pytest.mark.parametrize("command", ["solve", "inspect", "convert"])
def test_help_shows_defaults_ranges_and_exit_codes(nodewise, command):
    result = nodewise(command, "--help-all")
    assert result.code == 0
    assert result.err == "" or not result.messages
    assert max(map(len, result.out.splitlines())) <= 100
    assert "--problem NAME" in result.out
    assert re.search(r"^ +70 +internal", result.out, re.MULTILINE)


def test_help_of_solve_has_every_group(nodewise):
    result = nodewise("solve", "--help-all")
    names = ["Input", "Model problems", "Solver", "Multigrid", "Placement", "Output", "Exit codes"]
    groups = [f"{name}:" for name in names]
    assert [line for line in result.out.splitlines() if line in groups] == groups
    assert re.search(r"default 1e-08; in\s+\[0, 1\]", result.out)


COMMANDS = ["solve", "inspect", "predict", "tune", "bench", "convert", "calibrate"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_short_and_begins_with_examples(nodewise, command):
    lines = nodewise(command, "--help").out.splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 100
    assert lines[2].startswith("Usage: ")
    assert lines[4] == "Examples:"
    assert all(line.startswith(f"  nodewise {command}") for line in lines[5:8])
    if command == "calibrate":
        assert not any("solution" in line for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_are_understood(nodewise, command):
    # A file that is missing is met after the whole command line has been.
    lines = nodewise(command, "--help").out.splitlines()
    for line in lines[5:8]:
        words = shlex.split(line.split("  #")[0])[1:]
        if "--problem" in words or "-p" in words or command == "calibrate":
            continue
        assert nodewise(*words).code == 3, line


def options_of(nodewise, command):
    return set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", nodewise(command, "--help-all").out,
                          re.MULTILINE))


def test_commands_take_what_affects_their_work(nodewise):
    taken = {command: options_of(nodewise, command) for command in COMMANDS}
    text = nodewise("solve", "--help-all").out
    entries = re.split(r"^  (?=-)", text, flags=re.MULTILINE)
    own = {re.search(r"--([a-z0-9-]+)", entry)[1] for entry in entries
           if re.search(r"needs\s+--smoother", entry)}
    assert {"inner-sweeps", "jacobi-weight", "sweep-order", "chebyshev-degree"} <= own
    # Of a smoother's own options every one changes a solve, none the levels.
    assert own <= taken["solve"] and own <= taken["tune"]
    assert own <= taken["bench"] | taken["predict"]
    for command in ["inspect", "convert", "calibrate"]:
        assert not own & taken[command]
    exchanges = {"smoother", "cycle", "pre-sweeps", "precision", "chebyshev-degree", "fine-sweeps",
                 "coarse-sweeps", "sweep-order"}
    assert exchanges <= taken["predict"] and not exchanges & taken["inspect"]
    assert not {"jacobi-weight", "inner-sweeps", "threads", "domains", "route"} & taken["predict"]
    assert taken["tune"] >= {"max-seconds", "rhs", "machine"}
    assert not {"preset", "output", "profile", "rhs-count"} & taken["tune"]
    assert taken["convert"] >= {"graph-laplacian", "problem", "n", "quiet"}
    assert not {"rhs", "solver", "smoother", "json"} & taken["convert"]


def test_the_manual_page_has_every_option(nodewise, tmp_path):
    page = nodewise("options", "--man").out
    assert page.startswith(".TH NODEWISE 1")
    for name in ["strength\\-threshold", "\\-o, \\-\\-output", "calibrate", "EXIT STATUS"]:
        assert name in page
    if shutil.which("man") is None:
        return
    (tmp_path / "nodewise.1").write_text(page)
    shown = subprocess.run(["man", "--warnings", "-l", "nodewise.1"], cwd=tmp_path,
                           capture_output=True, text=True, check=False,
                           env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
    assert shown.returncode == 0 and "warning" not in shown.stderr, shown.stderr
    assert "--max-iterations N" in shown.stdout


@pytest.mark.parametrize(
    "line, expected",
    [
        (["nodewise", "ins"], ["inspect"]),
        (["nodewise", "solve", "--max-it"], ["--max-iterations"]),
        (["nodewise", "solve", "--solver", "fg"], ["fgmres"]),
        (["nodewise", "solve", "A"], ["A.mtx"]),
    ],
)
def test_completion_in_bash(nodewise, tmp_path, line, expected):
    (tmp_path / "complete").write_text(nodewise("options", "--completion", "bash").out)
    (tmp_path / "A.mtx").write_text("")
    words = " ".join(line)
    script = (f"source ./complete; COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _nodewise; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == expected
    zsh = nodewise("options", "--completion", "zsh").out
    assert zsh.startswith("#compdef nodewise")


def test_program_help_is_printed_once_on_several_ranks(nodewise):
    result = nodewise("--help", ranks=3)
    assert result.code == 0
    assert result.out.count("Usage:") == 1
    for command in ["solve", "inspect", "convert", "options", "version"]:
        assert f"  {command}" in result.out


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version(nodewise, word):
    result = nodewise(word)
    assert result.code == 0
    assert re.match(r"nodewise \d+\.\d+\.\d+\n", result.out)
    for label in ["commit", "build", "MPI"]:
        assert re.search(rf"^  {label} +\S", result.out, re.MULTILINE)


@pytest.mark.parametrize(
    "flag, page", [("--markdown", "options.md"), ("--exit-codes", "exit-codes.md")]
)
def test_reference_pages_are_up_to_date(nodewise, source, flag, page):
    result = nodewise("options", flag)
    assert result.code == 0
    assert result.out == (source / "docs" / page).read_text()
