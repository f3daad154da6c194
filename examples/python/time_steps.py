"""Matrices that change their values from step to step: python time_steps.py"""

import numpy as np
import scipy.sparse as sp

import nodewise as nw

A = nw.gallery.laplace7(16).to_scipy()
eye = sp.eye_array(A.shape[0])
x = np.ones(A.shape[0])

step = 0.5
ml = nw.solver(sp.csr_array(eye + step * A))
for k in range(5):
    x = ml.solve(x, x0=x, rtol=1e-10)
    step *= 0.7
    ml.update(sp.csr_array(eye + step * A))  # splittings and interpolation stay
    print(f"step {k}: |x| = {np.linalg.norm(x):.6f}")
