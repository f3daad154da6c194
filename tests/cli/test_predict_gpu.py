"""`nodewise predict --memory device`: a cycle whose vectors lie on GPUs."""

import json

import jsonschema
import pytest

SMALL = ["--problem", "laplace27", "--n", 16, "--max-coarse-rows", 20]
ON_SUMMIT = ["--machine", "summit", "--virtual-ranks", 24]
WAYS = ["direct", "one_core", "many_cores", "shared_memory"]
ROUTES = ["direct", "two_step", "three_step"]


def predict(nodewise, tmp_path, *words):
    """The report of a run that succeeds, and what it printed, on one line."""
    path = tmp_path / "report.json"
    result = nodewise("predict", *words, "--json", path)
    assert result.code == 0, result.err
    return json.loads(path.read_text()), " ".join(result.out.split())


def test_every_way_over_every_route_adds_up(nodewise, tmp_path, source):
    report, out = predict(nodewise, tmp_path, *SMALL, *ON_SUMMIT, "--memory", "device")
    jsonschema.validate(report, json.loads((source / "docs" / "predict.schema.json").read_text()))
    assert (report["ranks"], report["nodes"]) == (24, 4)
    assert report["preset"]["name"] == "card"
    assert report["options"]["smoother"] == "chebyshev"
    assert report["options"]["redistribution"] == "none"
    assert "gpu" not in report["machine"]["left_out"]
    gpu = report["gpu"]
    assert (gpu["gpus_per_node"], gpu["unanswered"]) == (6, [])
    for way in WAYS:
        for route in ROUTES:
            cycle = gpu["cycle"]["one_way"][way]["one_route"][route]
            for number in ("copies", "latency", "total"):
                parts = [level["in_a_cycle"][way][route]["formula_s"][number] for level in gpu["levels"]]
                assert cycle["formula_s"][number] == pytest.approx(sum(parts))
            formula = cycle["formula_s"]
            assert formula["total"] == pytest.approx(sum(formula.values()) - formula["total"])
            # Straight, nothing is copied but what is solved on the host.
            copies = [level["in_a_cycle"][way][route]["formula_s"]["copies"] for level in gpu["levels"]]
            assert [time > 0 for time in copies[:-1]] == [way != "direct"] * (len(copies) - 1)
            assert copies[-1] > 0
    for level in gpu["levels"]:
        times = {(way, route): level["in_a_cycle"][way][route] for way in WAYS for route in ROUTES}
        chosen = level["cheapest_by_formula"]
        least = min(time["formula_s"]["total"] for time in times.values())
        assert times[chosen["way"], chosen["route"]]["formula_s"]["total"] == least
    best = gpu["cycle"]["best_by_formula"]["formula_s"]["total"]
    assert best <= min(gpu["cycle"]["one_way"][way]["best_by_formula"]["formula_s"]["total"]
                       for way in WAYS) * (1 + 1e-12)
    for text in ("24 ranks on 4 nodes of summit, a GPU each", "best ways", "copies win", "one_core"):
        assert text in out


# What a message of the level costs decides: from five messages on by one core at 8 bytes on Summit.
def test_says_from_how_many_messages_on_copies_win(nodewise, tmp_path):
    report, out = predict(nodewise, tmp_path, *SMALL, *ON_SUMMIT, "--memory", "device")
    for level in report["gpu"]["levels"]:
        win = level["copies_win"]
        assert win is None or (1 < win["from_messages"] and win["way"] != "direct")
    first = report["gpu"]["levels"][0]["copies_win"]
    assert f"level 0 from {first['from_messages']} messages on" in out or "levels 0 to" in out
    details = nodewise("predict", *SMALL, *ON_SUMMIT, "--memory", "device", "--details")
    assert "One cycle with vectors on GPUs, level by level, by formula" in details.out
    assert details.out.count("shared_memory") > 2 * len(report["levels"])


def test_the_host_is_the_default(nodewise, tmp_path):
    words = [*SMALL, *ON_SUMMIT, "--ranks-per-node", 6]
    report, out = predict(nodewise, tmp_path, *words)
    assert report["gpu"] is None and "gpu" in report["machine"]["left_out"]
    assert "best ways" not in out and "a GPU each" not in out


def test_a_curve_is_of_the_same_memory(nodewise, tmp_path):
    words = [*SMALL, *ON_SUMMIT, "--memory", "device", "--rank-counts", "6,24", "--s-per-flop", "1e-11"]
    report, out = predict(nodewise, tmp_path, *words)
    last = report["scaling"]["points"][-1]
    assert last["ranks"] == 24
    best = report["gpu"]["cycle"]["best_by_formula"]
    assert last["best_by_formula"]["simulated_s"]["base"] == best["simulated_s"]["base"]
    assert "by the best ways" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--machine", "eos", "--ranks-per-node", 8],
         "machine 'eos' has no `gpu` parameters, which --memory device needs; of the library's "
         "machines lassen-mvapich, lassen-spectrum, summit have them"),
        (["--machine", "summit", "--ranks-per-node", 8], "has 6 GPUs, too few for 8 ranks"),
        (["--machine", "summit", "--cycle", "w"], "--cycle w"),
        (["--machine", "summit", "--memory", "card"], "memory"),
    ],
)
def test_what_does_not_fit_is_refused(nodewise, words, message):
    result = nodewise("predict", *SMALL, "--virtual-ranks", 16, "--memory", "device", *words)
    assert result.code == 2
    assert message in result.err
