"""Matrices of DOLFINx and PETSc, whose rows are laid out as here: contiguous ranges in the order of the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from nodewise.matrix import Matrix


def from_petsc(mat: Any) -> Matrix:
    return of_petsc_rows(mat, *mat.getValuesCSR())


def of_petsc_rows(mat: Any, indptr: Any, indices: Any, data: Any) -> Matrix:
    """Collective. These rows of a matrix of PETSc, with its block size and its near null space."""
    made = Matrix.from_csr((data, indices, indptr), comm=mat.comm.tompi4py(), columns=mat.getSize()[1])
    made.block_size = max(1, int(mat.getBlockSize()))
    space = mat.getNearNullSpace()
    if not space:  # asking one that is not there for its vectors is a crash
        return made
    vectors = [np.array(v.getArray(readonly=True)) for v in space.getVecs()]
    if space.hasConstant():
        vectors.insert(0, np.ones(len(indptr) - 1))
    if vectors:
        made.near_null_space = np.stack(vectors, axis=1)
    return made


def from_dolfinx(A: Any) -> Matrix:
    """Rows beyond the owned ones are ghosts, whose entries go to their owners; columns are numbered locally, the ghosts
    of the second index map behind the owned ones."""
    A.scatter_reverse()
    rows, columns = A.index_map(0), A.index_map(1)
    row_block, column_block = A.block_size
    n_rows = rows.size_local
    ends = np.asarray(A.indptr[: n_rows + 1], dtype=np.int64)
    local = np.asarray(A.indices[: ends[-1]])
    known = np.arange(columns.size_local + columns.num_ghosts, dtype=np.int32)
    points = np.asarray(columns.local_to_global(known), dtype=np.int64)[local]
    blocks = np.asarray(A.data)[: ends[-1] * row_block * column_block].reshape(-1, row_block, column_block)
    indptr, indices, data = _without_blocks(ends, points, blocks)
    made = Matrix.from_csr((data, indices, indptr), comm=A.index_map(0).comm,
                           columns=columns.size_global * column_block)
    made.block_size = row_block if row_block == column_block else 1
    return made


def _without_blocks(ends: Any, points: Any, blocks: Any) -> tuple[Any, Any, Any]:
    """Compressed rows of the same matrix with an entry for each number of a dense block."""
    count, height, width = blocks.shape
    lengths = np.diff(ends)
    indptr = np.concatenate([[0], np.cumsum(np.repeat(lengths * width, height))])
    data = np.empty(count * height * width)
    indices = np.empty(count * height * width, dtype=np.int64)
    # Entry (r, c) of block k of a row of blocks: behind the rows of the points above, those of this point above r,
    # and the blocks before it in row r.
    row_of_block = np.repeat(np.arange(len(lengths)), lengths)
    before = np.arange(count) - ends[row_of_block]
    for r in range(height):
        for c in range(width):
            at = indptr[row_of_block * height + r] + before * width + c
            data[at] = blocks[:, r, c]
            indices[at] = points * width + c
    return indptr, indices, data
