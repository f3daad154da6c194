"""Bad calls: each raises an exception with a sentence, and the process goes on."""

import numpy as np
import nodewise as nw
import pytest
import scipy.sparse as sp
from conftest import poisson

A = poisson(8)
b = np.ones(64)
n = A.shape[0]


def with_entry(i, j, value):
    B = A.tolil()
    B[i, j] = value
    return sp.csr_array(B)


def compressed(data, indices, indptr, **more):
    return lambda: nw.Matrix.from_csr((data, indices, indptr), **more)


solve_calls = {
    "b of another length": lambda ml: ml.solve(np.ones(n - 1)),
    "b longer": lambda ml: ml.solve(np.ones(n + 1)),
    "b empty": lambda ml: ml.solve([]),
    "b a scalar": lambda ml: ml.solve(1.0),
    "b of 3 dimensions": lambda ml: ml.solve(np.ones((n, 1, 1))),
    "b without columns": lambda ml: ml.solve(np.ones((n, 0))),
    "b complex": lambda ml: ml.solve(b + 1j),
    "b of text": lambda ml: ml.solve(["a"] * n),
    "b of objects": lambda ml: ml.solve(np.array([None] * n)),
    "b none": lambda ml: ml.solve(None),
    "b the transposed": lambda ml: ml.solve(b[None, :]),
    "x0 of another length": lambda ml: ml.solve(b, x0=np.ones(3)),
    "x0 complex": lambda ml: ml.solve(b, x0=b * 1j),
    "x0 of another shape": lambda ml: ml.solve(b, x0=b[:, None]),
    "rtol negative": lambda ml: ml.solve(b, rtol=-1.0),
    "rtol nan": lambda ml: ml.solve(b, rtol=float("nan")),
    "rtol text": lambda ml: ml.solve(b, rtol="small"),
    "rtol a list": lambda ml: ml.solve(b, rtol=[1, 2]),
    "atol negative": lambda ml: ml.solve(b, atol=-1),
    "maxiter negative": lambda ml: ml.solve(b, maxiter=-5),
    "maxiter a fraction": lambda ml: ml.solve(b, maxiter=2.5),
    "maxiter huge": lambda ml: ml.solve(b, maxiter=2**70),
    "tol and rtol": lambda ml: ml.solve(b, tol=1e-3, rtol=1e-4),
    "accel unknown": lambda ml: ml.solve(b, accel="conjugate"),
    "accel a number": lambda ml: ml.solve(b, accel=3),
    "cycle of another kind": lambda ml: ml.solve(b, cycle="W"),
    "option of the setup": lambda ml: ml.solve(b, smoother="jacobi"),
    "option unknown": lambda ml: ml.solve(b, rtoll=1e-3),
    "option of another method": lambda ml: ml.solve(b, accel="cg", restart=4),
    "callback no function": lambda ml: ml.solve(b, callback=3),
    "monitor no function": lambda ml: ml.solve(b, monitor="x"),
    "update with another size": lambda ml: ml.update(poisson(5)),
    "update with another pattern": lambda ml: ml.update(sp.csr_array(np.eye(n))),
    "update with nothing": lambda ml: ml.update(None),
    "update with complex": lambda ml: ml.update(A * 1j),
    "update reusing nonsense": lambda ml: ml.update(A, reuse="all"),
    "preconditioner on another length": lambda ml: ml.aspreconditioner() @ np.ones(n + 2),
    "preconditioner on complex": lambda ml: ml.aspreconditioner() @ (b * 1j),
    "preconditioner with a cycle": lambda ml: ml.aspreconditioner(cycle="F"),
    "cycle complexity of nonsense": lambda ml: ml.cycle_complexity("Z"),
}

setup_calls = {
    "a matrix of nothing": lambda: nw.solver(None),
    "a matrix of text": lambda: nw.solver("A.mtx"),
    "a list": lambda: nw.solver([1, 2, 3]),
    "complex": lambda: nw.solver(A * 1j),
    "complex dense": lambda: nw.solver(A.toarray() * 1j),
    "not square": lambda: nw.solver(A[:10]),
    "dense, one dimension": lambda: nw.solver(np.ones(4)),
    "dense, three dimensions": lambda: nw.solver(np.ones((2, 2, 2))),
    "no rows": lambda: nw.solver(sp.csr_array((0, 0))),
    "no entries": lambda: nw.solver(sp.csr_array((4, 4))),
    "a zero diagonal": lambda: nw.solver(with_entry(3, 3, 0.0), preconditioner="amg"),
    "not a number": lambda: nw.solver(with_entry(3, 3, np.nan)),
    "infinite": lambda: nw.solver(with_entry(2, 3, np.inf)),
    "text inside": lambda: nw.solver(np.array([["a", "b"], ["c", "d"]])),
    "option unknown": lambda: nw.solver(A, smother="jacobi"),
    "option of no word": lambda: nw.solver(A, smoother="jakobi"),
    "option out of range": lambda: nw.solver(A, max_levels=0),
    "option below": lambda: nw.solver(A, strength_threshold=-1),
    "option a dict": lambda: nw.solver(A, smoother={"a": 1}),
    "option a function": lambda: nw.solver(A, smoother=print),
    "option of another method": lambda: nw.solver(A, smoother="l1_gauss_seidel", jacobi_weight=0.5),
    "options that contradict": lambda: nw.solver(A, solver="cg", preconditioner="none", cycle="nonsense"),
    "preset unknown": lambda: nw.solver(A, preset="best"),
    "unknowns that do not fit": lambda: nw.solver(A, unknowns=7, method="aggregation"),
    "route unknown": lambda: nw.solver(A, route="four_step"),
    "device absent": lambda: nw.solver(A, device="cuda"),
    "given twice": lambda: nw.solver(A, tol=1e-3, tolerance=1e-4),
    "near null space of another length": lambda: nw.solver(A, near_null_space=np.ones(3)),
    "near null space complex": lambda: nw.solver(A, near_null_space=b * 1j),
    "near null space of 3 dimensions": lambda: nw.solver(A, near_null_space=np.ones((n, 1, 1))),
    "coordinates that do not fit": lambda: nw.solver(A, coordinates=np.ones((5, 2)), method="aggregation"),
    "solve with b too short": lambda: nw.solve(A, b[:-1]),
    "solve with a foreign M": lambda: nw.solve(A, b, M=A),
    "solve with M of another matrix": lambda: nw.solve(poisson(8), b, M=nw.solver(A)),
    "solve with M and options": lambda: nw.solve(A, b, M=nw.solver(A), smoother="jacobi"),
    "report before a solve": lambda: nw.solver(A).report(),
}

matrix_calls = {
    "indptr empty": compressed([], [], []),
    "indptr of floats": compressed([1.0], [0], [0.0, 1.0]),
    "indices of floats": compressed([1.0], [0.0], [0, 1]),
    "indptr not from 0": compressed([1.0], [0], [1, 1]),
    "indptr descending": compressed([1.0, 1.0], [0, 1], [0, 2, 1]),
    "indptr too long": compressed([1.0], [0], [0, 2]),
    "indptr too short": compressed([1.0, 2.0], [0, 0], [0, 1]),
    "fewer values": compressed([1.0], [0, 1], [0, 2]),
    "a column beyond": compressed([1.0], [5], [0, 1]),
    "a column below": compressed([1.0], [-1], [0, 1]),
    "values of 2 dimensions": compressed(np.ones((1, 1)), [0], [0, 1]),
    "values complex": compressed([1j], [0], [0, 1]),
    "values of text": compressed(["x"], [0], [0, 1]),
    "columns negative": compressed([1.0], [0], [0, 1], columns=-3),
    "columns too few": compressed([1.0], [3], [0, 1], columns=2),
    "columns no number": compressed([1.0], [0], [0, 1], columns="x"),
    "no arrays": lambda: nw.Matrix.from_csr(3),
    "two arrays": lambda: nw.Matrix.from_csr(([1.0], [0])),
    "no communicator": compressed([1.0], [0], [0, 1], comm="world"),
    "Matrix by itself": lambda: nw.Matrix(3),
    "a file that is missing": lambda: nw.read("/nowhere/A.mtx"),
    "a file that is none": lambda: nw.read(__file__),
    "a folder": lambda: nw.read("/"),
    "a path of nothing": lambda: nw.read(""),
    "writing nowhere": lambda: nw.gallery.laplace7(2).write("/nowhere/A.mtx"),
    "writing an unknown format": lambda: nw.gallery.laplace7(2).write("A.xlsx"),
    "reading vectors of another length": lambda: nw.read_vectors(__file__, nw.gallery.laplace7(2)),
    "writing vectors of another length": lambda: nw.write_vectors("x.mtx", np.ones(3), nw.gallery.laplace7(2)),
    "writing complex vectors": lambda: nw.write_vectors("x.mtx", np.ones(8) * 1j, nw.gallery.laplace7(2)),
    "a product with another length": lambda: nw.gallery.laplace7(2) @ np.ones(3),
    "a product with complex": lambda: nw.gallery.laplace7(2) @ (np.ones(8) * 1j),
    "a problem unknown": lambda: nw.gallery.laplace8(4),
    "a problem of no size": lambda: nw.gallery.laplace7(0),
    "a problem too large": lambda: nw.gallery.laplace7(10**7),
    "a problem of text": lambda: nw.gallery.laplace7("many"),
    "an option of no problem": lambda: nw.gallery.laplace7(4, angel=3),
    "generate unknown": lambda: nw.gallery.generate("poisson", 4),
    "assembling rows below zero": lambda: nw.Assembler(-1),
    "assembling outside": lambda: assembled([9], [0], [1.0]),
    "assembling of other lengths": lambda: assembled([0, 1], [0, 1, 2], [1.0]),
    "assembling complex": lambda: assembled([0], [0], [1j]),
    "a communicator of nothing": lambda: nw.Communicator(comm=3),
    "a communicator with an unknown setting": lambda: nw.Communicator(allreducee="mpi"),
    "a communicator with a bad setting": lambda: nw.Communicator(allreduce="fast"),
    "a communicator with a bad map": lambda: nw.Communicator(node_map="0,x"),
    "a communicator with too long a map": lambda: nw.Communicator(node_map="0,0,1,1,2,2,3"),
    "threads of none": lambda: nw.set_threads(0),
    "threads of text": lambda: nw.set_threads("two"),
    "an attribute unknown": lambda: nw.solverr,
    "options of no command": lambda: nw.options("prediction"),
    "predict without ranks": lambda: nw.predict(A, machine="blue-waters"),
    "predict on no machine": lambda: nw.predict(A, ranks=4, ranks_per_node=2, machine="none-such"),
    "predict with ranks below zero": lambda: nw.predict(A, ranks=-4, ranks_per_node=2, machine="blue-waters"),
    "predict with an unknown option": lambda: nw.predict(A, ranks=4, machine="blue-waters", rank=3),
    "inspect of nothing": lambda: nw.inspect(None),
    "inspect of a missing file": lambda: nw.inspect("/nowhere/B.mtx"),
    "eigen of text": lambda: nw.eigen(A, method_eigen="x"),
    "bench of nonsense": lambda: nw.bench("speed"),
    "tune with a bad option": lambda: nw.tune(A, max_levels=0),
    "calibrate with a bad option": lambda: nw.calibrate(nonsense=1),
}


def assembled(i, j, v):
    entries = nw.Assembler(4)
    entries.add(i, j, v)
    return entries.finish()


@pytest.fixture(scope="module")
def ml():
    return nw.solver(A)


def sentence(raised):
    text = str(raised.value)
    assert len(text.split()) >= 3 or text == "dimension mismatch", text  # SciPy's own words
    assert "nanobind" not in text and "std::" not in text and "RowBlock" not in text, text


@pytest.mark.parametrize("name", solve_calls)
def test_calls_of_a_solver(ml, name):
    with pytest.raises(Exception) as raised:
        solve_calls[name](ml)
    sentence(raised)
    x = ml.solve(b, rtol=1e-9)  # it works as before
    assert np.linalg.norm(b - A @ x) <= 1e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("name", setup_calls)
def test_calls_that_set_up(name):
    with pytest.raises(Exception) as raised:
        setup_calls[name]()
    sentence(raised)


@pytest.mark.parametrize("name", matrix_calls)
def test_calls_about_matrices_and_commands(name):
    with pytest.raises(Exception) as raised:
        matrix_calls[name]()
    sentence(raised)


@pytest.mark.parametrize("name, near", [("smother", "smoother"), ("strength_treshold", "strength_threshold"),
                                        ("max_level", "max_levels")])
def test_errors_name_the_nearest(name, near):
    with pytest.raises(nw.OptionError, match=near):
        nw.solver(A, **{name: 1})


def test_complex_is_refused_by_name():
    with pytest.raises(TypeError, match="complex128"):
        nw.solver(A * 1j)
    with pytest.raises(TypeError, match="complex64"):
        nw.solver(A).solve(b.astype(np.complex64))


def test_errors_are_of_pythons_classes_too():
    with pytest.raises(FileNotFoundError if False else OSError):
        nw.read("/nowhere/A.mtx")
    with pytest.raises(ValueError):
        nw.solver(A, max_levels=0)


def options_with_a_range():
    return [name for name, option in nw.options().items() if option.range and "none" not in option.range]


@pytest.mark.parametrize("name", options_with_a_range())
def test_no_option_takes_what_is_outside_of_its_range(name):
    with pytest.raises(nw.OptionError, match=name) as raised:
        nw.solver(A, **{name: "-1e99 nonsense"})
    sentence(raised)
