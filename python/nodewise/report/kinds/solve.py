"""The page of one solve."""

from .. import text
from ..model import Chapter, Fact, Notices, Section, Table
from . import choices, common, convergence, hierarchy, times, traffic


def chapter(document):
    data = document.data
    made = Chapter(
        title=data["matrix"]["source"],
        command="solve",
        sentence=sentence(data),
        badge=badge(data),
        state="good" if data["solve"]["converged"] else "bad",
        facts=facts(data),
        sources=[document.name],
    )
    sections = [
        findings_section(data),
        convergence.section(data),
        times.section(data),
        traffic.section(data),
        traffic.nodes_section(data),
        hierarchy.section(data),
        choices.section(data),
        common.machine_section(data),
        common.repeat_section(data),
        everything_section(data),
    ]
    made.sections = [section for section in sections if section is not None]
    return made


def badge(data):
    outcome = data["solve"]["outcome"]
    return "Converged" if data["solve"]["converged"] else f"Not converged: {text.words(outcome)}"


def preconditioner(data):
    return {
        "amg": " with algebraic multigrid",
        "jacobi": " with Jacobi's preconditioner",
        "ilu": " with incomplete factors",
        "direct": " with the factors of the matrix",
        "fields": " with a solve for each field",
        "cpr": " with two stages, pressures first",
    }.get(data["solve"]["preconditioner"], "")


def sentence(data):
    """What was solved and how it went."""
    solve, matrix, times_s = data["solve"], data["matrix"], data["times_s"]
    several = len(solve["right_hand_sides"])
    of_several = f" for {several} right-hand sides" if several > 1 else ""
    method = text.spoken_method(solve["method"]) + preconditioner(data)
    system = f"{matrix['source']} ({common.matrix_phrase(matrix)}){of_several}"
    effort = f"{text.counted(solve['iterations'], 'iteration')} and {text.seconds(times_s['setup'] + times_s['solve'])}"
    where = f"on {common.placement(data['machine'])}"
    if solve["converged"]:
        found = "" if data["findings"] else " Nothing was found that stands in the way of a faster one."
        return f"{method} solved {system} in {effort} {where}.{found}"
    return f"{method} did not solve {system}: after {effort} {where} it had {OUTCOMES.get(solve['outcome'], text.words(solve['outcome']))}."


OUTCOMES = {
    "max_iterations": "reached the limit of iterations",
    "stagnated": "stagnated",
    "diverged": "diverged",
    "indefinite_matrix": "met an indefinite matrix",
    "indefinite_preconditioner": "met an indefinite preconditioner",
    "inconsistent": "found that there is no solution",
    "not_finite": "met a number that is not finite",
    "breakdown": "broken down",
    "interrupted": "been interrupted",
}


def facts(data):
    solve, times_s = data["solve"], data["times_s"]
    found = [
        Fact(
            text.count(solve["iterations"]),
            "iterations",
            f"average factor {text.factor(solve['average_convergence_factor'])}",
        ),
        Fact(text.seconds(times_s["setup"]), "setup", f"reading {text.seconds(times_s['read'])}"),
        Fact(text.seconds(times_s["solve"]), "solve", per_iteration(data)),
        Fact(
            text.power(solve["true_relative_residual"]), "relative residual", f"asked for {text.power(solve['target'])}"
        ),
        Fact(
            text.size(data["memory_bytes"]["peak_resident_max"]),
            "memory of a rank",
            f"{text.size(data['memory_bytes']['peak_resident_sum'])} on all",
        ),
    ]
    return found


def per_iteration(data):
    iterations = data["solve"]["iterations"]
    return f"{text.seconds(data['times_s']['solve'] / iterations)} an iteration" if iterations else ""


def attempt_text(attempt):
    """A preset that did not do, as the command line says it."""
    why = text.words(attempt["why_given_up"])
    if attempt["method"] is None:
        return f"Preset {attempt['preset']}: {attempt['why_given_up']}"
    return (
        f"{text.spoken_method(attempt['method'])} with preset {attempt['preset']} gave up ({why}) at a residual of "
        f"{text.power(attempt['true_relative_residual'])}, after {text.counted(attempt['iterations'], 'iteration')}"
    )


def findings_section(data):
    """What stands in the way, before anything else."""
    notices = []
    solve = data["solve"]
    if solve["diagnosis"]:
        notices.append(("Why it ended", solve["diagnosis"], ""))
    notices += [("Tried before", attempt_text(attempt), "") for attempt in data.get("attempts", [])]
    for finding in data["findings"]:
        notices.append((text.words(finding["kind"]).capitalize(), finding["text"], finding["advice"]))
    for idle in data["idle_options"]:
        notices.append(("Without effect", f"--{idle['option']} had no effect", f"It needs {idle['needs']}."))
    return Section("Findings", [Notices(notices)]) if notices else None


def everything_section(data):
    tables = [common.options_table(data["options"])]
    several = data["solve"]["right_hand_sides"]
    if len(several) > 1:
        rows = [
            [
                str(k + 1),
                text.words(s["outcome"]),
                text.count(s["iterations"]),
                text.power(s["true_relative_residual"]),
                text.factor(s["average_convergence_factor"]),
            ]
            for k, s in enumerate(several)
        ]
        tables.insert(
            0,
            Table(
                ["", "Outcome", "Iterations", "Relative residual", "Factor"],
                rows,
                title="Every right-hand side",
                numeric=(2, 3, 4),
            ),
        )
    return Section("Options", tables)
