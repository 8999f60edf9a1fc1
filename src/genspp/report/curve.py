"""How training went, as small curves: one panel per figure of the log."""

from typing import Any

WIDTH, HEIGHT = 300, 100
# What a log may hold, with what it is; each kind of method logs some of these.
_FIGURES = {
    "best_fitness": "fitness of the best",
    "cost": "cost",
    "val_loss": "validation loss",
    "best_selection_rate": "share of the words selected",
    "selection_rate": "share of the words selected",
    "best_sufficiency": "how much of the full text's information the highlight gives",
    "sufficiency": "how much of the full text's information the highlight gives",
    "best_left_over": "how much of it an adversary finds in the rest",
    "left_over": "how much of it an adversary finds in the rest",
}


def panels(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a panel for every figure that changes can be seen of, its points in `WIDTH` times `HEIGHT`."""
    found = []
    for key, title in _FIGURES.items():
        values = [(step, float(line[key])) for step, line in enumerate(log) if line.get(key) is not None]
        if len(values) > 1:
            found.append(
                {"title": title, "step": next(iter(log[0])), "steps": len(log) - 1, **_drawn(values, len(log))}
            )
    return found


def _drawn(values: list[tuple[int, float]], steps: int) -> dict[str, Any]:
    low, high = (bound(value for _, value in values) for bound in (min, max))
    span = (high - low) or 1.0
    points = [(WIDTH * step / (steps - 1), HEIGHT * (high - value) / span) for step, value in values]
    return {
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        "low": f"{low:.3g}",
        "high": f"{high:.3g}",
        "last": f"{values[-1][1]:.3g}",
    }
