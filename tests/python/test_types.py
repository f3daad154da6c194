"""What is written down of the options is what the library says, and examples are typed."""

import importlib.machinery
import importlib.util
import subprocess
import sys

import nodewise
import pytest
from conftest import HERE

ROOT = HERE.parents[1]


def test_option_types_are_those_of_the_library():
    path = str(ROOT / "scripts" / "option-types")
    loader = importlib.machinery.SourceFileLoader("option_types_script", path)
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("option_types_script", loader))
    loader.exec_module(script)
    written = (ROOT / "python" / "nodewise" / "option_types.py").read_text()
    assert script.text() == written, "run scripts/option-types > python/nodewise/option_types.py"


def test_names_lead_somewhere():
    for name in nodewise.__all__:
        assert getattr(nodewise, name) is not None
    assert set(nodewise.__all__) <= set(dir(nodewise))


def test_examples_are_strictly_typed():
    pytest.importorskip("mypy")
    examples = [str(path) for path in sorted((ROOT / "examples" / "python").glob("*.py"))]
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir=/dev/null",
                           *examples], capture_output=True, text=True, cwd=ROOT, timeout=300,
                          env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["solve", "distributed", "time_steps"])
def test_examples_run(name):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / f"{name}.py")], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stderr
