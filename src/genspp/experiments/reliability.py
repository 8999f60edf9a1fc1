"""What docs/reliability.md shows: tables of what was killed, starved, fuzzed and attacked, from result files."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from genspp.experiments.fuzz import FILE as FUZZ
from genspp.experiments.fuzz import FINDS, known_finds

TORTURE, STRANGERS, INSTALLED = "torture.json", "strangers.json", "installed.json"
FILES = {TORTURE: "make torture", FUZZ: "make fuzz", STRANGERS: "make strangers", INSTALLED: "make installed"}
WAYS = MOMENT, OPERATION, CHILD = "at a moment", "before an operation on files", "one run of the grid"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; a cell is one line, whatever is in it."""
    cells = [[" ".join(str(cell).split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def kills_table(content: Mapping[str, Any]) -> str:
    """Return how often every command was killed, and in which way; and what was lost."""
    rows = [
        [name, *(count["kills"].get(way, "") for way in WAYS), count["lives"], len(count["wrong"])]
        for name, count in content["commands"].items()
    ]
    sums = [sum(count["kills"].get(way, 0) for count in content["commands"].values()) for way in WAYS]
    sums += [sum(row[-2] for row in rows), sum(row[-1] for row in rows)]
    header = ["command", *WAYS, "lives", "wrong"]
    return table(header, [*rows, ["**all**", *(f"**{number}**" for number in sums)]])


def kills_sentence(content: Mapping[str, Any]) -> str:
    """Return how much was killed in all, and what went wrong."""
    counts = content["commands"].values()
    kills = sum(sum(count["kills"].values()) for count in counts)
    wrong = sum(len(count["wrong"]) for count in counts)
    lives = sum(count["lives"] for count in counts)
    outcome = f"**{wrong} results were lost or changed**, or left something behind"
    return f"**{kills} kills** in {lives} lives of {len(counts)} commands: {outcome}."


def hardships_table(content: Mapping[str, Any]) -> str:
    """Return what else was done to commands."""
    rows = [[name, found["tried"], len(found["wrong"])] for name, found in sorted(content["hardships"].items())]
    return table(["what", "tried", "wrong"], rows)


def fuzz_table(content: Mapping[str, Any], finds: Sequence[Mapping[str, str]]) -> str:
    """Return how often every reader was run, what was found and what is open."""
    known = Counter(find["reader"] for find in finds)
    rows = [
        [
            name,
            f"{found['seconds'] / 60:.1f}",
            f"{found['executions']:,}",
            found["covered"],
            known[name],
            len(found["open"]),
        ]
        for name, found in content["readers"].items()
    ]
    return table(["reader", "minutes", "executions", "branches seen", "finds, mended", "open"], rows)


def finds_table(finds: Sequence[Mapping[str, str]]) -> str:
    """Return what came out of readers that ought not to have."""
    return table(["reader", "what came out"], [[find["reader"], f"`{find['what']}`"] for find in finds])


def attacks_table(content: Mapping[str, Any]) -> str:
    """Return what was done to a model folder, and what came of it."""
    return table(["attack", "what happened"], [[name, tried["outcome"]] for name, tried in content["attacks"].items()])


def files_table(content: Mapping[str, Any]) -> str:
    """Return the files that were made to fill the memory, and what came of them."""
    rows = [
        [name, f".{tried['ending']}", f"{tried['bytes']:,}", f"{tried['peak_memory_mb']:,.0f}", tried["seconds"],
         tried["outcome"]]
        for name, tried in content["files"].items()
    ]  # fmt: skip
    return table(["file", "kind", "bytes", "peak memory, MB", "seconds", "what was said"], rows)


def installed_table(content: Mapping[str, Any]) -> str:
    """Return the Pythons that the wheel was tested with."""
    rows = [
        [run["python"], run.get("passed", 0), run.get("failed", 0), run.get("skipped", 0)] for run in content["runs"]
    ]
    return table(["Python", "passed", "failed", "skipped"], rows)


def calls(results: Path, read: Any) -> dict[str, Any]:
    """Return what the template may call; what was not run is said to be so. read: reads a file of figures."""
    finds = known_finds(results.parent / FINDS)

    def of(file: str, tell: Any, *more: Any) -> Any:
        def told() -> str:
            content = read(results / file)
            return str(tell(content, *more)) if content else f"*Not run yet: `{FILES[file]}`.*"

        return told

    return {
        "kills": of(TORTURE, kills_table),
        "killed": of(TORTURE, kills_sentence),
        "hardships": of(TORTURE, hardships_table),
        "fuzzed": of(FUZZ, fuzz_table, finds),
        "found": lambda: finds_table(finds),
        "attacks": of(STRANGERS, attacks_table),
        "hostile": of(STRANGERS, files_table),
        "installed": of(INSTALLED, installed_table),
    }
