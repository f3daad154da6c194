"""Sections that the pages of several commands have."""

import shlex

from .. import text
from ..model import Code, Section, Table


def command_line(data):
    """What repeats the run, as it can be pasted into a shell."""
    machine = data.get("machine") or {}
    ranks = machine.get("ranks", 1)
    words = shlex.join(["nodewise", *data.get("command_line", [])])
    return f"mpirun -n {ranks} {words}" if isinstance(ranks, int) and ranks > 1 else words


def repeat_section(data):
    return Section("To repeat it", [Code(command_line(data))])


def shown(value):
    """Of an option, or another value of JSON."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return text.significant(value, 6)
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value) or "–"
    return str(value)


def placement(machine):
    """4 ranks on 2 nodes"""
    ranks = text.counted(machine["ranks"], "rank")
    threads = machine.get("threads_per_rank", 1)
    of_threads = f" of {threads} threads" if threads > 1 else ""
    if machine["ranks"] == 1:
        return f"one rank{of_threads}"
    where = "one node" if machine["nodes"] == 1 else text.counted(machine["nodes"], "node")
    return f"{ranks}{of_threads} on {where}"


def ranks_by_node(machine):
    """8 + 8 + 4, or 64 × 8"""
    counts = machine["ranks_per_node"]
    if len(set(counts)) == 1 and len(counts) > 2:
        return f"{counts[0]} on each of {len(counts)} nodes"
    return " + ".join(str(n) for n in counts[:8]) + (" + …" if len(counts) > 8 else "")


def machine_section(data):
    machine, program = data["machine"], data["program"]
    pretended = machine["placement"] == "given"
    rows = [
        ["Ranks", placement(machine)],
        ["Ranks of the nodes", ranks_by_node(machine)],
        ["Nodes", "given with the command; times are those of the hosts" if pretended else "as MPI tells them"],
        ["Hosts", text.count(machine["hosts"]) if isinstance(machine["hosts"], int) else shown(machine["hosts"])],
        ["Processor", shown(machine["processor"])],
        ["Bound to", shown(machine.get("bound_to"))],
        ["MPI", f"{machine['mpi_library']}, standard {machine['mpi_standard']}"],
    ]
    if machine.get("domains", machine["nodes"]) != machine["nodes"]:
        rows.insert(2, ["Domains of nodes", text.count(machine["domains"])])
    return Section("Machine", [Table([], rows, open=True, title=""), program_table(program)])


def program_table(program):
    return Table([], [[text.words(key).capitalize(), shown(value)] for key, value in program.items()], title="Program")


def options_table(options, title="All options"):
    return Table(["Option", "Value"], [[f"--{name}", shown(value)] for name, value in options.items()], title=title)


def matrix_phrase(matrix):
    """(13,824 rows, 93,312 nonzeros)"""
    return f"{text.counted(matrix['rows'], 'row')}, {text.counted(matrix['nonzeros'], 'nonzero')}"


def alike(levels, of):
    """Levels by what `of` says of each, as (text of the levels, what): those with the same together."""
    groups = {}
    for level, info in enumerate(levels):
        said = of(info)
        if said is not None:
            groups.setdefault(said, []).append(level)
    return [(text.levels(numbers), said) for said, numbers in groups.items()]
