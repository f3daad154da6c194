"""Pages: that they say what the reports say, and nothing else can be made of them."""

import base64
import json
import re
import struct
import sys
import zlib
from xml.etree import ElementTree

import pytest
from pages import KINDS, SOURCE, Page, number, whole

from nodewise.report import ReportError, main, take_report_option, text, with_page, write_page


def about(value):
    """Three digits are written."""
    return pytest.approx(value, rel=0.006)


def decoded(uri):
    """The rows of a picture, by the standard of PNG: one byte a pixel, the place in the palette."""
    assert uri.startswith("data:image/png;base64,")
    png = base64.b64decode(uri.partition(",")[2], validate=True)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        content = png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        chunks[kind] = content
        at += 12 + length
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour, rest) == (8, 3, [0, 0, 0])
    alpha = chunks[b"tRNS"]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[k * (width + 1) : (k + 1) * (width + 1)] for k in range(height)]
    assert all(row[0] == 0 for row in rows)
    return [[alpha[p] for p in row[1:]] for row in rows]


def counts_of(rows, bins):
    """As docs/report.md describes them."""
    square = [[0] * bins for _ in range(bins)]
    for i, row in enumerate(rows):
        for pair in row.split():
            column, value = pair.split(":")
            square[i][int(column)] = int(value)
    return square


def expect_picture(pixels, counts):
    """A pixel for each count: nothing where there is none, and never less for more."""
    assert len(pixels) == len(counts) and all(len(p) == len(c) for p, c in zip(pixels, counts))
    pairs = sorted((c, p) for cs, ps in zip(counts, pixels) for c, p in zip(cs, ps))
    assert all((count == 0) == (pixel == 0) for count, pixel in pairs)
    assert all(a[1] <= b[1] for a, b in zip(pairs, pairs[1:]))


@pytest.mark.parametrize("kind", KINDS)
def test_kept_reports_are_valid(report, kind):
    jsonschema = pytest.importorskip("jsonschema")
    name = {"solve": "report", "failed": "report"}.get(kind, kind)
    schema = json.loads((SOURCE / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(report(kind), schema)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_stands_alone(report, make_page, kind):
    _, page = make_page(report(kind))
    parsed = Page(page)
    for tag, attributes in parsed.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:image/png;base64,")), value
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    assert parsed.has("meta", name="viewport")
    policy = next(a["content"] for t, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe-inline'; img-src data:; script-src 'sha256-" in policy
    assert len(page) < 400_000
    identifiers = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    assert "NaN" not in page and "undefined" not in page and "Infinity" not in page


def test_numbers_of_a_solve_are_those_of_its_report(report, make_page):
    data = report("solve")
    parsed = Page(make_page(data)[1])
    solve = data["solve"]
    facts = re.findall(r"[^\n]+", parsed.texts["dd"].replace("\u2009", " "))
    said = " ".join(facts)
    assert text.power(solve["true_relative_residual"]) in said
    assert number(text.power(solve["true_relative_residual"])) == about(solve["true_relative_residual"])
    history = parsed.rows("Residual by iteration")
    assert [whole(row[0]) for row in history] == list(range(len(solve["history"])))
    assert [number(row[1]) for row in history] == about(solve["history"])
    levels = parsed.rows("Every level")
    for row, level in zip(levels, data["hierarchy"]["levels"], strict=True):
        assert [whole(cell) for cell in row[1:3]] == [level["rows"], level["nonzeros"]]
        assert whole(row[5]) == level["active_ranks"]
        assert row[7].replace(" ", "_") == level["route"]
    for row, level in zip(parsed.rows("One product of each level"), data["hierarchy"]["levels"], strict=True):
        t = level["product_traffic"]
        assert [whole(cell) for cell in row[2:]] == [
            t["messages_on_node"],
            t["messages_off_node"],
            t["bytes_on_node"],
            t["bytes_off_node"],
            t["max_messages_of_a_rank"],
        ]
    for phase, row in zip(("setup", "solve"), parsed.rows("The whole run"), strict=True):
        fields = (
            "messages_on_node",
            "messages_off_node",
            "bytes_on_node",
            "bytes_off_node",
            "collective_calls",
            "waits",
        )
        assert [whole(cell) for cell in row[1:]] == [sum(a[f] for a in data["operations"][phase]) for f in fields]
        operations = parsed.rows(f"Every operation of the {phase}")
        expected = sorted(data["operations"][phase], key=lambda a: -sum(a["mean_of_the_ranks"].values()))
        for cells, account in zip(operations, expected, strict=True):
            assert cells[0].replace(" ", "_") == account["operation"]
            assert cells[1] == ("–" if account["level"] is None else str(account["level"]))
            assert [number(c) for c in cells[3:5]] == about(
                [account["mean_of_the_ranks"][f"{k}_s"] for k in ("computing", "communicating")]
            )
            assert [whole(c) for c in cells[5:7]] == [account["messages_on_node"], account["messages_off_node"]]
    options = {row[0]: row[1] for row in parsed.rows("All options")}
    assert options.keys() == {f"--{name}" for name in data["options"]}


def test_predicted_times_stand_beside_measured_ones(report, make_page):
    data = report("solve")
    parsed = Page(make_page(data)[1])
    prediction = data["prediction"]
    rows = {row[0]: row[1:] for row in parsed.rows("Predicted beside measured")}
    for level, predicted in enumerate(prediction["levels"]):
        accounts = [a for a in data["operations"]["solve"] if a["level"] == level]
        computing, bound, communicating, expected = (number(cell) for cell in rows[f"level {level}"])
        assert computing == about(sum(a["mean_of_the_ranks"]["computing_s"] for a in accounts))
        assert communicating == about(sum(a["mean_of_the_ranks"]["communicating_s"] for a in accounts))
        assert expected == about(predicted["communicating_s"])
        kernels = [
            k for k in data["local_kernels"]["kernels"] if k["level"] == level and k["kernel"] != "krylov_product"
        ]
        assert bound == about(sum(k["computing_s"] * k["share_of_bound"] for k in kernels if k["share_of_bound"]))


def test_pictures_have_a_pixel_for_each_bin(report, make_page):
    data = report("solve")
    levels = data["pictures"]["levels"]
    images = [decoded(uri) for uri in Page(make_page(data)[1]).images()]
    assert len(images) == 2 + len(levels)
    n = levels[0]["node_bins"]
    for image, what in zip(images, ("messages", "bytes")):
        sums = [
            [sum(square[i][j] for square in (counts_of(level[what], n) for level in levels)) for j in range(n)]
            for i in range(n)
        ]
        expect_picture(image, sums)
    for image, level, info in zip(images[2:], levels, data["hierarchy"]["levels"], strict=True):
        counts = counts_of(level["entries"], level["bins"])
        assert sum(map(sum, counts)) == info["nonzeros"]
        expect_picture(image, counts)


def test_many_nodes_are_joined(report, make_page):
    data = report("solve")
    data["machine"].update(nodes=300, domains=300, ranks_per_node=[1] * 300, ranks=300)
    for level in data["pictures"]["levels"]:
        level["node_bins"] = 128
        level["messages"] = [f"{k}:7 {(k + 5) % 128}:{k + 1}" for k in range(128)]
        level["bytes"] = [f"{k}:56 {(k + 5) % 128}:{8 * k + 8}" for k in range(128)]
    parsed = Page(make_page(data)[1])
    assert [len(decoded(uri)) for uri in parsed.images()[:2]] == [128, 128]
    busiest = parsed.rows("The busiest pairs")[0]
    n_levels = len(data["pictures"]["levels"])
    # Of 300 nodes in 128 bins the first 44 have three: the last has the nodes 298 and 299, bin 4 has 12 to 14.
    assert busiest == ["nodes 298 to 299", "nodes 12 to 14", str(128 * n_levels), f"{1024 * n_levels:,}"]


def test_a_solve_that_failed_says_so_first(report, make_page):
    data = report("failed")
    page = make_page(data)[1]
    parsed = Page(page)
    assert "Not converged" in parsed.texts["span"]
    assert data["solve"]["diagnosis"] in parsed.texts["li"]
    for finding in data["findings"]:
        assert finding["text"] in parsed.texts["li"] and finding["advice"] in parsed.texts["em"]
    assert page.index("<h2>Findings") < page.index("<h2>Convergence")


def test_what_was_tried_before_is_told(report, make_page):
    data = report("solve")
    data["attempts"] = [
        {"preset": "direct", "preconditioner": "direct", "method": None, "why_given_up": "the <matrix> is singular",
         "iterations": 0, "true_relative_residual": 1},
        {"preset": "convection", "preconditioner": "amg", "method": "gmres", "why_given_up": "stagnated",
         "iterations": 97, "true_relative_residual": 0.125},
    ]
    said = Page(make_page(data)[1]).texts["li"]
    assert "Preset direct: the <matrix> is singular" in said
    assert "GMRES with preset convection gave up (stagnated) at a residual of 1.25 × 10⁻¹, after 97 iterations" in said


def test_numbers_of_a_prediction_are_those_of_its_report(report, make_page):
    data = report("predict")
    parsed = Page(make_page(data)[1])
    rows = parsed.rows("Term by term")
    expected = [(k, route) for k in range(len(data["levels"])) for route in data["routes"]]
    assert [(int(r[0]), r[1].replace(" ", "_")) for r in rows[: len(expected)]] == expected
    for row, (k, route) in zip(rows, expected):
        level = data["levels"][k]
        often = level["in_a_cycle"]
        parts = [(often["products"], level["product"][route])]
        parts += [(often["transfers"], level[name][route]) for name in ("restriction", "prolongation") if level[name]]
        if level["gathering"]:
            parts.append((often["solves"], level["gathering"]["plain"]))
        total = sum(n * part["formula_s"]["total"] for n, part in parts)
        base = sum(n * part["simulated_s"]["base"] for n, part in parts)
        assert [number(cell) for cell in row[7:9]] == about([total, base])
    for row, point in zip(parsed.rows("Points of the curves"), data["scaling"]["points"], strict=True):
        assert whole(row[0]) == point["ranks"]
        assert number(row[4]) == about(point["work_s"] + point["first_route"]["formula_s"]["total"])
        assert number(row[7]) == about(point["work_s"] + point["best_by_simulation"]["simulated_s"]["base"])


def test_numbers_of_a_tuning_are_those_of_its_report(report, make_page):
    data = report("tune")
    parsed = Page(make_page(data)[1])
    for row, candidate in zip(parsed.rows("Trials"), data["candidates"], strict=True):
        assert (
            row[1] == ", ".join(f"{k} {v}" for k, v in candidate["options"].items())
            or row[1] == "the defaults"
            and not candidate["options"]
        )
        if candidate["converged"]:
            assert [number(cell) for cell in row[3:6]] == about(
                [candidate["total_s"], candidate["setup_s"], candidate["solve_s"]]
            )
        assert whole(row[6]) == candidate["iterations"]
    assert data["best"] in parsed.texts["pre"]


def test_numbers_of_a_calibration_are_those_of_its_report(report, make_page):
    data = report("calibrate")
    parsed = Page(make_page(data)[1])
    fits = [fit for path in data["ping_pong"] for fit in sorted(path["fits"].values(), key=lambda f: f["first_bytes"])]
    for row, fit in zip(parsed.rows("Messages"), fits, strict=True):
        assert number(row[3]) == about(fit["latency_s"]["value"])
        if fit["times_grow"]:
            assert number(row[5]) == about(fit["rate_bytes_per_s"])


def test_several_solves_are_compared(report, make_page):
    one, two = report("solve"), report("solve")
    two["times_s"]["solve"] = 3 * one["times_s"]["solve"] + one["times_s"]["setup"]
    two["times_s"]["setup"] = 2 * one["times_s"]["setup"]
    two["options"]["smoother"] = "another"
    parsed = Page(make_page(one, two, names=["quick.json", "slow.json"])[1])
    assert re.search(r"quick\.json took .*, slow\.json 3\.00 times as long", parsed.texts["p"])
    side = {row[0]: row[1:] for row in parsed.tables["Side by side"]}
    assert [number(cell) for cell in side["Solve"]] == about([one["times_s"]["solve"], two["times_s"]["solve"]])
    assert ["--smoother", one["options"]["smoother"], "another"] in parsed.tables["Options that differ"]
    assert len(parsed.tables["Options that differ"]) == 2


HOSTILE = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;\u202e.json"


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_strings_are_text(report, make_page, kind):
    data = report(kind)

    def poison(value):
        if isinstance(value, dict):
            return {k: poison(v) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(v) for v in value]
        return value

    data = poison(data)
    if "matrix" in data:
        data["matrix"]["source"] = HOSTILE
    data["command_line"] = ["solve", HOSTILE]
    data["options"] = {HOSTILE: HOSTILE}
    data["program"]["compiler"] = HOSTILE
    for finding in data.get("findings", []):
        finding.update(text=HOSTILE, advice=HOSTILE, kind=HOSTILE)
    for candidate in data.get("candidates", []):
        candidate["options"] = {HOSTILE: HOSTILE}
    if kind == "overlap":
        for case in data["cases"]:
            case["route"] = HOSTILE
    if kind == "predict":
        data["machine"]["name"] = HOSTILE
    name = "<b>\"'&amp;.json"
    page = make_page(data, names=[name])[1]
    parsed = Page(page)
    tags = [tag for tag, _ in parsed.elements]
    assert tags.count("script") == 1 and tags.count("title") == 1 and "b" not in tags
    assert all(a.get("src", "").startswith("data:") for t, a in parsed.elements if t == "img")
    assert not any(key.startswith("on") for _, a in parsed.elements for key in a)
    assert HOSTILE in "".join(parsed.texts.values())


def test_hostile_names_in_a_comparison(report, make_page):
    page = make_page(report("solve"), report("solve"), names=["<svg onload=alert(1)>.json", "\"'&.json"])[1]
    parsed = Page(page)
    assert "<svg onload=alert(1)>.json" in parsed.texts["text"]  # in a chart
    assert not any(key.startswith("on") for _, a in parsed.elements for key in a)


def test_what_is_no_report_is_refused(tmp_path, capsys, report):
    page = tmp_path / "page.html"

    def refused(content, code, said):
        path = tmp_path / "a.json"
        path.write_text(content, encoding="utf-8")
        assert main([str(path), "-o", str(page)]) == code
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1 and err.startswith("nodewise report: ")
        assert not page.exists()

    refused("{", 3, "is no JSON")
    refused("[]", 3, "is no report of nodewise")
    refused('{"schema_version": 1}', 3, "is no report of nodewise")
    newer = report("solve") | {"schema_version": 2}
    refused(json.dumps(newer), 3, "schema_version 2")
    broken = report("solve")
    del broken["times_s"]
    refused(json.dumps(broken), 3, "is no whole report")
    assert main([str(tmp_path / "none.json")]) == 3
    assert "No such file" in capsys.readouterr().err


def test_outputs(tmp_path, capsys, report):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(report("tune")), encoding="utf-8")
    assert main([str(path)]) == 0
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main([str(path), "-o", str(path)]) == 2
    assert "replace the report" in capsys.readouterr().err
    assert main([str(path), "-o", str(tmp_path / "no" / "a.html")]) == 6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "a.json"]
    assert main([]) == 2
    assert main(["--help"]) == 0


def test_the_same_report_gives_the_same_page(tmp_path, report):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(report("solve")), encoding="utf-8")
    pages = []
    for name in ("one.html", "two.html"):
        write_page([path], tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_folded_stacks(tmp_path, report):
    data = report("solve")
    path, output = tmp_path / "a.json", tmp_path / "stacks.txt"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert main([str(path), "--folded", str(output)]) == 0
    totals = {}
    for line in output.read_text(encoding="utf-8").splitlines():
        stack, _, micros = line.rpartition(" ")
        frames = stack.split(";")
        assert len(frames) == 4
        totals[frames[0]] = totals.get(frames[0], 0) + int(micros)
    for phase in ("setup", "solve"):
        expected = sum(1e6 * sum(a["mean_of_the_ranks"].values()) for a in data["operations"][phase])
        assert totals[phase] == pytest.approx(expected, abs=len(data["operations"][phase]) + 1)


def test_charts_as_files(tmp_path, capsys, report):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(report("predict")), encoding="utf-8")
    charts = tmp_path / "charts"
    assert main([str(path), "--charts", str(charts)]) == 6
    charts.mkdir()
    assert main([str(path), "--charts", str(charts)]) == 0
    assert capsys.readouterr().out.split() == ["on-how-many-ranks.svg", "on-how-many-ranks-2.svg", "a-cycle.svg", "the-setup.svg"]
    for chart in charts.iterdir():
        root = ElementTree.parse(chart).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        content = chart.read_text(encoding="utf-8")
        for name in set(re.findall(r"var\(--([a-z]+)\)", content)):
            assert content.count(f"--{name}:") == 2  # in light and in dark


def test_the_report_option_of_solve():
    words = ["solve", "A.mtx", "--report", "out/x.html"]
    assert take_report_option(words) == (["solve", "A.mtx", "--json", "out/x.json"], "out/x.html", "out/x.json")
    assert take_report_option(["solve", "-jr.json", "--report", "x.html"]) == (
        ["solve", "-j", "r.json"],
        "x.html",
        "r.json",
    )
    words = ["solve", "A.mtx", "--report=x.html", "-j", "r.json", "-q"]
    assert take_report_option(words) == (["solve", "A.mtx", "-j", "r.json", "-q"], "x.html", "r.json")
    assert take_report_option(["solve", "A.mtx"]) == (["solve", "A.mtx"], None, None)
    for words, said in (
        (["--report"], "needs a file"),
        (["--report", "x.pdf"], "ends in .html"),
        (["--report", "x.html", "--json", "-"], "to name a file"),
    ):
        with pytest.raises(ReportError, match=said):
            take_report_option(["solve", "A.mtx", *words])


@pytest.mark.parametrize("kind, code", [("solve", 0), ("failed", 1)])
def test_a_solve_with_a_page(tmp_path, report, capsys, kind, code):
    page, json_file = tmp_path / "x.html", tmp_path / "x.json"
    called = []

    def program(words):
        called.append(words)
        json_file.write_text(json.dumps(report(kind)), encoding="utf-8")
        return code

    assert with_page(["solve", "A.mtx", "--report", str(page)], program) == code
    assert called == [["solve", "A.mtx", "--json", str(json_file)]]
    assert report(kind)["matrix"]["source"] in page.read_text(encoding="utf-8")
    assert f"  page             {page}\n" in capsys.readouterr().out
    assert with_page(["solve", "A.mtx", "-q", "--report", str(page)], program) == code
    assert capsys.readouterr().out == ""


def test_a_page_that_cannot_be_made_runs_nothing(monkeypatch, capsys):
    def program(words):
        raise AssertionError(words)

    assert with_page(["solve", "A.mtx", "--report", "x.pdf"], program) == 2
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert with_page(["solve", "A.mtx", "--report", "x.html"], program) == 2
    assert 'pip install "nodewise[report]"' in capsys.readouterr().err
    assert with_page(["solve", "A.mtx", "--report", "x.html"], program, is_root=False) == 2
    assert capsys.readouterr().err == ""
    assert with_page(["solve", "A.mtx"], lambda words: 7) == 7
