"""PyAMG's two solvers under its names, for scripts that change their import: `from nodewise import pyamg`.

The choices are PyAMG's, so that levels and iterations are the same up to rounding (with smoothed aggregation up to
PyAMG's random estimate of a spectral radius); what has no counterpart is refused by name. `nodewise.solver()` chooses
by the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from nodewise.errors import OptionError
from nodewise.matrix import Vector
from nodewise.solvers import Solver

if TYPE_CHECKING:
    import scipy.sparse.linalg

# A method of PyAMG: its name, or the name and its parameters.
Spec = Union[str, tuple[str, Mapping[str, Any]], None]

_smoothers = {"gauss_seidel": "gauss_seidel", "block_gauss_seidel": "block_gauss_seidel", "jacobi": "jacobi",
              "block_jacobi": "block_jacobi"}
_splittings = {"RS": "ruge_stueben_first_pass", "PMIS": "pmis", "CLJP": "cljp"}
_accelerators = {"cg": "cg", "gmres": "gmres", "fgmres": "fgmres", "bicgstab": "bicgstab"}
_cycles = {"V": "v", "W": "w", "F": "f"}
_restrictions = {"hermitian": "transposed", "symmetric": "transposed", "nonsymmetric": "smoothed"}
_direct = ("pinv", "pinv2", "lu", "splu", "cholesky")  # the same up to rounding, and what is here
_interpolations = {"classical": "modified_classical", "direct": "direct"}


def _split(what: str, spec: Spec, known: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a method, of which there is a counterpart."""
    name, parameters = (spec, {}) if not isinstance(spec, tuple) else (spec[0], dict(spec[1]))
    if not isinstance(name, str) or name not in known:
        raise OptionError(f"{what} {name!r} of PyAMG has no counterpart here: there are {', '.join(known)}")
    return str(name), parameters


def _refuse(what: str, parameters: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in parameters:
        if name not in known:
            raise OptionError(f"parameter {name!r} of {what} of PyAMG has no counterpart here: there are {', '.join(known)}")


def _smoothing(pre: Spec, post: Spec) -> dict[str, object]:
    name, first = _split("smoother", pre, _smoothers)
    other, second = _split("smoother", post, _smoothers)
    for parameters in (first, second):
        _refuse("the smoother", parameters, ("sweep", "iterations", "omega"))
    if name != other or first.get("sweep") != second.get("sweep") or first.get("omega") != second.get("omega"):
        raise OptionError("the smoothers before and after the coarse correction differ: here they are the same")
    chosen: dict[str, object] = {"smoother": _smoothers[name], "pre_sweeps": first.get("iterations", 1),
                                 "post_sweeps": second.get("iterations", 1)}
    if name.endswith("gauss_seidel"):
        chosen["sweep_order"] = first.get("sweep", "forward")
    elif "omega" in first:
        chosen["jacobi_weight"] = first["omega"]
    return chosen


def _refuse_extras(keep: object, coarse_solver: Spec, diagonal_dominance: object = False) -> None:
    """What keeps no more, solves the coarsest level exactly and ignores dominance is how it is here."""
    if keep is not False:
        raise OptionError("keep=True of PyAMG has no counterpart here: there are the matrices A, P and R of each level")
    if diagonal_dominance is not False and diagonal_dominance != (False, {}):
        raise OptionError("diagonal_dominance of PyAMG has no counterpart here: there is False")
    _, parameters = _split("coarse_solver", coarse_solver, dict.fromkeys(_direct))
    _refuse("coarse_solver", parameters, ())


_common: dict[str, object] = {"preset": "default", "stagnation_window": 0, "transport": "point_to_point"}


class MultilevelSolver(Solver):
    """A solver with the arguments and defaults of PyAMG's: plain cycles unless `accel` names a Krylov method.

    PyAMG takes the cycle with each solve, and so does this: another than V is a setup of its own, made once.
    """

    def __init__(self, A: Any, near_null_space: ArrayLike | None = None, left_near_null_space: ArrayLike | None = None,
                 coordinates: ArrayLike | None = None, **options: object) -> None:
        super().__init__(A, near_null_space, left_near_null_space, coordinates, None, **options)
        self._made_of = (A, near_null_space, left_near_null_space, coordinates)
        self._given = options
        self._others: dict[str, MultilevelSolver] = {}

    def _with_cycle(self, cycle: str) -> MultilevelSolver:
        name, _ = _split("cycle", str(cycle).upper(), _cycles)
        if _cycles[name] == self.options["cycle"]:
            return self
        if name not in self._others:
            options: dict[str, Any] = {**self._given, "cycle": _cycles[name]}
            self._others[name] = MultilevelSolver(*self._made_of, **options)
        return self._others[name]

    def solve(self, b: ArrayLike, x0: ArrayLike | None = None, tol: float = 1e-5, maxiter: int = 100,  # type: ignore[override]
              cycle: str = "V", accel: str | None = None, callback: Callable[[Vector], object] | None = None,
              residuals: list[float] | None = None, cycles_per_level: int = 1, return_info: bool = False) -> Any:
        if cycles_per_level != 1:
            raise OptionError(f"cycles_per_level is {cycles_per_level}, where 1 alone has a counterpart here")
        method = "stationary" if accel is None else _accelerators[_split("accel", accel, _accelerators)[0]]
        if method == "cg" and str(cycle).upper() == "F":
            raise OptionError("cycle 'F' with accel 'cg' of PyAMG has no counterpart here: there are V and W")
        x, info = Solver.solve(self._with_cycle(cycle), b, x0, tol=tol, maxiter=maxiter, accel=method, callback=callback,
                               residuals=residuals, return_info=True)
        return (x, int(info)) if return_info else x

    def aspreconditioner(self, cycle: str = "V") -> scipy.sparse.linalg.LinearOperator[Any]:  # type: ignore[override]
        return Solver.aspreconditioner(self._with_cycle(cycle))

    def update(self, A: Any, reuse: Literal["interpolation", "splitting"] = "interpolation") -> None:
        super().update(A, reuse)
        for other in self._others.values():
            other.update(A, reuse)

    def cycle_complexity(self, cycle: str = "V") -> float:
        """As PyAMG counts: entries of what a cycle visits over those of A, the coarsest level once a visit from above."""
        name, _ = _split("cycle", str(cycle).upper(), _cycles)
        entries = [level.nonzeros for level in self.levels]

        def visit(level: int, shape: str) -> int:
            if level + 1 == len(entries):
                return entries[level]
            own = 2 * entries[level]
            if shape == "V" or level + 2 == len(entries):
                return own + visit(level + 1, "V")
            return own + visit(level + 1, shape) + visit(level + 1, "W" if shape == "W" else "V")

        return visit(0, name) / entries[0]


def ruge_stuben_solver(A: Any, strength: Spec = ("classical", {"theta": 0.25, "norm": "abs"}), CF: Spec = "RS",
                       interpolation: Spec = "classical",
                       presmoother: Spec = ("gauss_seidel", {"sweep": "symmetric"}),
                       postsmoother: Spec = ("gauss_seidel", {"sweep": "symmetric"}), max_levels: int = 30,
                       max_coarse: int = 10, keep: bool = False, coarse_solver: Spec = "pinv") -> MultilevelSolver:
    """Classical multigrid with the arguments of pyamg.ruge_stuben_solver."""
    _refuse_extras(keep, coarse_solver)
    _, measure = _split("strength", strength, {"classical": 0})
    _refuse("strength", measure, ("theta", "norm"))
    splitting, passes = _split("CF", CF, _splittings)
    _refuse("CF", passes, ("second_pass",))
    formula, parameters = _split("interpolation", interpolation, _interpolations)
    _refuse("interpolation", parameters, ("modified",))
    coarsening = "ruge_stueben" if splitting == "RS" and passes.get("second_pass") else _splittings[splitting]
    options: dict[str, object] = {
        **_common, **_smoothing(presmoother, postsmoother), "method": "classical",
        "strength_measure": {"abs": "absolute", "min": "opposite_sign"}.get(measure.get("norm", "abs"), "absolute"),
        # An entry just at the bound is strong in PyAMG and weak here.
        "strength_threshold": np.nextafter(measure.get("theta", 0.25), 0), "max_row_sum": 1, "coarsening": coarsening,
        "interpolation": "classical" if parameters.get("modified") is False else _interpolations[formula],
        "max_interpolation_entries": 0, "max_levels": max_levels, "max_coarse_rows": max_coarse}
    if coarsening.startswith("ruge_stueben"):
        options["isolated_couplings"] = "lumped"
    return MultilevelSolver(A, None, None, None, **options)


def _improving_sweeps(improve_candidates: Any) -> int:
    """Sweeps over the candidates of the finest level; PyAMG's last entry counts for all levels behind."""
    every = [improve_candidates] if isinstance(improve_candidates, (str, tuple)) else list(improve_candidates or [None])
    if isinstance(improve_candidates, tuple) and isinstance(improve_candidates[0], tuple):
        every = list(improve_candidates)
    if every[0] is None and set(map(type, every)) == {type(None)}:
        return 0
    if len(every) == 1 or any(spec is not None for spec in every[1:]):
        raise OptionError("improve_candidates of PyAMG on coarse levels has no counterpart here: there is [..., None]")
    _, relaxation = _split("improve_candidates", every[0], _smoothers)
    _refuse("improve_candidates", relaxation, ("sweep", "iterations"))
    if relaxation.get("sweep") != "symmetric":
        raise OptionError("improve_candidates of PyAMG by sweeps that are not symmetric has no counterpart here")
    return int(relaxation.get("iterations", 1))


def smoothed_aggregation_solver(A: Any, B: ArrayLike | None = None, BH: ArrayLike | None = None,
                                symmetry: str = "hermitian", strength: Spec = "symmetric", aggregate: Spec = "standard",
                                smooth: Spec = ("jacobi", {"omega": 4.0 / 3.0}),
                                presmoother: Spec = ("block_gauss_seidel", {"sweep": "symmetric"}),
                                postsmoother: Spec = ("block_gauss_seidel", {"sweep": "symmetric"}),
                                improve_candidates: Any = (("block_gauss_seidel", {"sweep": "symmetric", "iterations": 4}),
                                                           None),
                                max_levels: int = 10, max_coarse: int = 10, diagonal_dominance: Any = False,
                                keep: bool = False, coarse_solver: Spec = "pinv") -> MultilevelSolver:
    """Smoothed aggregation with the arguments of pyamg.smoothed_aggregation_solver."""
    _refuse_extras(keep, coarse_solver, diagonal_dominance)
    if symmetry not in _restrictions:
        raise OptionError(f"symmetry {symmetry!r} of PyAMG has no counterpart here: there are {', '.join(_restrictions)}")
    _, measure = _split("strength", strength, {"symmetric": 0})
    _refuse("strength", measure, ("theta",))
    _split("aggregate", aggregate, {"standard": 0})
    _, smoothing = _split("smooth", smooth, {"jacobi": 0})
    _refuse("smooth", smoothing, ("omega",))
    if abs(smoothing.get("omega", 4.0 / 3.0) - 4.0 / 3.0) > 1e-12:
        raise OptionError("parameter 'omega' of smooth is not 4/3, which alone has a counterpart here")
    sweeps = _improving_sweeps(improve_candidates)
    block = A.blocksize[0] if getattr(A, "format", "") == "bsr" else 1
    smoother = _smoothing(presmoother, postsmoother)
    if block == 1:  # the same sweeps
        smoother["smoother"] = str(smoother["smoother"]).removeprefix("block_")
    theta = measure.get("theta", 0.0)
    options: dict[str, object] = {
        **_common, **smoother, "method": "aggregation", "aggregates": "standard_first",
        "aggregation_threshold": np.nextafter(theta, 0) if theta > 0 else 0, "candidate_sweeps": sweeps,
        "restriction": _restrictions[symmetry], "max_levels": max_levels, "max_coarse_rows": max_coarse}
    if sweeps:
        options["candidate_relaxation"] = "gauss_seidel"
    return MultilevelSolver(A, B, BH, None, **options)
