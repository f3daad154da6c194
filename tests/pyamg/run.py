"""Runs comparisons with PyAMG, those of run.py NAME or all; exits with 77 where that is missing."""

import os
import pathlib
import sys
import unittest

import steps

if __name__ == "__main__":
    print(f"comparing with PyAMG {steps.pyamg.__version__}", flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # PyAMG's kernels print a line for each zero
    here = str(pathlib.Path(__file__).parent)
    files = f"test_{sys.argv[1] if len(sys.argv) > 1 else '*'}.py"
    unittest.main(module=None, argv=["run.py", "discover", "-s", here, "-p", files])
