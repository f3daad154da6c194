"""A matrix of which each rank has its rows: mpiexec -n 4 python distributed.py"""

import numpy as np
from mpi4py import MPI

import nodewise as nw

comm = MPI.COMM_WORLD
n = 40
cells = n * n  # unknowns, of which each rank has an equal share
begin, end = cells * comm.rank // comm.size, cells * (comm.rank + 1) // comm.size

# This rank's rows of the 5-point Laplacian, with global columns.
indptr, indices, data = [0], [], []
for row in range(begin, end):
    i, j = divmod(row, n)
    indices.append(row)
    data.append(4.0)
    for k, m in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < n and 0 <= m < n:
            indices.append(k * n + m)
            data.append(-1.0)
    indptr.append(len(indices))

A = nw.Matrix.from_csr((data, indices, indptr), comm=comm, columns=cells)
ml = nw.solver(A)
x, info = ml.solve(np.ones(A.n_local), rtol=1e-8, return_info=True)
table = str(ml)
if comm.rank == 0:
    print(table)
    print(info)
assert info.converged
