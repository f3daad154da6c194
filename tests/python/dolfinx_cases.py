"""Problems of DOLFINx itself, 0.5 or later, solved by nodewise on several ranks: `python dolfinx_cases.py CASE...`, under
mpiexec. What DOLFINx's demo_pyamg does by PyAMG on one rank: Poisson, and elasticity with the modes of a rigid body.

The solutions are polynomials that the elements have, so that every solution is known.
"""

import sys

import nodewise as nw
import numpy as np
import ufl
from dolfinx import fem, la, mesh
from mpi4py import MPI

comm = MPI.COMM_WORLD


class IndexMapOfVersion05:
    """An index map with its communicator."""

    def __init__(self, index_map):
        self._index_map, self.comm = index_map, comm

    def __getattr__(self, name):
        return getattr(self._index_map, name)


class OfVersion05:
    """A MatrixCSR of DOLFINx 0.5 with the names that it has since 0.9."""

    def __init__(self, form, conditions):
        pattern = fem.create_sparsity_pattern(form)
        pattern.assemble()
        self._matrix = la.matrix_csr(pattern)
        fem.assemble_matrix(self._matrix, form, conditions)
        space = form.function_spaces[0]
        self._maps = [IndexMapOfVersion05(space.dofmap.index_map), IndexMapOfVersion05(pattern.column_index_map())]
        self.block_size = [1, 1]
        self.data, self.indices, self.indptr = self._matrix.data, self._matrix.indices, self._matrix.indptr

    def index_map(self, which):
        return self._maps[which]

    def scatter_reverse(self):
        self._matrix.finalize()


def matrix_of_version_05(form, conditions):
    """Its own matrices have no blocks, and lose entries that go to other ranks: PETSc's serve there."""
    if form.function_spaces[0].dofmap.index_map_bs == 1 and comm.size == 1:
        return nw.Matrix.from_dolfinx(OfVersion05(form, conditions))
    mat = fem.petsc.assemble_matrix(form, conditions)
    mat.assemble()
    return nw.Matrix.from_petsc(mat)


def space_of(domain, degree, components):
    if components == 1:
        make = fem.functionspace if hasattr(fem, "functionspace") else fem.FunctionSpace
        return make(domain, ("Lagrange", degree))
    if hasattr(fem, "functionspace"):
        return fem.functionspace(domain, ("Lagrange", degree, (components,)))
    return fem.VectorFunctionSpace(domain, ("Lagrange", degree))


def assembled(a, L, conditions):
    """The matrix, and this rank's part of the right-hand side."""
    form = fem.form(a)
    is_old = not hasattr(la, "MatrixCSR")
    M = matrix_of_version_05(form, conditions) if is_old else \
        nw.Matrix.from_dolfinx(fem.assemble_matrix(form, bcs=conditions))
    b = fem.assemble_vector(fem.form(L))
    fem.apply_lifting(b.array, [form], [conditions])
    (b.scatter_reverse if hasattr(b, "scatter_reverse") else b.scatter_rev)(la.ScatterMode.add if is_old else la.InsertMode.add)
    (fem.set_bc if is_old else lambda values, bcs: [bc.set(values) for bc in bcs])(b.array, conditions)
    return M, b.array[:M.n_local].copy()


def boundary_conditions(V, domain, exact):
    """The exact solution on the whole boundary."""
    wall = fem.Function(V)
    wall.interpolate(exact)
    domain.topology.create_connectivity(domain.topology.dim - 1, domain.topology.dim)
    facets = mesh.exterior_facet_indices(domain.topology)
    return wall, [fem.dirichletbc(wall, fem.locate_dofs_topological(V, domain.topology.dim - 1, facets))]


def check(x, wall, n_local, info, most_iterations):
    difference = comm.allreduce(np.abs(x - wall.x.array[:n_local]).max(initial=0), MPI.MAX)
    assert info.converged and info.iterations <= most_iterations, info
    assert difference < 1e-8, difference


def poisson():
    domain = mesh.create_unit_square(comm, 24, 24)
    V = space_of(domain, 2, 1)
    wall, conditions = boundary_conditions(V, domain, lambda x: 1 + x[0]**2 + 2 * x[1]**2)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A, b = assembled(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, -6.0 * v * ufl.dx, conditions)
    assert A.shape == (49 * 49, 49 * 49)
    x, info = nw.solve(A, b, rtol=1e-11)
    check(x, wall, A.n_local, info, 40)


def elasticity():
    domain = mesh.create_box(comm, [np.zeros(3), np.array([2.0, 1.0, 1.0])], [8, 4, 4])
    V = space_of(domain, 1, 3)
    wall, conditions = boundary_conditions(V, domain, lambda x: np.stack([x[0] + 2 * x[1], x[2] - x[0], 3 * x[1] + 1]))

    def stress(u):
        strain = ufl.sym(ufl.grad(u))
        return 2.0 * strain + 1.5 * ufl.tr(strain) * ufl.Identity(3)

    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    nothing = fem.Constant(domain, np.zeros(3))
    A, b = assembled(ufl.inner(stress(u), ufl.grad(v)) * ufl.dx, ufl.inner(nothing, v) * ufl.dx, conditions)
    assert A.block_size == 3 and A.shape == (3 * 9 * 5 * 5,) * 2
    places = V.tabulate_dof_coordinates()[:A.n_local // 3]
    modes = np.zeros((A.n_local, 6))
    for k, axis in enumerate(np.eye(3)):
        modes[:, k] = np.tile(axis, len(places))
        modes[:, 3 + k] = np.cross(axis, places).ravel()
    ml = nw.solver(A, near_null_space=modes, method="aggregation", solver="cg")
    x, info = ml.solve(b, rtol=1e-11, return_info=True)
    check(x, wall, A.n_local, info, 40)


if __name__ == "__main__":
    for case in sys.argv[1:]:
        try:
            globals()[case]()
        except BaseException:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
            MPI.COMM_WORLD.Abort(1)
        comm.Barrier()
        if comm.rank == 0:
            print("passed", case, flush=True)
