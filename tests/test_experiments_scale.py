"""How long training takes by the size of the data."""

from genspp.experiments.scale import Case, made_texts, measure, scale_table
from genspp.experiments.telling import read_facts


def test_texts_are_as_many_and_as_long_as_asked_and_the_same_each_time():
    case = Case("some", 60, 15, 3)
    texts = made_texts(case)
    assert len(texts) == 60 and {len(text.split()) for text, _ in texts} == {15}
    assert {label for _, label in texts} == {"class 0", "class 1", "class 2"}
    assert texts == made_texts(case) != made_texts(case, seed=1)
    own = sum(f"c{label[-1]}x" in text for text, label in texts)
    assert own > 55


def test_a_case_is_measured(tmp_path):
    found = measure(Case("few", 30, 8, 2), tmp_path)
    assert found["seconds"] > 0 and found["peak_memory_mb"] > 50 and 0 <= found["clf_f1"] <= 1
    content = {"cases": [found], "cores": 2, "machine": {"cpu": "a cpu"}}
    shown = scale_table(content).to_markdown()
    assert "| few " in shown and "a cpu" in shown


def test_what_was_not_measured_is_no_table(tmp_path):
    assert scale_table(read_facts(tmp_path / "scale.json")) is None
