"""How training went, as small curves: one panel per figure of the log, each from zero."""

from typing import Any

WIDTH, HEIGHT = 300, 100
# What a log may hold, and what it is; each kind of method logs some of these. The first are numbers, the others shares.
_NUMBERS = {"best_fitness": "fitness of the best", "cost": "cost", "val_loss": "validation loss"}
_SHARES = {
    "selection_rate": "words selected, as much as they count",
    "sufficiency": "told by the highlight, of what the full text tells",
    "left_over": "told by the rest to an adversary",
}


def panels(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a panel for every figure that was logged twice or more, its points in `WIDTH` times `HEIGHT`."""
    numbers = [_panel(log, title, (key,)) for key, title in _NUMBERS.items()]
    shares = [_panel(log, title, (f"best_{key}", key), share=True) for key, title in _SHARES.items()]
    return [panel for panel in numbers + shares if panel is not None]


def _panel(log: list[dict[str, Any]], title: str, keys: tuple[str, ...], share: bool = False) -> dict[str, Any] | None:
    found = [(step, line[key]) for step, line in enumerate(log) for key in keys if line.get(key) is not None]
    if len(found) < 2:
        return None
    # A predictor that is worse than chance has been told nothing: no share is less.
    values = [(step, max(0.0, value) if share else float(value)) for step, value in found]
    low, high = (bound(0.0, *(value for _, value in values)) for bound in (min, max))
    steps, span = len(log) - 1, (high - low) or 1.0
    points = ((WIDTH * step / steps, HEIGHT - HEIGHT * (value - low) / span) for step, value in values)

    def written(value: float) -> str:
        return f"{100 * value:.1f} %" if share else f"{value:.3g}"

    return {
        "title": title,
        "step": next(iter(log[0])),
        "steps": steps,
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        "low": written(low),
        "high": written(high),
        "last": written(values[-1][1]),
    }
