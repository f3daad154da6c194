"""Fields of a saddle point that are told by a file."""

import json

import pytest
from conftest import write_market, write_vector

from test_tune import saddle_point


def system(tmp_path, fields):
    matrix = write_market(tmp_path / "A.mtx", 60, 60, saddle_point(40))
    return matrix, write_vector(tmp_path / "fields.mtx", fields)


def in_thirds():
    """The first 20 rows of the Laplacian, the other 20, and the constraints."""
    return [0] * 20 + [1] * 20 + [2] * 20


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("more", [[], ["--partition", "strided"]])
def test_three_fields_are_eliminated_in_turn(nodewise, tmp_path, ranks, more):
    matrix, fields = system(tmp_path, in_thirds())
    result = nodewise("solve", matrix, "--preconditioner", "fields", "--row-fields", fields, "--json", "r.json", *more,
                      ranks=ranks)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["solve"]["preconditioner"] == "fields"
    assert report["solve"]["outcome"] == "converged"


@pytest.mark.parametrize("fields, words", [
    ([0] * 20 + [2] * 40, "no row is of field 1, where there are fields up to 2"),
    ([0] * 59 + [0.5], "the field of row 60 (counted from 1) is 0.5"),
    ([0] * 59, "is 59 x 1, but needs 60 rows"),
])
def test_fields_that_are_none_are_refused(nodewise, tmp_path, fields, words):
    matrix, path = system(tmp_path, fields)
    result = nodewise("solve", matrix, "--preconditioner", "fields", "--row-fields", path, ranks=2)
    assert result.code == 3, result.err
    assert len(result.messages) == 1
    assert "--row-fields" in result.messages[0] and words in result.messages[0]


@pytest.mark.parametrize("more, words", [
    ([], "--preconditioner fields"),
    (["--preconditioner", "fields", "--fields", "interleaved", "--unknowns", "3"], "--fields"),
    (["--preconditioner", "fields", "--schur", "lsc"], "--schur lsc is for two fields, and there are 3"),
])
def test_fields_and_what_leaves_no_use_for_them_are_refused(nodewise, tmp_path, more, words):
    matrix, path = system(tmp_path, in_thirds())
    result = nodewise("solve", matrix, "--row-fields", path, *more, ranks=2)
    assert result.code != 0
    assert len(result.messages) == 1 and words in result.messages[0], result.err
