"""`nodewise calibrate`: that all is measured and written, or said not to be. No times are tested."""

import json
import math

import jsonschema
import pytest

TWO_SECONDS = ["--seconds", "2", "--largest-message", "65536", "--quiet"]
PROTOCOLS = {"short", "eager", "rendezvous"}


def validate(source, name, document):
    schema = json.loads((source / "docs" / name).read_text())
    jsonschema.Draft7Validator(schema).validate(document)


@pytest.fixture
def calibrated(nodewise, tmp_path, source):
    """Measures, and gives the JSON and the machine file."""

    def run(*arguments, ranks):
        words = ["calibrate", *TWO_SECONDS, *arguments, "--json", "r.json"]
        result = nodewise(*words, "--output", "m.json", ranks=ranks)
        assert result.code == 0, result.err
        assert result.out == ""
        assert sorted(p.name for p in tmp_path.glob("*.json*")) == ["m.json", "r.json"]
        report = json.loads((tmp_path / "r.json").read_text())
        machine = json.loads((tmp_path / "m.json").read_text())
        validate(source, "calibrate.schema.json", report)
        validate(source, "machine.schema.json", machine)
        return report, machine

    return run


def missing(report):
    return {entry["what"]: entry["why"] for entry in report["not_measured"]}


def check_points(report):
    """Every size was measured, with times that are times."""
    for path in report["ping_pong"]:
        assert len(path["points"]) >= 30
        for point in path["points"]:
            assert point["times_s"]
            assert all(0 < t < math.inf for t in point["times_s"])
        assert path["fits"]
        for fit in path["fits"].values():
            latency = fit["latency_s"]
            assert latency["value"] >= 0 and latency["low"] <= latency["value"]
            assert fit["rate_bytes_per_s"] > 0


def check_machine(machine, localities):
    protocols = machine["protocols"]
    for locality in localities:
        own = protocols[locality].get("switch_sizes")
        assert own is None or own != protocols["switch_sizes"]
        names = set(protocols[locality]) - {"switch_sizes"}
        assert names and names <= PROTOCOLS
        for parameters in (protocols[locality][name] for name in names):
            assert parameters["latency_s"] >= 0 and parameters["rate_bytes_per_s"] > 0
    sizes = protocols["switch_sizes"]
    assert 0 <= sizes["short_bytes"] <= sizes["eager_bytes"] <= 65536
    computation = machine["computation"]
    assert [b["threads"] for b in computation["thread_bandwidth"]][0] == 1
    ends = [f.get("up_to_nonzeros", math.inf) for f in computation["s_per_flop_by_size"]]
    assert ends == sorted(ends) and ends[-1] == math.inf


def test_four_ranks_on_two_nodes(calibrated, nodewise, source, tmp_path):
    report, machine = calibrated("--node-map", "0,1,0,1", "--name", "mine", ranks=4)
    check_points(report)
    assert [p["locality"] for p in report["ping_pong"]] == ["same_node", "other_node"]
    assert report["ping_pong"][0]["pairs"] == [[0, 2], [1, 3]]
    assert report["ping_pong"][1]["pairs"] == [[0, 1]]
    assert {p["senders"] for p in report["injection"]} == {1, 2}
    assert report["queue"]["fit_reversed"]["queue_search_s"]["value"] >= 0
    assert all(8 <= p["bytes"] <= 80000 / p["messages"] for p in report["queue"]["points"])
    positions = report["queue"]["positions"]
    # Of 3 receives 3 to 6 steps, of the 9 that the square is.
    assert positions["messages"] == 3 and all(0.33 < s < 0.67 for s in positions["in_order"] + positions["reversed"])
    assert {p["direction"] for p in report["overlap"]} == {"receive", "send"}
    assert all(0 <= p["overlap"] <= 1 for p in report["overlap"] if p["both_s"])
    assert {p["algorithm"] for p in report["sums"]} == {"mpi", "node_aware"}
    assert set(missing(report)) == {"same_socket", "contention", "cards"}
    assert report["cards"] is None
    check_machine(machine, ["same_node", "other_node"])
    assert machine["name"] == "mine" and machine["measured"]
    assert machine == report["machine_file"]
    assert (machine["allreduce"]["ranks"], machine["allreduce"]["nodes"]) == (4, 2)
    assert {len(machine["allreduce"][a]) for a in ("mpi", "node_aware")} == {5}
    # On a busy machine no overlap may have been measured at all.
    progress = machine.get("progress", [])
    assert bool(progress) == any(p["both_s"] for p in report["overlap"])
    # Of the largest messages one direction may be left out for want of time.
    assert all(0 <= p.get(way, 0) <= 1 for p in progress for way in ("send", "receive"))
    assert any("contention: needs 4 nodes" in note for note in machine["notes"])
    assert any("node_map" in note for note in machine["notes"])
    # What was written can be read: as the base of one rank, which knows nothing of messages.
    words = ["calibrate", "--seconds", "0", "--base", tmp_path / "m.json"]
    again = nodewise(*words, "-o", "n.json", "--json", "s.json")
    assert again.code == 0, again.err
    validate(source, "calibrate.schema.json", json.loads((tmp_path / "s.json").read_text()))
    other = json.loads((tmp_path / "n.json").read_text())
    assert other["protocols"] == machine["protocols"]
    assert other["allreduce"] == machine["allreduce"]
    assert "not measured: other_node: all ranks are on one node" in again.out


def test_two_ranks_on_one_node_take_the_rest_from_a_base(calibrated):
    report, machine = calibrated("--base", "blue-waters", ranks=2)
    check_points(report)
    assert [p["locality"] for p in report["ping_pong"]] == ["same_node"]
    assert report["switch_sizes"]["from"] == "base"
    assert missing(report)["other_node"] == "all ranks are on one node"
    assert report["queue"]["positions"] is None and missing(report)["queue positions"] == "needs 3 ranks"
    check_machine(machine, ["same_node", "other_node"])
    assert machine["protocols"]["other_node"]["short"]["latency_s"] == 2.3e-6
    same_node = machine["protocols"]["same_node"]
    found = report["ping_pong"][0]["switch_sizes"]
    assert same_node.get("switch_sizes", machine["protocols"]["switch_sizes"]) == found
    assert all(p.get("latency_s") != 8.3e-7 for p in same_node.values())
    assert machine["network"]["shape"] == "torus"
    assert any("that of the machine blue-waters" in note for note in machine["notes"])


def test_four_nodes_measure_contention(calibrated):
    report, machine = calibrated("--ranks-per-node", "1", ranks=4)
    assert "contention" not in missing(report)
    assert report["contention"]["s_per_byte"]["value"] >= 0
    found = report["contention"]["s_per_byte"]
    expected = found["value"] if found["low"] > 0 else 0
    assert machine["contention_s_per_byte_per_link"] == expected
    assert missing(report)["injection limit"] == "needs 2 nodes with 2 ranks each"


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["-o", "m.json"], 2, "give --base MACHINE for what cannot be measured here"),
        (["--base", "blue-water", "-o", "m.json"], 2, "did you mean 'blue-waters'?"),
        (["--base", "./none.json", "-o", "m.json"], 3, "none.json"),
        (["--base", "blue-waters", "-o", "no/such/m.json"], 6, "no/such/m.json: cannot be created"),
        (["--json", "no/such/r.json"], 6, "no/such/r.json: cannot be created"),
        (["--seconds", "-1"], 2, "--seconds: '-1' is not a number"),
        (["--seconds", "nan"], 2, "--seconds: 'nan' is not a number"),
        (["--largest-message", "10"], 2, "--largest-message: '10' is not"),
        (["--second", "1"], 2, "did you mean --seconds?"),
        (["--tolerance", "1"], 2, "`nodewise calibrate` takes no --tolerance"),
        (["--node-map", "0,1"], 2, "--node-map: 2 node numbers given for 1 rank"),
        (["--json", "m.json", "--output", "m.json"], 2, "name the same file"),
        (["A.mtx"], 2, "unexpected argument 'A.mtx'"),
    ],
)
def test_what_cannot_work_is_refused_before_measuring(nodewise, tmp_path, words, code, message):
    result = nodewise("calibrate", *words)
    assert result.code == code, result.err
    assert result.out == ""
    (error,) = result.messages
    assert message in error
    assert not list(tmp_path.iterdir())
