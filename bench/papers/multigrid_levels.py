"""What node-aware messages gain in the operations of multigrid by level: table, statement and plot."""

from study import plain_log
from multigrid import OPERATIONS, gain


def first_to_gain(levels):
    """The finest level on which products over three steps are quicker than direct ones."""
    return next((k for k, level in enumerate(levels[:-1]) if (gain(level, "product") or 0) > 1), None)


def table_of(levels):
    return [[k, level["rows"], level["product"]["direct"]["max_messages_off_node"],
             level["product"]["three_step"]["max_messages_off_node"],
             *["" if (g := gain(level, name)) is None else g for name in OPERATIONS],
             "" if (g := gain(level, "product", "two_step")) is None else g] for k, level in enumerate(levels[:-1])]


def show_levels(study, name, figure, ranks, levels):
    study.table(f"{name} ({levels[0]['rows']:,} rows on {ranks:,} processes; figure {figure}): the direct messages' time by that "
                "of three steps",
                ["level", "rows", "A x: most messages between nodes, direct", "three steps", *OPERATIONS.values(),
                 "A x, two steps"], table_of(levels))


def judge_levels(study, name, figure, levels, paper_level):
    gains = [gain(level, "product") for level in levels[:-1]]
    first = first_to_gain(levels)
    best = max((g, k) for k, g in enumerate(gains) if g is not None)
    study.judge(f"{name} (figure {figure}): node-aware messages gain from level {paper_level} on, not on finer ones",
                first is not None and abs(first - paper_level) <= 1 and (gains[0] or 0) <= 1.05,
                f"A x gains from level {first} on, most on level {best[1]}: {best[0]:.1f} times; level 0: {gains[0]:.2f}",
                part=first is not None and best[0] > 1.5)


def draw_levels(axes, found):
    """Of levels by name, an axis each."""
    for axis, (name, levels) in zip(axes, found.items()):
        for operation, label in OPERATIONS.items():
            points = [(k, g) for k, level in enumerate(levels[:-1]) if (g := gain(level, operation)) is not None]
            if points:
                axis.plot(*zip(*points), marker="o", markersize=3, label=label)
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set(title=name, xlabel="level", xticks=range(len(levels) - 1))
        plain_log(axis)
    axes[0].set_ylabel("direct / three steps")
    axes[len(found) - 1].legend(fontsize=7, bbox_to_anchor=(1.02, 1), loc="upper left")
