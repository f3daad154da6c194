"""How a solve went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SolveInfo:
    """How a solve went: `int(info)` is 0 where it converged, as with SciPy; `diagnosis` says what happened otherwise.

    Of several right-hand sides it is the one that fared worst; `columns` has all.
    """

    def __init__(self, report: Mapping[str, Any], findings: Sequence[Mapping[str, str]] = (),
                 columns: Sequence[Mapping[str, Any]] = ()) -> None:
        self.outcome: str = report["outcome"]
        self.diagnosis: str = report["diagnosis"]
        self.method: str = report["method"]
        self.iterations: int = report["iterations"]
        self.relative_residual: float = report["true_relative_residual"]
        self.relative_residuals: list[float] = report["history"]
        self.residuals: list[float] = [one * report["reference_norm"] for one in report["history"]]
        self.seconds: float = report["seconds"]
        self.findings = [dict(finding) for finding in findings]
        self.columns = [SolveInfo(one) for one in columns] if len(columns) > 1 else [self]

    @property
    def converged(self) -> bool:
        return self.outcome == "converged"

    def __int__(self) -> int:
        """0: converged; the number of iterations where that was the limit; -1 for another end."""
        if self.converged:
            return 0
        return max(1, self.iterations) if self.outcome in ("max_iterations", "interrupted", "stagnated") else -1

    __index__ = __int__

    def __bool__(self) -> bool:
        """As the number: false where it converged."""
        return int(self) != 0

    def __eq__(self, other: object) -> bool:
        return int(self) == other if isinstance(other, int) else self is other

    __hash__ = object.__hash__

    def to_dict(self) -> dict[str, Any]:
        names = ("outcome", "diagnosis", "method", "iterations", "relative_residual", "residuals", "seconds", "findings")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        said = f": {self.diagnosis}" if self.diagnosis else ""
        return (f"<{self.outcome} after {self.iterations} iterations of {self.method}, "
                f"relative residual {self.relative_residual:.2e}{said}>")
