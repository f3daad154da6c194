"""The pages: their links, the options that their commands name, and the numbers of two examples."""

import ast
import json
import re
import shutil

import pytest

PAGES = ["*.md", "packaging/*.md", "docs/**/*.md", "examples/**/*.md"]
MADE_BY_THE_SITE = {"docs/api.md", "docs/site/api.md"}  # link to the API reference beside them


def pages(source, patterns=PAGES):
    return [page for pattern in patterns for page in sorted(source.glob(pattern))]


def anchors(page):
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = [re.sub(r"[`*]", "", title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.strip().lower())) for title in titles}


def code_lines(page):
    """Indented and fenced lines, joined where a line goes on behind a backslash."""
    text = page.read_text().replace("\\\n", " ")
    fenced = [line for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
              for line in block.splitlines()]
    return fenced + re.findall(r"^    (.*)$", text, re.MULTILINE)


def test_links_lead_somewhere(source):
    broken = []
    for page in pages(source):
        if str(page.relative_to(source)) in MADE_BY_THE_SITE:
            continue
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if re.match(r"https?:", link):
                continue
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(source)}: {link}")
    assert not broken


def test_commands_name_options_that_exist(nodewise, source):
    listed = nodewise("options", "--markdown")
    known = set(re.findall(r"--[a-z0-9-]+", listed.out)) | {"--help", "--help-all"}
    # Those of launchers, which come before the program's name, are not looked at.
    unknown = []
    for page in pages(source, ["README.md", "docs/tutorials/*.md", "docs/methods/*.md"]):
        for line in code_lines(page):
            if re.match(r"(mpirun -n \d+ )?nodewise [a-z]", line):
                words = line.partition("nodewise ")[2].partition("#")[0]
                unknown += [f"{page.name}: {name}" for name in re.findall(r"--[a-z0-9-]+", words)
                            if name not in known]
    assert not unknown


def test_counterparts_are_options_and_their_values(nodewise, source):
    """Of docs/coming-from.md: every option in a table exists, and has the values beside it."""
    choices = {}
    for line in nodewise("options", "--markdown").out.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        for option in re.findall(r"--[a-z0-9-]+", cells[1]) if len(cells) > 4 else []:
            choices[option] = {value.strip() for value in cells[3].split("\\|")}
    wrong = []
    page = (source / "docs/coming-from.md").read_text()
    for cell in re.findall(r"\| ([^|]*`--[^|]*) (?=\|)", page):
        option = None
        for words in re.findall(r"`([^`]+)`", cell):
            if words.startswith("--"):
                option, *values = words.split()
                if option not in choices:
                    wrong.append(option)
            else:
                values = [words]
            named = [value for value in values if re.fullmatch(r"[a-z][a-z0-9_]*", value)]
            wrong += [f"{option} {v}" for v in named if option and v not in choices.get(option, {v})]
    assert len(choices) > 100
    assert not wrong


@pytest.mark.parametrize(
    "page, command",
    [
        ("README.md", r"mpirun -n (\d+) nodewise (solve .* -o x\.mtx --json report\.json)"),
        ("docs/tutorials/predict-a-machine.md", r"(nodewise) (inspect .*)"),
    ],
)
def test_examples_are_as_printed(nodewise, source, tmp_path, page, command):
    lines = code_lines(source / page)
    place, found = next((i, found) for i, line in enumerate(lines)
                        if (found := re.fullmatch(command, line)))
    shutil.copy(source / "examples" / "matrices" / "combustor_poisson.mtx.gz", tmp_path)
    ranks = int(found[1]) if found[1].isdigit() else 1
    result = nodewise(*found[2].split(), ranks=ranks)
    assert result.code == 0, result.err
    printed = [" ".join(line.split()) for line in result.out.splitlines()]
    shown = []
    for line in lines[place + 1:]:
        if re.match(r"(mpirun|nodewise|cd|scripts/)", line):
            break
        shown.append(" ".join(line.split()))
    assert len(shown) > 2
    for line in shown:
        assert line in printed


def test_recipes_are_well_formed_and_name_options_of_the_build(source):
    """They are not run; what can be told without that."""
    ast.parse((source / "packaging/spack/package.py").read_text())
    recipe = (source / "packaging/conda-forge/recipe.yaml").read_text()
    yaml = pytest.importorskip("yaml")
    assert {"package", "source", "build", "requirements", "tests"} <= set(yaml.safe_load(recipe))
    presets = json.loads((source / "CMakePresets.json").read_text())
    named = {preset["name"] for preset in presets["configurePresets"]}
    assert {preset["configurePreset"] for preset in presets["buildPresets"]} <= named
    cmake = "".join(path.read_text() for path in
                    [source / "CMakeLists.txt", source / "tests/CMakeLists.txt", *source.glob("cmake/*.cmake")])
    known = set(re.findall(r"(?:option|set|optional_library)\((NODEWISE_[A-Z_]+)", cmake))
    files = [source / "CMakePresets.json", *source.glob("packaging/*/*")]
    unknown = [f"{path.name}: {name}" for path in files
               for name in re.findall(r"NODEWISE_[A-Z_]+", path.read_text()) if name not in known]
    assert not unknown


@pytest.mark.parametrize("page", ["solve-a-file", "why-is-it-slow", "predict-a-machine"])
def test_tutorials_run(nodewise, source, tmp_path, page):
    """Every command, in order, on four ranks at most, for two seconds where it says how long."""
    shutil.copy(source / "examples" / "matrices" / "combustor_poisson.mtx.gz", tmp_path)
    ran = 0
    for line in code_lines(source / f"docs/tutorials/{page}.md"):
        found = re.fullmatch(r"(?:mpirun -n (\d+) )?nodewise ([a-z]+ [^#]*)(?:#.*)?", line)
        # Without a file of the reader's own, and without a machine of 32 cores.
        if not found or " A.mtx" in line or found[1] == "32":
            continue
        words = re.sub(r"(-seconds) \d+", r"\1 2", found[2]).split()
        result = nodewise(*words, ranks=min(int(found[1] or 1), 4))
        assert result.code == (1 if "--max-iterations" in words else 0), f"{line}\n{result.err}"
        ran += 1
    assert ran > 2
