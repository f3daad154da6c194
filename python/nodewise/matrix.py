"""Distributed matrices: from arrays of SciPy, from this rank's rows, from files and from other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from nodewise._load import core
from nodewise.communicator import AnyComm, Communicator, communicator_of
from nodewise.errors import MatrixError

if TYPE_CHECKING:
    import scipy.sparse

Vector = NDArray[np.float64]


def real_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of float32 or float64 in one piece: itself where it is one; integers become float64."""
    array = np.asarray(values)
    if np.iscomplexobj(array):
        raise TypeError(f"{what} is complex ({array.dtype}); Nodewise solves real systems: "
                        "split it into its real and imaginary part, as [[Re, -Im], [Im, Re]]")
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{what} holds {array.dtype}, where real numbers are needed")
        array = array.astype(np.float64)
    return np.ascontiguousarray(array)


def _indices(values: ArrayLike, what: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} holds {array.dtype}, where int32 or int64 is needed")
    if array.ndim != 1:
        raise MatrixError(f"{what} has {array.ndim} dimensions, where 1 is needed")
    return array


def _positive(number: int, what: str) -> int:
    if int(number) != number or number < 0:
        raise ValueError(f"`{what}` is {number}, where a whole number, 0 or more, is needed")
    return int(number)


def _rows(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike) -> tuple[NDArray[Any], ...]:
    """The arrays of compressed rows as the library reads them: both kinds of indices of one type."""
    values = real_numbers(data, "the matrix")
    if values.ndim != 1:
        raise MatrixError(f"the values have {values.ndim} dimensions, where 1 is needed")
    columns, ends = _indices(indices, "indices"), _indices(indptr, "indptr")
    small = columns.dtype == np.int32 and ends.dtype == np.int32
    kind = np.int32 if small else np.int64
    return (np.ascontiguousarray(ends, dtype=kind), np.ascontiguousarray(columns, dtype=kind), values)


class Matrix:
    """A sparse matrix whose rows are split over the ranks of a communicator, in contiguous ranges.

    Made by `from_csr`, `from_scipy`, `from_dolfinx`, `from_petsc`, `read`, `gallery` or `Assembler`. Indices are
    global, and count from 0; a rank may have no rows. Its entries do not change.
    """

    def __init__(self, inner: Any, communicator: Communicator | None = None) -> None:
        if not isinstance(inner, core.Matrix):
            raise TypeError("a Matrix is made by Matrix.from_csr(), nodewise.read() and others, not by Matrix()")
        self._core = inner
        self._communicator = communicator or Communicator._of_core(inner.communicator)
        self.block_size = 1
        self.near_null_space: Vector | None = None
        self.coordinates: Vector | None = None
        self._scipy: Any = None  # what it was made of, on one rank

    @classmethod
    def from_csr(cls, arrays: Any, comm: AnyComm = None, columns: int | None = None) -> Matrix:
        """Collective. The matrix of which each rank gives its rows, with global columns.

        `arrays` are (data, indices, indptr), as SciPy orders them, or a sparse matrix of SciPy with this rank's
        rows and all columns. Ranks have the rows in their order; a rank may give none. Columns may come in any
        order; repeated ones are added up. `columns` is their number, where the matrix is not square.
        """
        communicator = communicator_of(comm)

        def prepare() -> tuple[NDArray[Any], ...]:
            if hasattr(arrays, "tocsr"):
                csr = arrays.tocsr()
                return _rows(csr.data, csr.indices, csr.indptr)
            if not isinstance(arrays, (tuple, list)) or len(arrays) != 3:
                raise TypeError("from_csr() takes (data, indices, indptr) or a sparse matrix of SciPy")
            return _rows(*arrays)

        indptr, indices, data = communicator.collectively(prepare)
        width = communicator.collectively(lambda: -1 if columns is None else _positive(columns, "columns"))
        # Ranks may hold other types of numbers than others: the library is called alike all the same.
        return cls(core.matrix_from_rows(communicator._core, indptr, indices, data,
                                         width), communicator)

    @classmethod
    def from_scipy(cls, A: Any) -> Matrix:
        """A matrix of one rank, of any sparse or dense array. Blocks of BSR arrays are remembered as unknowns of a
        point."""
        import scipy.sparse

        sparse: Any = A
        if scipy.sparse.issparse(A):
            pass
        else:
            array = real_numbers(A, "the matrix")
            if array.ndim != 2:
                raise MatrixError(f"the matrix has {array.ndim} dimensions, where 2 are needed")
            sparse = scipy.sparse.csr_matrix(array)
        rows, columns = sparse.shape
        block = 1
        if sparse.format == "bsr" and sparse.blocksize[0] == sparse.blocksize[1]:
            block = int(sparse.blocksize[0])
        csr = sparse.tocsr()
        if rows != columns:
            raise MatrixError(f"the matrix has {rows} rows and {columns} columns; a system to solve needs a square one")
        matrix = cls.from_csr(csr, MPI.COMM_SELF, columns)
        matrix.block_size = block
        matrix._scipy = A
        return matrix

    @classmethod
    def from_petsc(cls, mat: Any) -> Matrix:
        """Collective. The rows of a matrix of petsc4py, with its block size and near null space."""
        from nodewise import interop

        return interop.from_petsc(mat)

    @classmethod
    def from_dolfinx(cls, A: Any) -> Matrix:
        """Collective. A `dolfinx.la.MatrixCSR` of DOLFINx 0.9 or later, assembled; its block size is remembered."""
        from nodewise import interop

        return interop.from_dolfinx(A)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, over all ranks."""
        rows, columns = self._core.shape
        return int(rows), int(columns)

    @property
    def nnz(self) -> int:
        """Entries, over all ranks."""
        return int(self._core.nnz)

    @property
    def dtype(self) -> np.dtype[np.float64]:
        return np.dtype(np.float64)

    @property
    def communicator(self) -> Communicator:
        return self._communicator

    @property
    def row_range(self) -> tuple[int, int]:
        """This rank's rows: the first, and the one after the last."""
        begin, end = self._core.row_range
        return int(begin), int(end)

    @property
    def n_local(self) -> int:
        """This rank's rows, of which its vectors have one number each."""
        begin, end = self.row_range
        return end - begin

    def csr(self) -> tuple[Vector, NDArray[Any], NDArray[Any]]:
        """This rank's rows as (data, indices, indptr), with global columns. On one rank data and indices are those of
        the library, in place and not to be written to."""
        indptr, indices, data = self._core.rows()
        return data, indices, indptr

    def to_scipy(self) -> scipy.sparse.csr_array:
        """This rank's rows, with all columns."""
        import scipy.sparse

        return scipy.sparse.csr_array(self.csr(), shape=(self.n_local, self.shape[1]))

    def diagonal(self) -> Vector:
        """This rank's part of the diagonal."""
        found: Vector = self._core.diagonal()
        return found

    def transpose(self) -> Matrix:
        """Collective."""
        return Matrix(self._core.transpose(), self._communicator)

    @property
    def T(self) -> Matrix:
        return self.transpose()

    def __matmul__(self, x: ArrayLike) -> Vector:
        """Collective. A x, of this rank's part of x."""
        array = self._communicator.collectively(lambda: real_numbers(x, "x").astype(np.float64, copy=False))
        columns = [array] if array.ndim == 1 else [np.ascontiguousarray(array[:, k]) for k in range(array.shape[1])]
        results = [np.empty(self.n_local) for _ in columns]
        for one, result in zip(columns, results):
            self._core.multiply(one, result)
        return results[0] if array.ndim == 1 else np.stack(results, axis=1)

    def write(self, path: str) -> None:
        """Collective. Writes it in the format of the name: .mtx, .mtx.gz, .petsc."""
        core.write_matrix(self._core, str(path))

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (f"<nodewise.Matrix: {rows} x {columns} with {self.nnz} entries, "
                f"rows {self.row_range[0]} to {self.row_range[1]} on rank {self._communicator.rank} "
                f"of {self._communicator.size}>")


class Assembler:
    """Entries of a matrix, added on any rank for rows of any rank, as finite elements produce them.

    Collective: each rank says how many rows it owns. `finish()` sends what is for other ranks and adds up.
    """

    def __init__(self, n_local: int, comm: AnyComm = None) -> None:
        self._communicator = communicator_of(comm)
        self._core = core.Assembly(self._communicator._core, self._communicator.collectively(lambda: _positive(n_local, "n_local")))

    @property
    def row_range(self) -> tuple[int, int]:
        begin, end = self._core.row_range
        return int(begin), int(end)

    def add(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> None:
        """Local. Adds values[k] to the entry (rows[k], columns[k]). What is outside of the matrix is told by
        finish()."""
        r, c, v = np.broadcast_arrays(np.asarray(rows), np.asarray(columns), real_numbers(values, "the entries"))
        i, j = (np.ascontiguousarray(one.ravel(), dtype=np.int64) for one in (r, c))
        self._core.add(i, j, np.ascontiguousarray(v.ravel(), dtype=np.float64))

    def finish(self) -> Matrix:
        """Collective. The matrix of all that was added; the assembler is empty afterwards."""
        return Matrix(self._core.finish(), self._communicator)


def matrix_of(A: Any) -> Matrix:
    """A matrix as it is; an array or sparse matrix of this process as one of one rank."""
    if isinstance(A, Matrix):
        return A
    if isinstance(A, np.ndarray) or hasattr(A, "tocsr"):
        return Matrix.from_scipy(A)
    if hasattr(A, "getValuesCSR"):
        return Matrix.from_petsc(A)
    raise TypeError(f"the matrix is a {type(A).__name__}, where one of SciPy, NumPy, PETSc or nodewise.Matrix is needed")


def read(path: str, comm: AnyComm = None, *, graph_laplacian: bool = False) -> Matrix:
    """Collective. A matrix from a file, Matrix Market (plain or gzip) or PETSc binary, read by all ranks."""
    communicator = communicator_of(comm)
    return Matrix(core.read_matrix(communicator._core, str(path), graph_laplacian), communicator)


def read_vectors(path: str, like: Matrix) -> Vector:
    """Collective. This rank's rows of the vector, or vectors, of a file."""
    values: Vector
    values, count = core.read_vectors(like._core, str(path))
    return values if count == 1 else values.reshape(-1, count)


def write_vectors(path: str, x: ArrayLike, like: Matrix) -> None:
    """Collective. Writes a vector, or the columns of an array, of which each rank has its rows."""

    def prepare() -> Vector:
        array = np.ascontiguousarray(real_numbers(x, "x"), dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != like.n_local:
            raise MatrixError(f"x has the shape {array.shape}, where the matrix has {like.n_local} rows here")
        return array

    array = like.communicator.collectively(prepare)
    core.write_vectors(like._core, str(path), array.ravel(), array.shape[1] if array.ndim == 2 else 1)
