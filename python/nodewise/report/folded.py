"""Times of a solve as folded stacks: a line for each stack, its frames joined by semicolons, and a number."""


def folded_stacks(data):
    """Microseconds, the mean of the ranks; phase, level, operation, and what the time went into."""
    lines = []
    for phase in ("setup", "solve"):
        for account in data["operations"][phase]:
            level = account["level"]
            frames = [phase, "no level" if level is None else f"level {level}", account["operation"]]
            for kind in ("computing", "communicating"):
                micros = round(1e6 * account["mean_of_the_ranks"][f"{kind}_s"])
                if micros > 0:
                    lines.append(f"{';'.join([*frames, kind])} {micros}")
    return "\n".join(lines) + "\n"
