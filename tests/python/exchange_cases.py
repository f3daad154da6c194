"""Sparse exchange and collectives on several ranks, beside those of mpi4py: `python exchange_cases.py CASE...`, under
mpiexec. Prints the name of each case that has passed.

Nodes are pretended too, of two ranks each, since on one node there is nothing to share out.
"""

import re
import sys
import warnings

import numpy as np
import nodewise as nw
from conftest import HERE
from mpi4py import MPI
from parallel_cases import everywhere, raised

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

TYPES = ["bool", "int8", "int32", "int64", "uint16", "uint64", "float32", "float64", "longdouble", "complex64",
         "complex128", "float16", ">i4"]


def places():
    """Communicators: of mpi4py, and with nodes of two ranks, one after the other and in turns."""
    turns = ",".join(str(r % 2) for r in range(size))
    return [comm, nw.Communicator(comm, ranks_per_node=2), nw.Communicator(comm, node_map=turns)]


def combinations(setting):
    """Places and algorithms, with some of the types for each: all of them for every algorithm, over the places."""
    for k, where in enumerate(places()):
        for j, algorithm in enumerate([None, *nw.algorithms()[setting]]):
            yield where, algorithm, TYPES[(k + j) % 3::3], 10 * k + j


def sample(rng, length, kind):
    return rng.integers(0, 100, length).astype(kind)


def some_messages(seed, kind, empty):
    """To some ranks, of any lengths, none of them included; nothing at all from rank `empty`."""
    rng = np.random.default_rng([*seed, rank])
    if rank == empty:
        return {}
    chosen = rng.permutation(size)[:rng.integers(0, size + 1)]
    return {int(r): sample(rng, rng.integers(0, 9) ** 3, kind) for r in chosen}


def delivered(messages):
    """What plain mpi4py brings."""
    found = comm.alltoall([messages.get(r) for r in range(size)])
    return {r: array for r, array in enumerate(found) if array is not None}


def same(got, wanted):
    assert list(got) == list(wanted), (list(got), list(wanted))
    for r in wanted:
        assert len(got[r]) == len(wanted[r])
        np.testing.assert_array_equal(got[r], wanted[r])


def messages_of_any_length():
    assert {"automatic", "personalized", "nonblocking", "rma"} <= set(nw.algorithms()["sparse_exchange"])
    for where, algorithm, kinds, number in combinations("sparse_exchange"):
        for seed, kind in enumerate(kinds if algorithm not in ("rma", "locality_rma") else ()):
            messages = some_messages([number, seed], kind, empty=seed % (size + 1))
            wanted = delivered(messages)
            got = nw.exchange(messages, where, algorithm=algorithm)
            same(got, wanted)
            if any(comm.allgather(any(m.size for m in messages.values()))):
                assert all(m.dtype == np.dtype(kind).newbyteorder("=") for m in got.values())
            items = np.concatenate([*messages.values(), np.zeros(0, kind)])
            arrived = nw.alltoallv_crs(list(messages), [len(m) for m in messages.values()], items, where,
                                       algorithm=algorithm)
            same(dict(arrived), wanted)
            assert len(arrived) == len(wanted) and list(arrived.counts) == [len(m) for m in wanted.values()]
            assert arrived.offsets[-1] == len(arrived.data) and arrived.ranks.tolist() == list(wanted)


def a_type_is_learned():
    """A rank that sends nothing gets what others sent, in their type."""
    got = nw.exchange({(rank + 1) % size: np.arange(5, dtype=np.float32)} if rank else {}, comm)
    before = (rank - 1) % size
    same(got, {before: np.arange(5)} if before else {})
    assert all(m.dtype == np.float32 for m in got.values())
    assert nw.exchange({}, comm) == {}
    got = nw.exchange({0: []} if rank == size - 1 else {}, comm)
    assert [message.size for message in got.values()] == ([0] if rank == 0 else [])
    ranks, rows = nw.alltoall_crs([], [], comm)
    assert len(ranks) == 0 and rows.shape == (0, 0)
    ranks, rows = nw.alltoall_crs(*(([0], [[7]]) if rank == size - 1 else ([], [])), comm)
    assert rows.shape == ((1, 1) if rank == 0 else (0, 1)) and rows.dtype == np.int64
    all_of_them = nw.allgatherv(np.arange(rank, dtype=np.int32) if rank else [], comm)
    assert all_of_them.data.dtype == (np.int32 if size > 1 else np.float64)
    assert [len(message) for _, message in all_of_them] == list(range(size))
    given = nw.alltoallv(np.zeros(2 * size, np.int16) if rank == 0 else [], np.full(size, 2 * (rank == 0)), comm)
    assert given.data.dtype == np.int16 and given.counts.tolist() == [2] + [0] * (size - 1)


def messages_of_one_length():
    for where, algorithm, kinds, number in combinations("sparse_exchange"):
        for length, kind in zip((0, 1, 3, 1000), kinds):
            messages = {r: sample(np.random.default_rng([rank, r, length]), length, kind)
                        for r in some_messages([number, length], kind, empty=0)}
            wanted = delivered(messages)
            rows = np.array(list(messages.values()), dtype=kind).reshape(len(messages), length) if messages else []
            ranks, got = nw.alltoall_crs(list(messages), rows, where, algorithm=algorithm)
            same(dict(zip(ranks.tolist(), got)), wanted)
            assert got.ndim == 2 and got.shape[0] == len(ranks)


def nothing_is_copied_to_be_sent():
    """Also what cannot be written to, and a view that is in one piece; what is not is copied."""
    items = np.arange(10.0)
    items.flags.writeable = False
    wanted = {(rank - 1) % size: np.arange(5.0)}
    same(dict(nw.alltoallv_crs([(rank + 1) % size], [5], items[:5], comm)), wanted)
    same(nw.exchange({(rank + 1) % size: np.arange(20.0)[::2]}, comm), {(rank - 1) % size: 2 * np.arange(10.0)})
    assert np.array_equal(items, np.arange(10.0))


def reductions():
    operations = {"iufc": [MPI.SUM, MPI.PROD], "iuf": [MPI.MAX, MPI.MIN], "biu": [MPI.LAND, MPI.LOR, MPI.LXOR],
                  "iu": [MPI.BAND, MPI.BOR, MPI.BXOR]}
    for where, algorithm, kinds, _ in combinations("allreduce"):
        for kind in kinds:
            values = np.random.default_rng([rank, 3]).integers(0, 4, (5, 7)).astype(kind)
            for taken, ops in operations.items():
                for op in ops if values.dtype.kind in taken and kind != "float16" else []:
                    wanted = np.empty(values.shape, values.dtype.newbyteorder("="))
                    comm.Allreduce(values.astype(wanted.dtype), wanted, op)
                    got = nw.allreduce(values, op, where, algorithm=algorithm)
                    np.testing.assert_array_equal(got, wanted)
                    assert got.dtype == wanted.dtype and got.shape == values.shape
    total = nw.allreduce(rank + 1)
    assert total == size * (size + 1) // 2 and np.ndim(total) == 0
    long = np.arange(5000.0) + rank
    np.testing.assert_allclose(nw.allreduce(long, comm=places()[1], algorithm="node_aware"),
                               size * np.arange(5000.0) + size * (size - 1) / 2)
    assert nw.allreduce(np.zeros((0, 3), np.int32)).shape == (0, 3)


def operations_of_ones_own():
    def first(a, b, _):
        np.frombuffer(b, np.float64)[:] = np.maximum(np.frombuffer(a, np.float64), np.frombuffer(b, np.float64))

    def keep_first(a, b, _):
        np.frombuffer(b, np.float64)[:] = np.frombuffer(a, np.float64)

    largest, leftmost = MPI.Op.Create(first, commute=True), MPI.Op.Create(keep_first, commute=False)
    values = np.array([rank, -rank, 0.5])
    for where in places():
        for algorithm in [None, *nw.algorithms()["allreduce"]]:
            np.testing.assert_array_equal(nw.allreduce(values, largest, where, algorithm=algorithm), [size - 1, 0, 0.5])
        np.testing.assert_array_equal(nw.allreduce(values, leftmost, where), [0, 0, 0.5])
        error = raised(lambda: nw.allreduce(values, leftmost, where, algorithm="node_aware"))
        assert isinstance(error, nw.UnsupportedError), error
        everywhere(error)
    largest.Free()
    leftmost.Free()


def gathered_values():
    for where, algorithm, kinds, _ in combinations("allgather"):
        for kind, shape in zip(kinds, ((), (4,), (2, 3), (3, 0), (0,))):
            values = np.asarray(sample(np.random.default_rng([rank, 9]), shape, kind))
            got = nw.allgather(values, where, algorithm=algorithm)
            assert got.shape == (size, *shape)
            np.testing.assert_array_equal(got, np.array(comm.allgather(values)))
            mine = sample(np.random.default_rng([rank, 5]), 0 if rank == 1 else 1 + 3 * rank, kind)
            same(dict(nw.allgatherv(mine, where, algorithm=algorithm)), dict(enumerate(comm.allgather(mine))))


def all_to_all():
    for where, algorithm, kinds, number in combinations("alltoallv"):
        for kind, shape in zip(kinds, ((), (4,), (2, 3), (0,), (3, 0))):
            values = np.asarray(sample(np.random.default_rng([rank, 4]), (size, *shape), kind))
            got = nw.alltoall(values, where, algorithm=algorithm)
            np.testing.assert_array_equal(got, np.array(comm.alltoall(list(values))))
            assert got.shape == values.shape
            blocks = some_messages([number, len(shape)], kind, empty=0 if number % 2 else size)
            counts = [len(blocks.get(r, ())) for r in range(size)]
            data = np.concatenate([blocks[r] for r in sorted(blocks)] or [np.zeros(0, kind)])
            wanted = dict(enumerate(comm.alltoall([blocks.get(r, np.zeros(0, kind)) for r in range(size)])))
            known = [len(wanted[r]) for r in range(size)]
            same(dict(nw.alltoallv(data, counts, where, algorithm=algorithm)), wanted)
            same(dict(nw.alltoallv(data, counts, where, receive_counts=known, algorithm=algorithm)), wanted)


class Hostile:
    """No array can be made of it."""

    def __array__(self, *_, **__):
        raise LookupError("only here, on this rank alone")


def one_rank_fails():
    """What is wrong on one rank alone every rank raises, alike, and goes on."""
    mine = rank == size - 1
    here = comm

    def either(bad, good):
        return bad if mine else good

    b = np.ones(3)
    ones = np.ones(size, int)
    calls = {
        "no dict": lambda: nw.exchange(either([b], {0: b}), here),
        "a rank of text": lambda: nw.exchange({either("0", 0): b}, here),
        "a rank too high": lambda: nw.exchange({either(size, 0): b}, here),
        "a rank far too high": lambda: nw.exchange({either(2**40, 0): b}, here),
        "a rank below zero": lambda: nw.exchange({either(-1, 0): b}, here),
        "a message of text": lambda: nw.exchange({0: either(["x"], b)}, here),
        "a message of objects": lambda: nw.exchange({0: either([None], b)}, here),
        "a message in rows": lambda: nw.exchange({0: either(np.ones((2, 2)), b)}, here),
        "a message that is a number": lambda: nw.exchange({0: either(1.0, b)}, here),
        "an exception of its own": lambda: nw.exchange({0: either(Hostile(), b)}, here),
        "an unknown algorithm": lambda: nw.exchange({0: b}, here, algorithm=either("nonbloking", "nonblocking")),
        "an algorithm of no text": lambda: nw.exchange({0: b}, here, algorithm=either(3, "nonblocking")),
        "rma for any length": lambda: nw.exchange({0: b}, here, algorithm="rma"),
        "twice": lambda: nw.alltoallv_crs(either([0, 0], [0]), either([1, 2], [3]), b, here),
        "too few counts": lambda: nw.alltoallv_crs([0], either([], [3]), b, here),
        "counts below zero": lambda: nw.alltoallv_crs([0], either([-3], [3]), b, here),
        "counts of fractions": lambda: nw.alltoallv_crs([0], either([3.0], [3]), b, here),
        "counts for more": lambda: nw.alltoallv_crs([0], either([4], [3]), b, here),
        "destinations in rows": lambda: nw.alltoallv_crs(either([[0]], [0]), [3], b, here),
        "rows for nobody": lambda: nw.alltoall_crs(either([], [0]), [b], here),
        "rows of no length": lambda: nw.alltoall_crs([0], either(b[:1], [b]), here),
        "a sum of text": lambda: nw.allreduce(either(["x"], b), comm=here),
        "a sum by no operation": lambda: nw.allreduce(b, either("sum", MPI.SUM), here),
        "a sum by a null operation": lambda: nw.allreduce(b, either(MPI.OP_NULL, MPI.SUM), here),
        "bits of fractions": lambda: nw.allreduce(b, either(MPI.BAND, MPI.SUM), here),
        "places of maxima": lambda: nw.allreduce(b, either(MPI.MAXLOC, MPI.SUM), here),
        "half precision": lambda: nw.allreduce(b.astype(np.float16), comm=here),
        "gathering text": lambda: nw.allgather(either(["x"], b), here),
        "gathering rows": lambda: nw.allgatherv(either([b], b), here),
        "no block for each": lambda: nw.alltoall(either(np.ones(size + 1), np.ones(size)), here),
        "a number for all": lambda: nw.alltoall(either(3.0, np.ones(size)), here),
        "counts of others": lambda: nw.alltoallv(ones, either(ones[1:], ones), here),
        "counts of less": lambda: nw.alltoallv(ones, either(0 * ones, ones), here),
        "unknown for alltoallv": lambda: nw.alltoallv(ones, ones, here, algorithm=either("rma", "mpi")),
    }
    differing = {
        "types": lambda: nw.exchange({0: either(b.astype(np.float32), b)}, here),
        "types of rows": lambda: nw.alltoall_crs([0], either([[1]], [[1.0]]), here),
        "lengths of rows": lambda: nw.alltoall_crs([0], either([b], [b[1:]]), here),
        "algorithms": lambda: nw.exchange({0: b}, here, algorithm=either("personalized", "nonblocking")),
        "one algorithm": lambda: nw.exchange({0: b}, here, algorithm=either("personalized", None)),
        "shapes": lambda: nw.allreduce(either(b, b[1:]), comm=here),
        "operations": lambda: nw.allreduce(b, either(MPI.SUM, MPI.MAX), here),
        "sums": lambda: nw.allreduce(either(1, 1.0), comm=here),
        "gathered shapes": lambda: nw.allgather(either(b[1:], b), here),
        "gathered types": lambda: nw.allgatherv(either(b.astype(int), b), here),
        "blocks": lambda: nw.alltoall(np.ones(either((size, 2), (size, 3))), here),
        "whether counts are known": lambda: nw.alltoallv(ones, ones, here, receive_counts=either(None, ones)),
        "what is expected": lambda: nw.alltoallv(ones, ones, here, receive_counts=either(2 * ones, ones)),
    }
    for name, call in [*calls.items(), *(differing.items() if size > 1 else ())]:
        error = raised(call)
        assert isinstance(error, Exception), (rank, name, error)
        text = everywhere(error)
        assert len(text.split()) > 4, (name, text)
        assert name not in differing or isinstance(error, nw.OptionError), (name, text)
    same(nw.exchange({0: b}, here), {r: b for r in range(size)} if rank == 0 else {})


def parts_of_communicators():
    """On the ranks of a communicator, by its own numbers, while others do something else."""
    part = comm.Split(color=rank % 2, key=-rank)
    mine, n = part.rank, part.size
    for _ in range(1 + rank % 2):
        got = nw.exchange({n - 1 - mine: np.array([rank])}, part)
        same(got, {n - 1 - mine: part.allgather([rank])[n - 1 - mine]})
        assert nw.allreduce(1, comm=part) == n
    part.Free()
    settings = nw.Communicator(comm, allgather="node_aware", alltoallv="mpi", sparse_exchange="nonblocking")
    np.testing.assert_array_equal(nw.allgather(rank, settings), np.arange(size))
    np.testing.assert_array_equal(nw.alltoall(np.full(size, rank), settings), np.arange(size))


def example_of_the_docs():
    """The section of docs/python.md as it is there; what it says that it prints is true."""
    text = (HERE.parents[1] / "docs" / "python.md").read_text()
    section = text.split("## Messages between ranks")[1].split("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    names = {}
    exec(code, names)
    assert names["total"] == size
    assert list(names["arrived"]) == [(rank - 1) % size]


if __name__ == "__main__":
    warnings.simplefilter("error")
    for case in sys.argv[1:]:
        try:
            globals()[case]()
        except BaseException:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
            MPI.COMM_WORLD.Abort(1)
        comm.Barrier()
        if rank == 0:
            print("passed", case, flush=True)
