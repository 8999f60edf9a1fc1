"""What the runs from locked-in starts say, in sentences: how far they were locked in, who got out, and a question."""

from collections.abc import Sequence

import numpy as np

from genspp.experiments.board import Board
from genspp.experiments.escape import LOCKED_IN, Way
from genspp.experiments.findings import NOT_RUN
from genspp.experiments.names import OURS, data_title
from genspp.experiments.skew import BOTH_WAYS, LEVELS
from genspp.experiments.skew_tables import Line, lines


def level_sentences(board: Board, data: str, preset: str, epochs: int) -> str:
    """Say how far the starts of a level are locked in, and who recovers from them, by how much, after how long."""
    found = [(line, line.way) for line in lines(board, data, preset, epochs) if line.way is not None]
    if not found:
        return f"K = {epochs}: {NOT_RUN.lower()}"
    groups: dict[str, list[str]] = {"in all runs": [], "in some": [], "in none": []}
    for line, way in found:
        group = "in all runs" if way.recovered == way.runs else "in some" if way.recovered else "in none"
        groups[group].append(_recovery(line, way))
    parts = [f"Recovered {group}: {'; '.join(names)}." for group, names in groups.items() if names]
    return f"K = {epochs}: {_starts(found)} {' '.join(parts)}"


def _starts(found: Sequence[tuple[Line, Way]]) -> str:
    shares = sorted((way.told, line.name) for line, way in found)
    least, most = (f"{100 * share:.1f} % ({name})" for share, name in (shares[0], shares[-1]))
    locked = [line.name for line, way in found if way.locked_in]
    return (
        f"the first places tell {least} to {most} of the labels at the start; without regard to the words they can "
        f"tell {100 * found[0][1].idle:.1f} %. Locked in, by more than {100 * LOCKED_IN:.0f} points above that: "
        f"{'; '.join(locked) if locked else 'nobody'}."
    )


def _recovery(line: Line, way: Way) -> str:
    part = f" in {way.recovered} of {way.runs} runs" if 0 < way.recovered < way.runs else ""
    unit = "generations" if line.method == OURS else "epochs"
    after = f", first there after {np.mean(way.steps):.0f} {unit}" if way.steps else ""
    return f"{line.name}{part} (Hl-F1 {way.after:.1f}, from a clean start {way.before:.1f}{after})"


def gradient_sentence(board: Board, data: str) -> str:
    """Answer whether a gradient step lets interlocking back in, by GenSPP's runs from starts that are locked in."""
    guided, bare = (_ours(board, data, preset) for preset in ("sound", "paper"))
    if not guided:
        return f"{data_title(data)}: {NOT_RUN.lower()}"
    locked, locked_bare = ([way for way in ways if way.locked_in] for ways in (guided, bare))
    if not locked:
        answer = "undecided, for no start under preset sound was locked in"
    else:
        back, runs = sum(way.recovered for way in locked), sum(way.runs for way in locked)
        answer = "no" if back == runs else "yes" if not back else f"in {runs - back} of {runs} runs"
    said = [_tally("With gradient (preset sound)", locked or guided)]
    if bare:
        said.append(_tally("By crossover and mutation alone (preset paper, both ways)", locked_bare or bare))
    return f"{data_title(data)}: {answer}. {' '.join(said)}"


def _ours(board: Board, data: str, preset: str) -> list[Way]:
    """Return the ways out of all starts of GenSPP with a generator that reads both ways."""
    found = [line for epochs in LEVELS for line in lines(board, data, preset, epochs) if line.method == OURS]
    alike = [line for line in found if preset == "sound" or BOTH_WAYS in line.variant.split()]
    return [line.way for line in alike if line.way is not None]


def _tally(who: str, ways: Sequence[Way]) -> str:
    runs = sum(way.runs for way in ways)

    def mean(name: str) -> float:
        return sum(float(getattr(way, name)) * way.runs for way in ways) / runs

    return (
        f"{who}: {sum(way.recovered for way in ways)} of {runs} runs recover, mean Hl-F1 {mean('after'):.1f} (from a "
        f"clean start {mean('before'):.1f}); the first places tell {100 * mean('told'):.1f} % of the labels at the "
        f"start and {100 * mean('left'):.1f} % in the end (from a clean start {100 * mean('usual'):.1f} %)."
    )
