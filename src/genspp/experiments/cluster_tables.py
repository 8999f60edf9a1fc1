"""What docs/cluster.md says of results/ray.json: tables, sentences and a figure."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from genspp.experiments.cluster_model import GAIN
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.report.scaling_figure import Panel, scaling_figure
from genspp.report.terminal import duration

FILE = "ray.json"
FIGURE = "ray-scaling"
MISSING = "*Not run yet: `make bench-ray`.*"
_PARTS = {
    "reading": "Reading, words",
    "beginning": "Before the search",
    "search": "Search",
    "final": "Final predictors",
}

Content = Mapping[str, Any]  # of results/ray.json; empty where there is none


def costs_sentence(content: Content) -> str:
    """Say what working on a cluster costs."""
    if not content:
        return MISSING
    found = content["measured"]
    return (
        f"An empty piece of work takes {1e3 * found['round_trip']:.1f} ms there and back, and keeps the machine that "
        f"hands it out busy for {1e3 * found['task']:.2f} ms; a climb takes {mean(found['climb']):.2f} s and an "
        f"evaluation {mean(found['evaluate']):.2f} s ({found['searched']:,} texts of 15 words). A local cluster is "
        f"there after {content['cluster_start']:.0f} s, a new worker has its engine after {found['start']:.0f} s. The "
        f"encoded texts of a search are {found['data'] / 1e6:.1f} MB, and {found['sent'] / 1e3:.0f} kB go there and "
        "back per individual and generation."
    )


def origin_sentence(content: Content) -> str:
    """Say on which machine it was measured, and how busy that was."""
    if not content:
        return ""
    cpu, load = content["machine"]["cpu"], content["load"]
    return (
        f"Measured on {content['measured']['cores']} cores ({cpu}); load {load['before']:.1f} before and "
        f"{load['after']:.1f} after (`make bench-ray`)."
    )


def check_table(content: Content) -> str:
    """Set what was measured beside what the model says of it."""
    if not content:
        return MISSING
    rows = tuple(
        Row(
            f"{row['workers']} workers" if row["workers"] > 1 else "1 worker",
            (
                Cell(row["measured"]),
                Cell(row["stretch"]),
                Cell(row["simulated"]),
                Cell(100 * (row["simulated"] / row["measured"] - 1)),
            ),
        )
        for row in content["checked"]
    )
    columns = (
        *(Column("Measured, s", digits=1), Column("Clock / time computed", digits=2)),
        *(Column("Model, s", digits=1), Column("Difference, %", digits=0)),
    )
    notes = (("", "Workers that outnumber the cores, and other programs, make pieces take longer than they compute."),)
    return ResultTable("A generation of 12 individuals", columns, rows, notes, corner="On").to_markdown().strip()


def stop_sentences(content: Content) -> str:
    """Say where the search stops to scale, and why."""
    if not content:
        return MISSING
    simulated, cores = content["simulated"], content["measured"]["cores"]
    lines = []
    for name, times in simulated["generation"].items():
        population, nodes = int(name), simulated["stops"][name]
        at = simulated["nodes"].index(nodes)
        share = (population * 2 + 1) * content["measured"]["task"] / times[at]
        if population < cores * nodes:
            why = "every individual has a worker already, and a generation is as long as its longest ones"
        elif nodes == simulated["nodes"][-1]:
            why = "no end within 1,000 machines"
        else:
            why = f"handing work out takes {100 * share:.0f} % of the time"
        lines.append(
            f"- Population {population:,}: up to {nodes:,} machine{'s' if nodes > 1 else ''}, "
            f"{times[0] / times[at]:.0f} times as fast as one ({duration(times[at])} per generation): {why}."
        )
    return "\n".join(lines)


def training_table(content: Content) -> str:
    """Show the parts of a training by rows, on one machine and on many."""
    if not content:
        return MISSING
    simulated = content["simulated"]
    wanted = [at for at, rows in enumerate(simulated["rows"]) if rows in (10**4, 10**5, 10**6, 10**7, 10**8)]
    rows = tuple(
        Row(
            f"{simulated['rows'][at]:,} rows, {int(nodes):,} machine{'s' if nodes != '1' else ''}",
            (
                *(duration(times[at][part]) for part in _PARTS),
                duration(sum(times[at].values())),
            ),
        )
        for at in wanted
        for nodes, times in simulated["training"].items()
    )
    columns = (*(Column(name) for name in _PARTS.values()), Column("All"))
    notes = ((
        "",
        f"Population 6, {simulated['generations']} generations, texts of 15 words; machines of "
        f"{content['measured']['cores']} cores like this one, and a gigabit between them.",
    ),)  # fmt: skip
    return ResultTable("A training, foreseen", columns, rows, notes, corner="").to_markdown().strip()


def memory_sentence(content: Content) -> str:
    """Say how many rows a machine can hold."""
    if not content:
        return ""
    held, per_row = content["simulated"]["rows_in_memory"], content["measured"]["memory"]
    return (
        f"Rows take {per_row / 1e3:.1f} kB of memory each on the machine that reads them, so that one of "
        f"{held['gigabytes']} GB holds about {held['rows'] / 1e6:.0f} million short texts; "
        "beyond that, train on a sample: the search would look at no more."
    )


def gain_sentence() -> str:
    """Say what is meant by an end of scaling."""
    return f"twice the machines are not {GAIN:g} times as fast any more"


def draw_scaling(content: Content, folder: Path) -> list[Path]:
    """Draw the curves."""
    if not content:
        return []
    simulated, path = content["simulated"], folder / f"{FIGURE}.png"
    names = {name: f"population {int(name):,}" for name in simulated["generation"]}
    by_nodes = Panel(
        "A generation; a point where it stops scaling",
        "machines",
        "seconds",
        simulated["nodes"],
        {names[name]: times for name, times in simulated["generation"].items()},
        {names[name]: nodes for name, nodes in simulated["stops"].items()},
    )
    by_rows = Panel(
        "A whole training, population 6",
        "rows",
        "hours",
        simulated["rows"],
        {
            f"{int(nodes):,} machine{'s' if nodes != '1' else ''}": [sum(parts.values()) / 3600 for parts in times]
            for nodes, times in simulated["training"].items()
        },
        {},
    )
    scaling_figure(path, f"Simulated, machines of {content['measured']['cores']} cores", [by_nodes, by_rows])
    return [path]
