"""On one rank: results beside SciPy's, names of SciPy and PyAMG, types, memory in place."""

import warnings

import numpy as np
import nodewise as nw
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import poisson


def relative(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


def test_solves_like_a_direct_solver(system):
    A, b = system
    x, info = nw.solve(A, b, rtol=1e-12)
    assert int(info) == 0 and not info and info == 0 and info.converged
    np.testing.assert_allclose(x, sla.spsolve(sp.csc_matrix(A), b), rtol=1e-8)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.bsr_array, sp.dia_array])
def test_formats(system, kind):
    A, b = system
    x, info = nw.solve(kind(A), b, rtol=1e-10)
    assert info.converged and relative(A, x, b) < 1e-9


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float32, np.float64, np.int32])
def test_types_of_numbers(system, index, value):
    A, b = system
    B = sp.csr_array((A.data.astype(value), A.indices.astype(index), A.indptr.astype(index)), shape=A.shape)
    B.indices, B.indptr = B.indices.astype(index), B.indptr.astype(index)
    x, info = nw.solve(B, b.astype(np.float32 if value is np.float32 else np.float64), rtol=1e-9)
    assert x.dtype == np.float64 and info.converged and relative(A, x, b) < 1e-6


def test_dense_and_unsorted(system):
    A, b = system
    x, _ = nw.solve(A.toarray(), b, rtol=1e-10)
    np.testing.assert_array_equal(x, nw.solve(A, b, rtol=1e-10)[0])
    B = A.copy()
    B.indices, B.data = B.indices.copy(), B.data.copy()
    for i in range(B.shape[0]):  # rows backwards
        part = slice(B.indptr[i], B.indptr[i + 1])
        B.indices[part], B.data[part] = B.indices[part][::-1].copy(), B.data[part][::-1].copy()
    np.testing.assert_array_equal(x, nw.solve(B, b, rtol=1e-10)[0])


def test_stopping_is_that_of_scipy(system):
    A, b = system
    ml = nw.solver(A)
    for rtol in (1e-3, 1e-6, 1e-9):
        x = ml.solve(b, rtol=rtol)
        assert relative(A, x, b) <= rtol
    x = ml.solve(b, rtol=0, atol=1e-2)
    assert 1e-5 < np.linalg.norm(b - A @ x) <= 1e-2
    tight = ml.solve(b, tol=1e-12, return_info=True)[1]
    loose = ml.solve(b, return_info=True)[1]  # the options of the setup again
    assert loose.iterations < tight.iterations


def test_residuals_callback_and_monitor(system):
    A, b = system
    ml, residuals, seen, norms = nw.solver(A), [3.0], [], []
    x, info = ml.solve(b, rtol=1e-8, residuals=residuals, return_info=True,
                       callback=lambda xk: seen.append(np.linalg.norm(b - A @ xk)),
                       monitor=lambda k, r: norms.append((k, r)))
    assert len(residuals) == info.iterations + 1 == len(info.residuals)
    np.testing.assert_allclose(residuals[0], np.linalg.norm(b))
    np.testing.assert_allclose(seen, residuals[1:], rtol=1e-6)
    assert [k for k, _ in norms][-1] == info.iterations
    np.testing.assert_allclose([r for _, r in norms], info.relative_residuals[norms[0][0]:])


def test_iterations_are_limited_and_told(system):
    A, b = system
    ml = nw.solver(A)
    x, info = ml.solve(b, rtol=1e-14, maxiter=2, return_info=True)
    assert int(info) == 2 and info and info.outcome == "max_iterations" and info.diagnosis
    with pytest.warns(nw.ConvergenceWarning, match="max_iterations"):
        ml.solve(b, maxiter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ml.solve(b)


def test_initial_guess(system):
    A, b = system
    ml = nw.solver(A)
    x = ml.solve(b, rtol=1e-10)
    again, info = ml.solve(b, x0=x, rtol=1e-9, return_info=True)
    assert info.iterations == 0
    np.testing.assert_array_equal(x, again)
    assert again is not x and not np.shares_memory(again, x)


def test_other_methods(system):
    A, b = system
    ml = nw.solver(A)
    for accel in ("cg", "gmres", "bicgstab", "stationary", "fgmres"):
        x, info = ml.solve(b, accel=accel, rtol=1e-8, return_info=True)
        assert info.method == accel and relative(A, x, b) <= 1e-8
    assert ml.solve(b, return_info=True)[1].method == "cg"
    x, info = ml.solve(b, accel="gmres", restart=5, return_info=True)
    assert info.converged


def test_block_of_right_hand_sides(system):
    A, b = system
    ml = nw.solver(A)
    B = np.stack([b, 2 * b[::-1], np.ones_like(b)], axis=1)
    X, info = ml.solve(B, rtol=1e-10, return_info=True)
    assert X.shape == B.shape and len(info.columns) == 3
    for k in range(3):
        assert relative(A, X[:, k], B[:, k]) <= 1e-10
    assert ml.solve(b[:, None]).shape == (len(b), 1)


def test_as_preconditioner_of_scipy(system):
    A, b = system
    iterations = []
    x, code = sla.cg(A, b, M=nw.solver(A).aspreconditioner(), rtol=1e-10, callback=iterations.append)
    assert code == 0 and len(iterations) < 25 and relative(A, x, b) < 1e-9


def test_levels_are_of_scipy(system):
    A, _ = system
    ml = nw.solver(A, max_coarse_rows=10, precision="same")
    fine = ml.levels[0]
    assert isinstance(fine.A, sp.csr_array) and len(ml.levels) > 2
    assert abs(fine.A - A).max() == 0
    for here, below in zip(ml.levels, ml.levels[1:]):
        assert here.P.shape == (here.rows, below.rows) and here.R.shape == (below.rows, here.rows)
        galerkin = here.R @ here.A @ here.P
        assert abs(galerkin - below.A).max() <= 1e-12 * abs(below.A).max()
    assert ml.levels[-1].P is None and ml.levels[-1].R is None
    counted = sum(level.A.nnz for level in ml.levels) / A.nnz
    assert ml.operator_complexity() == pytest.approx(counted)
    assert isinstance(nw.solver(sp.csr_matrix(A)).levels[0].A, sp.csr_matrix)


def test_memory_in_place(system):
    A, b = system
    ml = nw.solver(A)
    first, second = ml.levels[0].A, ml.levels[0].A
    assert first.data.ctypes.data == second.data.ctypes.data
    assert first.indices.ctypes.data == second.indices.ctypes.data
    assert not first.data.flags.writeable
    values, x, address = b.copy(), None, []
    x = ml.solve(values, callback=lambda xk: address.append(xk.ctypes.data))
    assert set(address) == {x.ctypes.data}
    np.testing.assert_array_equal(values, b)
    data = first.data  # stays when all else goes
    copy = data.copy()
    del first, second, ml
    np.testing.assert_array_equal(data, copy)


def test_print(system):
    A, _ = system
    ml = nw.solver(A)
    text = str(ml)
    assert f"{A.shape[0]} unknowns" in text and f"Number of Levels:     {len(ml.levels)}" in text
    assert len([line for line in text.splitlines() if line.strip()[:1].isdigit()]) == len(ml.levels)


def test_update(system):
    A, b = system
    ml = nw.solver(A)
    B = A.copy()
    B.setdiag(B.diagonal() + 0.1 + np.arange(B.shape[0]) / B.shape[0])
    ml.update(B)
    assert relative(B, ml.solve(b, rtol=1e-10), b) <= 1e-10
    with pytest.raises(nw.MatrixError):
        ml.update(poisson(5))
    assert relative(B, ml.solve(b, rtol=1e-10), b) <= 1e-10


def test_bsr_blocks_are_unknowns_of_a_point():
    one = poisson(12)
    A = sp.bsr_array(sp.kron(one, np.array([[2.0, 1.0], [1.0, 3.0]])), blocksize=(2, 2))
    ml = nw.solver(A)
    assert ml.options["unknowns"] == "2"
    b = np.ones(A.shape[0])
    assert relative(A, ml.solve(b, rtol=1e-9), b) <= 1e-9


def test_row_fields():
    """Three fields of a saddle point whose rows are in any order."""
    F, B = poisson(12), sp.eye_array(40, 144) - sp.eye_array(40, 144, k=1)
    order = np.random.default_rng(3).permutation(184)
    A = sp.csr_array(sp.block_array([[F, B.T], [B, None]]))[order][:, order]
    fields = np.where(order < 70, 0, np.where(order < 144, 1, 2))
    b = A @ np.ones(184)
    x, info = nw.solver(A, preconditioner="fields", row_fields=fields).solve(b, tol=1e-9, return_info=True)
    assert info.converged and relative(A, x, b) < 1e-8
    with pytest.raises(ValueError, match="no row is of field 1"):
        nw.solver(A, preconditioner="fields", row_fields=np.where(fields == 1, 3, fields))
    with pytest.raises(ValueError, match="preconditioner"):
        nw.solver(A, row_fields=fields)
    with pytest.raises(ValueError, match="row_fields has the shape"):
        nw.solver(A, preconditioner="fields", row_fields=fields[:-1])


def test_near_null_space():
    A, b = poisson(20), np.ones(400)
    ml = nw.solver(A, method="aggregation", near_null_space=np.ones(400))
    assert relative(A, ml.solve(b, rtol=1e-9), b) <= 1e-9
    with pytest.raises(ValueError, match="near_null_space has the shape"):
        nw.solver(A, method="aggregation", near_null_space=np.ones((399, 2)))


def test_options_and_their_descriptions(system):
    A, _ = system
    ml = nw.solver(A, smoother="chebyshev", max_levels=2, strength_threshold=np.float64(0.5))
    assert ml.options["smoother"] == "chebyshev" and len(ml.levels) == 2
    assert ml.options["strength_threshold"] == "0.5"
    assert "strength_threshold" in nw.solver.__doc__ and "smoother" in nw.options()
    assert "chebyshev" in nw.options()["smoother"].range


def test_report(system):
    A, b = system
    ml = nw.solver(A)
    with pytest.raises(RuntimeError, match="before the first solve"):
        ml.report()
    _, info = ml.solve(b, return_info=True)
    data = ml.report().to_dict()
    assert data["solve"]["iterations"] == info.iterations
    assert info.to_dict()["iterations"] == info.iterations


def test_gallery_and_files(tmp_path):
    A = nw.gallery.laplace7(6)
    assert A.shape == (216, 216)
    path = str(tmp_path / "A.mtx")
    A.write(path)
    again = nw.read(path)
    assert abs(again.to_scipy() - A.to_scipy()).max() == 0
    x = np.random.default_rng(1).standard_normal((216, 2))
    nw.write_vectors(str(tmp_path / "x.mtx"), x, A)
    np.testing.assert_array_equal(nw.read_vectors(str(tmp_path / "x.mtx"), A), x)
    np.testing.assert_allclose(A @ x, A.to_scipy() @ x)
    with pytest.raises(AttributeError, match="laplace27"):
        nw.gallery.laplace28


def test_right_hand_side_of_a_model_problem():
    A = nw.gallery.beam(3, traction="surface")
    b = nw.gallery.right_hand_side(A, "beam", 3, traction="surface")
    assert A.block_size == 3 and A.coordinates.shape == (len(b) // 3, 3)
    np.testing.assert_allclose(b.sum(), -0.06 * 3 * 17)
    x, info = nw.solve(A, b, coordinates=A.coordinates, unknowns=3)
    assert info.converged and x[2::3].min() < 0 and abs(x[2::3]).max() > abs(x[1::3]).max()
    with pytest.raises(nw.OptionError, match="no right-hand side of its own"):
        nw.gallery.right_hand_side(nw.gallery.laplace5(4), "laplace5", 4)


def test_assembler():
    entries = nw.Assembler(3)
    entries.add([0, 1, 2, 0], [0, 1, 2, 0], [1.0, 2.0, 3.0, 4.0])
    A = entries.finish().to_scipy().toarray()
    np.testing.assert_array_equal(A, np.diag([5.0, 2.0, 3.0]))


def test_commands_are_functions(system):
    A, b = system
    found = nw.predict(A, ranks=64, ranks_per_node=16, machine="blue-waters")
    assert found.to_dict() and "levels" in str(found.keys())
    values = nw.eigen(A, pairs=3).to_dict()["pairs"]
    exact = np.sort(np.linalg.eigvalsh(A.toarray()))[:3]
    np.testing.assert_allclose([pair["value"] for pair in values], exact, rtol=1e-6)
    assert nw.inspect(A, virtual_ranks=4, ranks_per_node=2).to_dict()
    with pytest.raises(nw.OptionError, match="did you mean `ranks_per_node`"):
        nw.inspect(A, ranks_pre_node=2)
    with pytest.raises(nw.Error):
        nw.predict(A, ranks=0, machine="blue-waters")


def test_a_callback_that_raises(system):
    A, b = system
    ml = nw.solver(A)

    def fail(xk):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ml.solve(b, callback=fail)
    with pytest.raises(LookupError, match="enough"):
        ml.solve(b, monitor=lambda k, r: fail(None))

    def stop(xk):
        raise StopIteration

    x, info = ml.solve(b, rtol=1e-14, callback=stop, return_info=True)
    assert info.outcome in ("interrupted", "converged", "stagnated")
    assert relative(A, ml.solve(b, rtol=1e-10), b) <= 1e-10


def test_keyboard_interrupt(system):
    import signal

    A, b = system
    with pytest.raises(KeyboardInterrupt):
        nw.solver(A).solve(b, monitor=lambda k, r: signal.raise_signal(signal.SIGINT))


def test_threads_of_python_go_on(system):
    import threading

    A, b = system
    ml = nw.solver(A)
    results = []
    thread = threading.Thread(target=lambda: results.append(sum(range(100000))))
    thread.start()
    x = ml.solve(b, rtol=1e-9)
    thread.join()
    assert results == [4999950000] and relative(A, x, b) <= 1e-9


def test_adjoint_of_a_preconditioner_is_there_where_it_is_its_own():
    A = nw.gallery.laplace7(6)
    r = np.arange(float(A.n_local))
    M = nw.solver(A).aspreconditioner()
    assert np.array_equal(M.rmatvec(r), M.matvec(r))
    with pytest.raises(NotImplementedError):
        nw.solver(A, cycle="f", solver="gmres").aspreconditioner().rmatvec(r)
