"""Sparse exchange and collectives on 1, 2, 3 and 4 ranks: exchange_cases.py."""

import nodewise as nw
import numpy as np
import pytest
from conftest import HERE, RANKS, run_ranks

CASES = ["messages_of_any_length", "a_type_is_learned", "messages_of_one_length", "nothing_is_copied_to_be_sent",
         "reductions", "operations_of_ones_own", "gathered_values", "all_to_all", "one_rank_fails",
         "parts_of_communicators", "example_of_the_docs"]


@pytest.mark.parametrize("ranks", RANKS)
def test_cases(ranks):
    done = run_ranks(ranks, str(HERE / "exchange_cases.py"), *CASES)
    passed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("passed ")]
    assert done.returncode == 0 and passed == CASES, done.stdout[-2000:] + done.stderr[-4000:]


def test_algorithms_are_listed_with_what_they_do():
    found = nw.algorithms()
    assert set(found) == {"sparse_exchange", "allreduce", "node_mapping", "allgather", "alltoallv"}
    for words in found.values():
        assert len(words) >= 3 and all(words.values()), words


def test_the_nearest_algorithm_is_named():
    with pytest.raises(nw.OptionError, match="locality_nonblocking"):
        nw.exchange({}, algorithm="locality_nonblockin")


def test_messages_are_a_sequence():
    got = nw.alltoallv_crs([0], [3], np.arange(3))
    assert len(got) == 1 and got[0].tolist() == [0, 1, 2] and got[-1].tolist() == [0, 1, 2]
    assert np.shares_memory(got[0], got.data) and "1 messages, 3 of int64" in repr(got)
    with pytest.raises(IndexError):
        got[1]
