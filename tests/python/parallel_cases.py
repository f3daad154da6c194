"""What runs on several ranks: `python parallel_cases.py CASE`, under mpiexec. Prints "passed" on rank 0 at the end.

Each case compares with what one process computes of the whole matrix.
"""

import sys
import warnings

import numpy as np
import nodewise as nw
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import poisson
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def ranges(n, empty=False):
    """The rows of each rank; with `empty` rank 0 has none."""
    owners = size - 1 if empty and size > 1 else size
    ends = np.linspace(0, n, owners + 1).astype(int)
    if owners < size:
        ends = np.concatenate([[0], ends])
    return ends


def part(A, ends):
    return sp.csr_array(A[ends[rank]:ends[rank + 1]])


def gathered(x):
    return np.concatenate(comm.allgather(x))


def everywhere(exception):
    """Whether every rank was told the same."""
    texts = comm.allgather(f"{type(exception).__name__}: {exception}")
    assert len(set(texts)) == 1, texts
    return texts[0]


def raised(call):
    try:
        call()
    except BaseException as error:
        return error
    return None


def rows_and_empty_ranks():
    A = poisson(20)
    rng = np.random.default_rng(3)
    b = rng.standard_normal(400)
    reference = sla.spsolve(sp.csc_matrix(A), b)
    for empty in (False, True):
        ends = ranges(400, empty)
        mine = part(A, ends)
        M = nw.Matrix.from_csr((mine.data, mine.indices, mine.indptr), comm=comm, columns=400)
        assert M.shape == (400, 400) and M.nnz == A.nnz and M.row_range == (ends[rank], ends[rank + 1])
        local = b[ends[rank]:ends[rank + 1]]
        x, info = nw.solve(M, local, rtol=1e-11)
        assert info.converged
        np.testing.assert_allclose(gathered(x), reference, rtol=1e-7)
        np.testing.assert_allclose(gathered(M @ local), A @ b)
        assert abs(M.to_scipy() - mine).max() == 0 if len(local) else True
        np.testing.assert_array_equal(gathered(M.diagonal()), A.diagonal())


def types_differ_by_rank():
    A = poisson(12)
    mine = part(A, ranges(144))
    kind, value = (np.int32, np.float32) if rank % 2 else (np.int64, np.float64)
    M = nw.Matrix.from_csr((mine.data.astype(value), mine.indices.astype(kind), mine.indptr.astype(kind)))
    x = nw.solver(M).solve(np.ones(M.n_local), rtol=1e-9)
    np.testing.assert_allclose(A @ gathered(x), 1, rtol=1e-7)


def levels():
    A = nw.gallery.laplace7(10, comm=comm)
    ml = nw.solver(A, max_coarse_rows=10, precision="same")
    whole = [sp.vstack(comm.allgather(level.A.to_scipy())) for level in ml.levels]
    for k, level in enumerate(ml.levels[:-1]):
        P = sp.vstack(comm.allgather(level.P.to_scipy()))
        galerkin = P.T @ whole[k] @ P
        assert abs(galerkin - whole[k + 1]).max() < 1e-12 * abs(whole[k]).max()
    text = comm.allgather(str(ml))
    assert len(set(text)) == 1 and f"{size} ranks" in text[0] if size > 1 else True
    b = np.ones(A.n_local)
    M = ml.aspreconditioner()
    z = M @ b
    alone = nw.solver(sp.csr_array(whole[0]), max_coarse_rows=10, solver="stationary")
    assert np.isfinite(gathered(z)).all() and alone is not None


def iterations_are_those_of_one_rank():
    A = nw.gallery.laplace27(10, comm=comm)
    one = nw.gallery.laplace27(10, comm=MPI.COMM_SELF)
    _, info = nw.solve(A, np.ones(A.n_local))
    _, alone = nw.solve(one, np.ones(one.n_local))
    assert abs(info.iterations - alone.iterations) <= 2, (info, alone)


def blocks_and_update():
    A = nw.gallery.laplace7(9, comm=comm)
    ml = nw.solver(A)
    B = np.arange(3.0 * A.n_local).reshape(-1, 3) + 1
    X, info = ml.solve(B, rtol=1e-10, return_info=True)
    assert info.converged and X.shape == B.shape
    for k in range(3):
        r = gathered(B[:, k] - A @ X[:, k])
        assert np.linalg.norm(r) <= 1e-9 * np.linalg.norm(gathered(B[:, k]))
    data, indices, indptr = A.csr()
    ml.update(nw.Matrix.from_csr((2 * data, indices, indptr), comm=comm))
    y = ml.solve(B[:, 0], rtol=1e-10)
    np.testing.assert_allclose(gathered(2 * y), gathered(X[:, 0]), rtol=1e-6)


def one_rank_fails():
    """What is wrong on one rank alone every rank raises, alike, and goes on."""
    A = nw.gallery.laplace7(8, comm=comm)
    ml = nw.solver(A)
    bad = size - 1
    mine = rank == bad
    b = np.ones(A.n_local)

    def fails(xk):
        if mine:
            raise LookupError("only here")

    calls = {
        "b too short": lambda: ml.solve(b[:-1] if mine else b),
        "b complex": lambda: ml.solve(b * 1j if mine else b),
        "b of text": lambda: ml.solve(["x"] if mine else b),
        "a callback": lambda: ml.solve(b, callback=fails),
        "a callback on one rank": lambda: ml.solve(b, callback=fails if mine else None),
        "a monitor on one rank": lambda: ml.solve(b, monitor=(lambda k, r: fails(r)) if mine else None),
        "an option": lambda: ml.solve(b, rtol=-1 if mine else 1e-8),
        "an unknown option": lambda: ml.solve(b, **({"rtoll": 1} if mine else {})),
        "an option of the setup": lambda: nw.solver(A, **({"max_levels": 0} if mine else {})),
        "an unknown option of the setup": lambda: nw.solver(A, **({"smother": 0} if mine else {})),
        "rows": lambda: nw.Matrix.from_csr(([1.0], [0], [0, 7 if mine else 1]), comm=comm),
        "a column": lambda: nw.Matrix.from_csr(([1.0], [10**6 if mine else 0], [0, 1]), comm=comm),
        "complex rows": lambda: nw.Matrix.from_csr(([1j if mine else 1.0], [0], [0, 1]), comm=comm),
        "a near null space": lambda: nw.solver(A, near_null_space=np.ones(A.n_local - mine), method="aggregation"),
        "a product": lambda: A @ np.ones(A.n_local + mine),
        "vectors": lambda: nw.write_vectors("/tmp/none.mtx", b[:-1] if mine else b, A),
        "a file": lambda: nw.read("/nowhere.mtx", comm),
        "a problem": lambda: nw.gallery.laplace7(0 if mine else 3, comm=comm),
        "a command": lambda: nw.inspect(A, **({"nonsense": 1} if mine else {})),
    }
    for name, call in calls.items():
        error = raised(call)
        assert isinstance(error, Exception), (rank, name, error)
        text = everywhere(error)
        assert len(text.split()) > 3 or "only here" in text, text
    x = ml.solve(b, rtol=1e-9)
    assert np.linalg.norm(gathered(b - A @ x)) <= 1e-8 * np.sqrt(A.shape[0])


def tolerances_differ():
    A = nw.gallery.laplace7(8, comm=comm)
    ml = nw.solver(A)
    error = raised(lambda: ml.solve(np.ones(A.n_local), rtol=1e-6 if rank == 0 else 1e-8))
    if size == 1:
        assert error is None
    else:
        assert isinstance(error, nw.OptionError)
        everywhere(error)


def interrupted():
    """A signal on one rank ends the solve of all."""
    import signal

    A = nw.gallery.laplace7(8, comm=comm)
    ml = nw.solver(A)
    last = rank == size - 1
    error = raised(lambda: ml.solve(np.ones(A.n_local), rtol=1e-15,
                                    monitor=lambda k, r: signal.raise_signal(signal.SIGINT) if last else None))
    assert isinstance(error, KeyboardInterrupt), error
    x = ml.solve(np.ones(A.n_local), rtol=1e-9)
    assert np.isfinite(x).all()


def communicators():
    part = comm.Split(color=rank % 2)
    A = nw.gallery.laplace7(6, comm=part)
    x, info = nw.solve(A, np.ones(A.n_local))
    assert info.converged and A.communicator.size == part.size
    del A, x
    part.Free()
    pretended = nw.Communicator(comm, ranks_per_node=1)
    assert pretended.nodes == size
    B = nw.gallery.laplace7(6, comm=pretended)
    x, info = nw.solve(B, np.ones(B.n_local), route="three_step")
    assert info.converged
    again = nw.gallery.laplace7(4, comm=comm).communicator
    assert again is nw.gallery.laplace7(4, comm=comm).communicator


def assembly():
    """Each rank adds entries for all rows."""
    A = poisson(8)
    coo = A.tocoo()
    mine = nw.comm_part(64, rank, size) if hasattr(nw, "comm_part") else np.diff(ranges(64))[rank]
    entries = nw.Assembler(int(mine), comm)
    entries.add(coo.row, coo.col, coo.data)
    M = entries.finish()
    assert abs(sp.vstack(comm.allgather(M.to_scipy())) - size * A).max() == 0


class IndexMap:
    """As DOLFINx has it: owned indices, then ghosts, by their global numbers."""

    def __init__(self, begin, end, ghosts, total):
        self.size_local, self.num_ghosts, self.size_global, self.comm = end - begin, len(ghosts), total, comm
        self._global = np.concatenate([np.arange(begin, end), ghosts]).astype(np.int64)

    def local_to_global(self, local):
        return self._global[local]


class MatrixCSR:
    """A stand-in for dolfinx.la.MatrixCSR: rows of ghosts behind the owned ones, whose entries scatter_reverse() sends."""

    def __init__(self, blocks, points, ends, begin, end, block):
        self.block_size, self.scattered = [block, block], False
        local = [blocks.indices[blocks.indptr[i]:blocks.indptr[i + 1]] for i in range(begin, end)]
        needed = np.unique(np.concatenate([*local, [begin]])) if local else np.array([], dtype=int)
        ghosts = needed[(needed < begin) | (needed >= end)][::-1]  # in no order
        here = {int(g): k for k, g in enumerate([*range(begin, end), *ghosts])}
        self.maps = [IndexMap(begin, end, ghosts, points)] * 2
        counts = [len(row) for row in local] + [1] * len(ghosts)
        self.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.indices = np.array([here[int(j)] for row in local for j in row] + [0] * len(ghosts), dtype=np.int32)
        first, last = blocks.indptr[begin], blocks.indptr[end]
        self.data = np.concatenate([blocks.data[first:last].ravel(), np.zeros(len(ghosts) * block * block)])

    def index_map(self, which):
        return self.maps[which]

    def scatter_reverse(self):
        self.scattered = True


def dolfinx():
    one = poisson(10)
    for block in (1, 3):
        coupling = np.eye(block) + 0.1 * np.arange(block * block).reshape(block, block)
        A = sp.bsr_array(sp.kron(one, coupling), blocksize=(block, block))
        A.sort_indices()
        ends = ranges(100, empty=True)
        theirs = MatrixCSR(A, 100, ends, ends[rank], ends[rank + 1], block)
        M = nw.Matrix.from_dolfinx(theirs)
        assert theirs.scattered and M.block_size == block and M.shape == A.shape
        assert abs(sp.vstack(comm.allgather(M.to_scipy())) - A).max() == 0


def petsc():
    """A stand-in for a petsc4py.PETSc.Mat."""
    from types import SimpleNamespace as Fake

    A = poisson(10)
    ends = ranges(100)
    mine = part(A, ends)
    mode = Fake(getArray=lambda readonly: np.ones(mine.shape[0]))
    mat = Fake(getValuesCSR=lambda: (mine.indptr, mine.indices, mine.data), getSize=lambda: A.shape,
               comm=Fake(tompi4py=lambda: comm), getBlockSize=lambda: 2,
               getNearNullSpace=lambda: Fake(getVecs=lambda: [mode], hasConstant=lambda: True))
    M = nw.Matrix.from_petsc(mat)
    assert M.block_size == 2 and M.near_null_space.shape == (M.n_local, 2)
    assert abs(sp.vstack(comm.allgather(M.to_scipy())) - A).max() == 0
    mat.getNearNullSpace = lambda: None  # whose vectors petsc4py must not be asked for
    assert nw.Matrix.from_petsc(mat).near_null_space is None


def reports():
    A = nw.gallery.laplace7(8, comm=comm)
    ml = nw.solver(A)
    ml.solve(np.ones(A.n_local))
    assert len(set(comm.allgather(ml.report().text))) == 1 or size > 1
    found = nw.inspect(A)
    assert len(set(comm.allgather(found.text))) == 1


def outlives_finalize():
    A = nw.gallery.laplace7(6, comm=comm)
    keep = (A, nw.solver(A), nw.Communicator(comm, ranks_per_node=1), nw.Assembler(3, comm))
    x = keep[1].solve(np.ones(A.n_local))
    MPI.Finalize()
    assert np.isfinite(x).all() and keep[0].shape == (216, 216)
    del A, keep


if __name__ == "__main__":
    warnings.simplefilter("error")
    try:
        globals()[sys.argv[1]]()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
    if rank == 0:
        print("passed")
