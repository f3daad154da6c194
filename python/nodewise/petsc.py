"""A preconditioner for petsc4py: `-pc_type python -pc_python_type nodewise.petsc.PC`.

Options of the library are taken from PETSc's database behind the PC's prefix, as `-pc_nodewise_smoother chebyshev` or
`-nodewise_smoother chebyshev`; where both are given the first wins. Programs in any language have the same as a PC type
of its own, which needs no Python (libnodewise_petsc.so).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodewise.errors import OptionError
from nodewise.interop import of_petsc_rows
from nodewise.solvers import Solver, _krylov_options

# The later ones win.
_beginnings = ("nodewise_", "pc_nodewise_")
_reuses = ("interpolation", "splitting", "none")


class PC:
    """One cycle of algebraic multigrid; what petsc4py calls a Python context.

    New values at the old places are taken as `-pc_nodewise_reuse interpolation | splitting | none` says. Errors are
    raised on every rank alike.
    """

    def __init__(self) -> None:
        self._options: dict[str, str] = {}
        self._solver: Solver | None = None
        self._places: tuple[Any, Any] | None = None
        self._set_up_with: dict[str, str] = {}

    def setFromOptions(self, pc: Any) -> None:
        from petsc4py import PETSc

        database = PETSc.Options(pc.getOptionsPrefix())
        found: dict[str, str] = {}
        for beginning in _beginnings:
            for name in database.getAll():
                if name.startswith(beginning):
                    found[name.removeprefix(beginning)] = database.getString(name) or "true"
        if found.get("reuse", "none") not in _reuses:
            raise OptionError(f"-pc_nodewise_reuse {found['reuse']} is none of {', '.join(_reuses)}")
        for name in found:
            if name in _krylov_options:
                raise OptionError(f"-pc_nodewise_{name}: iterations are PETSc's to choose: see -ksp_type, -ksp_rtol, "
                                  "-ksp_max_it and -ksp_norm_type")
        self._options = found

    def setUp(self, pc: Any) -> None:
        _, mat = pc.getOperators()
        indptr, indices, data = mat.getValuesCSR()
        matrix = of_petsc_rows(mat, indptr, indices, data)
        options = dict(self._options)
        reuse = options.pop("reuse", "interpolation")
        if self._solver is not None and reuse != "none" and self._is_as_before(mat, indptr, indices):
            self._solver.update(matrix, reuse="splitting" if reuse == "splitting" else "interpolation")
            return
        self._solver = None
        # Which Krylov method this is for a PC does not know; some multiply what single precision leaves.
        options.setdefault("precision", "same")
        self._solver = Solver(matrix, **options)
        self._places, self._set_up_with = (indptr, indices), dict(self._options)

    def _is_as_before(self, mat: Any, indptr: Any, indices: Any) -> bool:
        """Collective. Whether entries are at the places, and options as they were, on every rank."""
        from mpi4py import MPI

        assert self._places is not None
        same = (self._options == self._set_up_with and np.array_equal(indptr, self._places[0])
                and np.array_equal(indices, self._places[1]))
        return bool(mat.comm.tompi4py().allreduce(same, op=MPI.LAND))

    def apply(self, pc: Any, x: Any, y: Any) -> None:
        y.setArray(self._made().aspreconditioner().matvec(x.getArray(readonly=True)))

    def applyTranspose(self, pc: Any, x: Any, y: Any) -> None:
        y.setArray(self._made().aspreconditioner().rmatvec(x.getArray(readonly=True)))

    def view(self, pc: Any, viewer: Any) -> None:
        if self._solver is not None:
            viewer.printfASCII(f"{self._solver}\n")

    def reset(self, pc: Any) -> None:
        self._solver = self._places = None

    def destroy(self, pc: Any) -> None:
        self.reset(pc)

    def _made(self) -> Solver:
        if self._solver is None:
            raise RuntimeError("the preconditioner cannot be applied: it was not set up, or its last setup failed")
        return self._solver
