"""Sweeps of sparsity: curves over R, who is ahead where methods select as much, the table and the figure."""

import json
from pathlib import Path

import pytest

from experiment_tools import TEXTS, made_run, write_posts
from genspp.data.sources import load_source
from genspp.evaluation.metrics import hl_f1, selection_rate
from genspp.evaluation.references import random_tokens
from genspp.experiments import page
from genspp.experiments.board import Board
from genspp.experiments.findings import NOT_RUN
from genspp.experiments.highlight_curves import Curve, Point, method_curves, untrained_curves
from genspp.experiments.sparsity import levels, settings_of, variant_of
from genspp.experiments.sparsity_tables import alpha_table, draw_sweep, figure_name, matched_sentences
from genspp.experiments.untrained import RATES, read_untrained, untrained_file, write_untrained
from genspp.files import write_json

ROOT = Path(__file__).resolve().parents[1]


def swept(method: str, variant: str, hits: int, rate: float, seed: int = 1, **changes):
    """Return a run of a sweep that selects a share of the tokens. hits: of 16, as `made_run` has."""
    where = {"variant": variant, "benchmark": "alpha"} if variant else {}
    return made_run(method, seed, hits=hits, selection_rate=rate, **where, **changes)


@pytest.fixture
def board():
    """FR's curve goes from 25 % to 75 % of Hl-F1 between R = 0.1 and 0.2, GenSPP has 50 % at 0.15; MCD one point."""
    fr = [swept("fr", "alpha=0.10", 4, 0.1), swept("fr", "", 12, 0.2)]
    ours = [
        swept("genspp", "", 8, 0.15),
        swept("genspp", "weight=2.00", 14, 0.3),
        swept("genspp", "weight=0.25", 2, 0.05),
    ]
    return Board([*fr, *ours, swept("mcd", "", 16, 0.15)])


UNTRAINED = {
    "gold_rate": 0.25,
    "word_list": {"selection_rate": [0.1, 0.25], "precision": [0.6, 0.4], "recall": [0.2, 0.3], "hl_f1": [0.3, 0.35]},
    "random": {"selection_rate": [0.1, 0.4], "precision": [0.2, 0.2], "recall": [0.1, 0.4], "hl_f1": [0.1, 0.2]},
}


# ---- which runs


def test_levels_are_the_paper_s_and_ours():
    assert levels("toy") == [0.10, 0.15, 0.20]
    assert levels("hatexplain") == [0.10, 0.16, 0.22, 0.28]
    assert levels("files") == [] and list(settings_of("fr", "files", "sound")) == []
    assert (variant_of(0.22, "hatexplain"), variant_of(0.15, "toy"), variant_of(0.1, "toy")) == ("", "", "alpha=0.10")
    assert list(settings_of("wordlist", "toy", "sound")) == []


# ---- curves


def test_a_curve_is_straight_between_its_points_and_ends_with_them():
    curve = Curve("x", [Point("a", 0.1, 0, 0, 0.2), Point("b", 0.2, 0, 0, 0.4)])
    assert curve.at(0.125) == pytest.approx(0.25)
    assert (curve.at(0.1), curve.at(0.2)) == pytest.approx((0.2, 0.4))
    assert curve.at(0.09) is curve.at(0.21) is None
    assert Curve("x", []).at(0.1) is Curve("x", []).nearest(0.1) is curve.nearest(0.3) is None
    assert (curve.nearest(0.14), curve.nearest(0.16)) == (0.2, 0.4)


def test_points_are_means_over_runs(board):
    more = Board([*board.results, swept("fr", "", 8, 0.24, seed=2)])
    curves = method_curves(more, "hatexplain", "sound")
    assert list(curves) == ["genspp", "fr", "mcd"]
    last = curves["fr"].points[-1]
    assert (last.setting, last.rate, last.hl_f1) == ("", pytest.approx(0.22), pytest.approx(10 / TEXTS))
    assert (last.precision, last.recall) == pytest.approx((10 / TEXTS, 10 / TEXTS))
    assert [point.setting for point in curves["genspp"].points] == ["weight=0.25", "", "weight=2.00"]


def test_runs_without_gold_have_no_curve(board):
    for run in board.results:
        run.content["metrics"]["hl_f1"] = None
    assert method_curves(board, "hatexplain", "sound") == {}


# ---- who is ahead


def test_methods_are_compared_where_genspp_is(board, tmp_path):
    write_json(tmp_path / untrained_file("hatexplain", "sound"), UNTRAINED)
    least, own, most = matched_sentences(board, tmp_path, "hatexplain", "sound")
    assert least == (
        "R = 5.0 % (GenSPP, weight = 0.25): no other method's curve passes there; GenSPP has an Hl-F1 of 12.5."
    )
    assert own == (
        "R = 15.0 % (GenSPP): GenSPP has an Hl-F1 of 50.0, behind MCD (100.0); 2 other curves pass there; "
        "word list of any length 30.0, random tokens 10.0."
    )
    assert most.startswith("R = 30.0 % (GenSPP, weight = 2.00): no other method's curve passes there")


def test_who_is_ahead_follows_the_results(tmp_path):
    fr = [swept("fr", "alpha=0.10", 2, 0.1), swept("fr", "", 4, 0.2)]
    found = matched_sentences(Board([*fr, swept("genspp", "", 8, 0.15)]), tmp_path, "hatexplain", "sound")
    assert found == [
        "R = 15.0 % (GenSPP): GenSPP has the best Hl-F1, 50.0, before FR with 18.8, the only other curve that passes "
        "there."
    ]


def test_without_a_sweep_nothing_is_said(board, tmp_path):
    assert matched_sentences(board, tmp_path, "toy", "sound") == [NOT_RUN]
    main = Board([run for run in board.results if not run.variant])
    assert matched_sentences(main, tmp_path, "hatexplain", "sound") == [NOT_RUN]
    assert alpha_table(main, "hatexplain", "sound") is None


def test_the_table_has_genspp_at_matched_r(board):
    table = alpha_table(board, "hatexplain", "sound")
    at = [f"{column.group}: {column.name}" for column in table.columns].index("Hl-F1 at this R: GenSPP")
    rows = {row.name: row.cells for row in table.rows}
    assert rows["FR, α = 0.10"][2].mean == 25
    assert rows["FR, α = 0.10"][at].mean == pytest.approx(100 * (2 + 6 * 0.5) / TEXTS)  # halfway from 0.05 to 0.15
    assert rows["FR, α = 0.10"][3].mean == 22.52  # the paper's
    assert rows["FR, α = 0.22"][at].mean == pytest.approx(100 * (8 + 6 / 3) / TEXTS)
    assert rows["MGR, α = 0.28"][2] is rows["MGR, α = 0.28"][at] is None
    assert list(rows)[-3:] == ["GenSPP", "GenSPP, weight = 0.25", "GenSPP, weight = 2.00"]
    assert rows["GenSPP"][at] is None
    assert "signed-rank form" in table.to_markdown()  # what the star of the published GenSPP row means


def test_word_list_and_random_tokens_stand_beside_the_rows():
    beside = {"wordlist_hl_f1": 0.418, "random_hl_f1": 0.125}
    table = alpha_table(Board([swept("fr", "alpha=0.10", 4, 0.1, beside=beside)]), "hatexplain", "sound")
    cells = next(row.cells for row in table.rows if row.name == "FR, α = 0.10")
    assert [cell.mean for cell in cells[-3:]] == pytest.approx([41.8, 12.5, 1])


# ---- what is not trained


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sparsity")
    source = f"hatexplain:{write_posts(folder / 'posts')}"
    path = folder / untrained_file("hatexplain", "sound")
    write_untrained(path, source, "sound", load_source(source))
    return folder, source, path


def test_word_lists_and_random_tokens_of_every_length(posts):
    folder, source, path = posts
    found = read_untrained(folder, "hatexplain", "sound")
    test = load_source(source).test
    lengths = [len(document.tokens) for document in test]
    masks = random_tokens(lengths, RATES[20], 1)
    place = found["random"]["selection_rate"].index(round(selection_rate(masks), 6))
    assert found["random"]["hl_f1"][place] == pytest.approx(hl_f1(masks, test.highlights), abs=1e-6)
    # In every toxic post one word decides, and it is gold; evidence for the others is not wanted under this preset.
    assert max(found["word_list"]["hl_f1"]) > 0.9 > max(found["random"]["hl_f1"])
    assert found["gold_rate"] == pytest.approx(1 / 12)
    for curve in untrained_curves(found).values():
        rates = [point.rate for point in curve.points]
        assert rates == sorted(set(rates)) and len(rates) > 3
    content = path.read_text()
    assert str(folder) not in content and "hatexplain:FOLDER" in content
    assert not any(word in content for document in test for word in document.tokens if len(word) > 3)


def test_it_is_the_same_every_time(posts, tmp_path):
    _, source, path = posts
    write_untrained(tmp_path / "again.json", source, "sound", load_source(source))
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


# ---- the figure and the page


def test_the_figure_works_with_what_there_is(board, tmp_path):
    assert draw_sweep(board, tmp_path / "figures") == []  # nothing that needs no training was measured yet
    write_json(tmp_path / untrained_file("hatexplain", "sound"), UNTRAINED)
    for runs in (board.results, board.results[2:3], board.results[:1]):
        drawn = draw_sweep(Board(runs), tmp_path / "figures")
        expected = any(run.benchmark == "table1" for run in runs)
        assert [path.stem for path in drawn] == ([figure_name("hatexplain", "sound")] if expected else [])
        assert all(path.stat().st_size > 10_000 for path in drawn)


def test_the_page_has_it(board, tmp_path):
    template = ROOT / "docs/results/sparsity.template.md"
    empty = page.render_page(template, tmp_path)
    assert "*Not drawn yet: `genspp benchmark alpha --data hatexplain:FOLDER --preset sound`.*" in empty
    assert empty.count("- Not run yet.") == 4
    write_json(tmp_path / untrained_file("hatexplain", "sound"), UNTRAINED)
    text = page.render_page(template, tmp_path, board)
    assert "](../../results/figures/sparsity-hatexplain-sound.png)" in text
    assert "- R = 15.0 % (GenSPP): GenSPP has an Hl-F1 of 50.0, behind MCD (100.0)" in text
