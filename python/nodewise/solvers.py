"""The solver: what `nodewise solve` does, as an object, with SciPy's and PyAMG's names."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from nodewise._load import core
from nodewise.errors import ConvergenceWarning, MatrixError, OptionError
from nodewise.matrix import Matrix, Vector, matrix_of, real_numbers
from nodewise.keywords import NamedValues, as_text, documented, options
from nodewise.solve_info import SolveInfo

if TYPE_CHECKING:
    import scipy.sparse.linalg
    from typing_extensions import Unpack

    from nodewise.option_types import SetupOptions, SolveOptions, SolverOptions
    from nodewise.results import Result

Callback = Callable[[Vector], object]
Monitor = Callable[[int, float], object]


class Level:
    """One level of a hierarchy: its matrix `A`, the prolongation `P` from the next one and the restriction `R` to it.

    On one rank, of a solver that was made of a matrix of SciPy, they are SciPy's (the values in place); otherwise
    `nodewise.Matrix`, and to look at them is collective. The last level has neither P nor R: they are None.
    """

    def __init__(self, solver: Solver, number: int, facts: dict[str, Any]) -> None:
        self._solver = solver
        self.number = number
        self.rows: int = facts["rows"]
        self.nonzeros: int = facts["nonzeros"]
        self.ranks: int = facts["active_ranks"]
        self.messages: int = facts["messages_on_node"] + facts["messages_off_node"]
        self.messages_off_node: int = facts["messages_off_node"]
        self.bytes: int = facts["bytes_on_node"] + facts["bytes_off_node"]
        self.bytes_off_node: int = facts["bytes_off_node"]
        self.coarse_solver: str = facts["coarse_solver"]

    @property
    def A(self) -> Any:
        return self._solver._level_matrix(self.number, "A")

    @property
    def P(self) -> Any:
        return self._solver._level_matrix(self.number, "P")

    @property
    def R(self) -> Any:
        return self._solver._level_matrix(self.number, "R")

    def __repr__(self) -> str:
        return f"<level {self.number}: {self.rows} rows, {self.nonzeros} entries>"


class Solver:
    """A preconditioner that is set up, and the Krylov method that goes with it; made by `nodewise.solver()`."""

    def __init__(self, A: Any, near_null_space: ArrayLike | None = None, left_near_null_space: ArrayLike | None = None,
                 coordinates: ArrayLike | None = None, row_fields: ArrayLike | None = None, **options: object) -> None:
        self.matrix = matrix_of(A)
        self._returns_scipy = self.matrix._scipy is not None
        known = core.Knowledge()
        comm = self.matrix.communicator

        def prepare() -> NamedValues:
            self._tell("near_null_space", near_null_space, self.matrix.near_null_space, known)
            self._tell("left_near_null_space", left_near_null_space, None, known)
            self._tell("coordinates", coordinates, self.matrix.coordinates, known)
            self._tell("row_fields", row_fields, None, known)
            if self.matrix.block_size > 1 and "unknowns" not in options:
                options["unknowns"] = self.matrix.block_size
            return as_text(options)

        self._core = core.Solver(self.matrix._core, comm.collectively(prepare), known, comm.nodes_are_given)
        self._krylov = {name: value for name, value in self._core.options() if name in _krylov_options}
        self._reports: list[dict[str, Any]] = []

    def _tell(self, name: str, given: ArrayLike | None, remembered: Vector | None, known: Any) -> None:
        values = remembered if given is None else given
        if values is None:
            return
        array = np.ascontiguousarray(real_numbers(values, name), dtype=np.float64)
        if array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or (name != "coordinates" and len(array) != self.matrix.n_local):
            raise MatrixError(f"{name} has the shape {np.shape(values)}, where the matrix has {self.matrix.n_local} "
                              "rows here")
        getattr(known, f"set_{name}")(array.ravel(), array.shape[1])

    # Options and levels ---------------------------------------------------------------------------------------------

    @property
    def options(self) -> dict[str, str]:
        """The options in force, as text: what was given, what the preset set, and defaults."""
        return dict(self._core.options())

    @property
    def levels(self) -> list[Level]:
        """The levels of the hierarchy, the finest first; none where the preconditioner is no multigrid."""
        return [Level(self, k, facts) for k, facts in enumerate(self._core.levels())]

    def _level_matrix(self, level: int, which: str) -> Any:
        inner = self._core.level_matrix(level, which)
        if inner is None:
            return None
        found = Matrix(inner)
        if not self._returns_scipy:
            return found
        import scipy.sparse

        kind: Any = scipy.sparse.csr_array if isinstance(self.matrix._scipy, scipy.sparse.sparray) else scipy.sparse.csr_matrix
        return kind(found.csr(), shape=found.shape, copy=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def grid_complexity(self) -> float:
        """Rows of all levels over those of the finest."""
        return float(self._core.summary()["grid_complexity"])

    def operator_complexity(self) -> float:
        """Entries of all levels over those of the finest."""
        return float(self._core.summary()["operator_complexity"])

    def cycle_complexity(self, cycle: str = "V") -> float:
        """Entries that a cycle V or W visits, over those of the finest level."""
        visits = {"V": 1, "W": 2}.get(cycle.upper())
        levels = self.levels
        if visits is None or not levels:
            raise OptionError(f"cycle `{cycle}` is none of V and W, or there is no multigrid")
        counts = [visits**k * level.nonzeros * (2 if k + 1 < len(levels) else 1) for k, level in enumerate(levels)]
        return float(sum(counts) / levels[0].nonzeros)

    def __repr__(self) -> str:
        return table_of_levels(self)

    # Solving --------------------------------------------------------------------------------------------------------

    @overload
    def solve(self, b: ArrayLike, x0: ArrayLike | None = ..., *, tol: float | None = ..., rtol: float | None = ...,
              atol: float | None = ..., maxiter: int | None = ..., accel: str | None = ..., cycle: str | None = ...,
              residuals: list[float] | None = ..., callback: Callback | None = ..., monitor: Monitor | None = ...,
              return_info: Literal[False] = ..., **options: Unpack[SolveOptions]) -> Vector: ...
    @overload
    def solve(self, b: ArrayLike, x0: ArrayLike | None = ..., *, tol: float | None = ..., rtol: float | None = ...,
              atol: float | None = ..., maxiter: int | None = ..., accel: str | None = ..., cycle: str | None = ...,
              residuals: list[float] | None = ..., callback: Callback | None = ..., monitor: Monitor | None = ...,
              return_info: Literal[True], **options: Unpack[SolveOptions]) -> tuple[Vector, SolveInfo]: ...

    def solve(self, b: ArrayLike, x0: ArrayLike | None = None, *, tol: float | None = None, rtol: float | None = None,
              atol: float | None = None, maxiter: int | None = None, accel: str | None = None, cycle: str | None = None,
              residuals: list[float] | None = None, callback: Callback | None = None, monitor: Monitor | None = None,
              return_info: bool = False, **options: Any) -> Any:
        """Collective. Solves A x = b, of this rank's rows; b is a vector, or has a right-hand side in every column.

        Stops where |b - A x| <= max(rtol |b|, atol); `tol` is another name of rtol. `x0` is the guess to begin with.
        `accel` is another Krylov method than that of the setup ("cg", "gmres", "stationary" for plain cycles, ...).
        `residuals`, a list, receives the norms of the residual, one more than there are iterations.

        `callback(xk)` and `monitor(iteration, relative_residual)` are called after every iteration on the ranks that
        give them; xk is this rank's part of the iterate, in place (of gmres and fgmres, which form it where they
        begin again, the last one that was formed). What one raises on any rank every rank raises, some iterations
        later; StopIteration ends the solve without an error.

        Returns x, and with `return_info` also a `SolveInfo`. Without it, a solve that did not converge warns.
        """
        comm = self.matrix.communicator

        def prepare() -> tuple[Vector, Vector, tuple[int, ...], NamedValues]:
            if cycle is not None and cycle.lower() != self.options.get("cycle"):
                raise OptionError(f"cycle `{cycle.lower()}` is not that of the setup, which is "
                                  f"`{self.options.get('cycle')}`: give it to nodewise.solver()")
            given = {"tol": tol, "rtol": rtol, "atol": atol, "maxiter": maxiter, "accel": accel, **options}
            return *self._vectors(b, x0), self._krylov_of(given)

        rhs, x, shape, krylov = comm.collectively(prepare)
        self._core.set_krylov(krylov)
        width = shape[1] if len(shape) == 2 else 1
        observer = _observer(callback, monitor, x.reshape(shape))
        raised = self._core.solve(rhs, x, width, observer)
        comm.agree(None if isinstance(raised, StopIteration) else raised)
        self._reports = self._core.reports()
        worst = self._reports[self._core.summary()["worst"]]
        info = SolveInfo(worst, self._core.findings(), self._reports)
        if residuals is not None:
            residuals[:] = info.residuals
        solution = x.reshape(shape)
        if return_info:
            return solution, info
        if not info.converged:
            warnings.warn(f"the solve did not converge ({info.outcome}): {info.diagnosis}", ConvergenceWarning,
                          stacklevel=2)
        return solution

    def _krylov_of(self, given: dict[str, object]) -> NamedValues:
        """The options of this solve: those of the setup, but for what is given."""
        for name in given:
            if name not in _krylov_options and name not in ("tol", "rtol", "atol", "maxiter", "accel"):
                raise OptionError(f"option `{name}` belongs to the setup, or there is none such: give it to nodewise.solver()"
                                  if name in _all_options else _no_option(name))
        wanted = dict(self._krylov)
        wanted.update(as_text(given))
        return list(wanted.items())

    def _vectors(self, b: ArrayLike, x0: ArrayLike | None) -> tuple[Vector, Vector, tuple[int, ...]]:
        """Right-hand sides, read where they are if they are float64 in one piece; the array for x; its shape."""
        rows = self.matrix.n_local
        rhs = real_numbers(b, "b").astype(np.float64, copy=False)
        if rhs.ndim not in (1, 2) or len(rhs) != rows or (rhs.ndim == 2 and rhs.shape[1] == 0):
            raise MatrixError(f"b has the shape {rhs.shape}, where the matrix has {rows} rows here")
        if x0 is None:
            x = np.zeros(rhs.shape)
        else:
            guess = real_numbers(x0, "x0")
            if guess.shape != rhs.shape:
                raise MatrixError(f"x0 has the shape {guess.shape}, where b has {rhs.shape}")
            x = np.array(guess, dtype=np.float64, order="C")
        return rhs.ravel(), x.ravel(), rhs.shape

    def aspreconditioner(self, cycle: str | None = None) -> scipy.sparse.linalg.LinearOperator[Any]:
        """The preconditioner as a LinearOperator of SciPy, on this rank's rows: one cycle from zero."""
        from scipy.sparse.linalg import LinearOperator

        if cycle is not None and cycle.lower() != self.options.get("cycle"):
            raise OptionError(f"cycle `{cycle.lower()}` is not that of the setup, which is `{self.options.get('cycle')}`: "
                              "give it to nodewise.solver()")

        def apply(r: Any) -> Vector:
            z = np.empty(self.matrix.n_local)
            self._core.precondition(np.ascontiguousarray(real_numbers(r, "r"), dtype=np.float64).ravel(), z)
            return z

        n = self.matrix.n_local
        adjoint = apply if self._core.summary()["is_own_transpose"] else None
        made: LinearOperator[Any] = LinearOperator((n, n), matvec=apply, rmatvec=adjoint, dtype=np.float64)
        return made

    def update(self, A: Any, reuse: Literal["interpolation", "splitting"] = "interpolation") -> None:
        """Collective. Sets up for a matrix with the same pattern and other values, as in a time step."""
        if reuse not in ("interpolation", "splitting"):
            raise OptionError(f"reuse `{reuse}` is neither interpolation nor splitting")
        matrix = matrix_of(A)
        self._core.rebuild(matrix._core, reuse == "interpolation")
        self.matrix = matrix

    def report(self) -> Result:
        """What is known of the setup and the last solve, as `nodewise solve --json` writes it."""
        from nodewise.results import Result

        if not self._reports:
            raise RuntimeError("there is no report before the first solve")
        return Result("solve", self._core.json(), self.matrix.communicator)


def _observer(callback: Callback | None, monitor: Monitor | None, x: Vector) -> Callable[[int, float], None] | None:
    if callback is None and monitor is None:
        return None
    for name, given in (("callback", callback), ("monitor", monitor)):
        if given is not None and not callable(given):
            raise TypeError(f"{name} is a {type(given).__name__}, which cannot be called")
    shown = x.view()
    shown.flags.writeable = False

    def observe(iteration: int, relative_residual: float) -> None:
        if monitor is not None:
            monitor(iteration, relative_residual)
        if callback is not None and iteration > 0:
            callback(shown)

    return observe


def _no_option(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, [*_all_options, "rtol", "atol", "maxiter", "accel"], 1, 0.5)
    return f"there is no option `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")


def table_of_levels(ml: Solver) -> str:
    """What print(ml) prints: the choices, and what each level has and sends in a product with its matrix."""
    summary, levels = ml._core.summary(), ml.levels
    comm = ml.matrix.communicator
    on = f"{comm.size} ranks on {comm.nodes} nodes" if comm.size > 1 else "one rank"
    lines = [f"Solver of {ml.shape[0]} unknowns on {on}: {summary['method']} with {summary['preconditioner']}, "
             f"preset {summary['preset']}"]
    if not levels:
        return lines[0]
    lines += [f"  Number of Levels:     {len(levels)}",
              f"  Operator Complexity:  {summary['operator_complexity']:.3f}",
              f"  Grid Complexity:      {summary['grid_complexity']:.3f}",
              f"  Coarse Solver:        {levels[-1].coarse_solver}",
              f"  {'level':>5} {'unknowns':>12} {'nonzeros':>20} {'ranks':>6} {'messages':>9} {'off node':>9} "
              f"{'KiB':>9} {'off node':>9}"]
    total = sum(level.nonzeros for level in levels)
    for level in levels:
        share = f"{level.nonzeros} [{100 * level.nonzeros / total:5.2f}%]"
        lines.append(f"  {level.number:>5} {level.rows:>12} {share:>20} {level.ranks:>6} {level.messages:>9} "
                     f"{level.messages_off_node:>9} {level.bytes / 1024:>9.1f} {level.bytes_off_node / 1024:>9.1f}")
    return "\n".join(lines)


def solver(A: Any, *, near_null_space: ArrayLike | None = None, left_near_null_space: ArrayLike | None = None,
           coordinates: ArrayLike | None = None, row_fields: ArrayLike | None = None,
           **options: Unpack[SolverOptions]) -> Solver:
    """Collective. Sets up multigrid, or another preconditioner, for A, and chooses a Krylov method.

    A is a sparse matrix or array of SciPy, which this process solves by itself, a `nodewise.Matrix` of many ranks, or
    a matrix of petsc4py. `near_null_space` has vectors, this rank's rows, that A nearly maps to zero (PyAMG's B), and
    `coordinates` those of the points, for rigid body modes. `row_fields` has the field of each of this rank's rows,
    whole numbers from 0, for `preconditioner="fields"`, which eliminates field 0 first. Without further options the preset is chosen by the
    matrix and the method by its symmetry. Options by their names, as on the command line with underscores."""
    return Solver(A, near_null_space, left_near_null_space, coordinates, row_fields, **options)


def solve(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float | None = None, atol: float | None = None,
          maxiter: int | None = None, M: Solver | None = None, callback: Callback | None = None,
          monitor: Monitor | None = None, residuals: list[float] | None = None,
          **options: Unpack[SetupOptions]) -> tuple[Vector, SolveInfo]:
    """Collective. Sets up and solves in one call, like scipy.sparse.linalg.cg; returns (x, info).

    M is a `Solver` of the same matrix that is there already. Options as for `solver()` and `Solver.solve()`."""
    if M is not None and not isinstance(M, Solver):
        raise TypeError(f"M is a {type(M).__name__}, where a solver of nodewise.solver() is needed; others go to "
                        "scipy.sparse.linalg")
    if M is not None and options:
        raise OptionError(f"option `{next(iter(options))}` belongs to the setup of M, which is done: give it to nodewise.solver()")
    if M is not None and M.matrix is not A and M.matrix._scipy is not A:
        raise MatrixError("M is the solver of another matrix: update it, by M.update(A), or leave it out")
    ml = M if M is not None else Solver(A, **options)
    return ml.solve(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, monitor=monitor,
                    residuals=residuals, return_info=True)


_all_options = options()
# What a solve may have otherwise than the setup: when it ends, and the Krylov method with what is its own.
_krylov_options = {"solver", "tolerance", "absolute_tolerance", "norm", "max_iterations", "stagnation_window"} | {
    name for name, option in _all_options.items() if option.belongs_to.startswith("solver ")}


def _show_options(function: Any) -> None:
    """Options in the signature, which completes them, and in the docstring."""
    function.__doc__ = documented(function.__doc__ or "")
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
            for name, option in _all_options.items() if name not in signature.parameters]
    function.__signature__ = signature.replace(parameters=own + more)


_show_options(solver)
_show_options(solve)
