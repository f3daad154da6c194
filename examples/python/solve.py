"""A matrix of SciPy on one process: python solve.py"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import nodewise as nw

n = 60
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
A = sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))
b = np.ones(A.shape[0])

ml = nw.solver(A)
print(ml)

residuals: list[float] = []
x = ml.solve(b, rtol=1e-10, residuals=residuals)
print(f"{len(residuals) - 1} iterations, |b - A x| / |b| = {np.linalg.norm(b - A @ x) / np.linalg.norm(b):.1e}")

x, info = nw.solve(A, b, rtol=1e-8, smoother="chebyshev")  # in one call
print(info)

y, code = sla.cg(A, b, M=ml.aspreconditioner())  # with SciPy's methods
print("SciPy converged" if code == 0 else f"SciPy ended with {code}")
