# Everything sets itself up: a machine with Python 3.11 or later, make and git is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: quickstart test browser lint format bench bench-quick bench-explain bench-gradient bench-ray scale results pictures clean

# The virtual environment, with exactly the versions of constraints.txt; made anew only when these files change.
# torch goes first and by its exact number, so that nothing else decides on it.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("genspp needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

quickstart: $(READY)
	$(BIN)/genspp train toy --preset paper --seed 1 --out runs/quickstart --force

test: $(READY)
	$(BIN)/python -m pytest -n 2

# What the tests of pages in a real browser need, which are skipped without: Debian's Chromium, and a package that drives it.
browser: $(READY)
	command -v chromium || { apt-get update -qq && apt-get install -y -qq chromium; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Both population engines on one table, and into results/bench.json; about fifteen minutes. The quick form does the ratios only.
# Both also time `genspp explain`; bench-explain does that alone, in some seconds, into the same file.
bench: $(READY)
	$(BIN)/python -m genspp.experiments.population_bench

bench-quick: $(READY)
	$(BIN)/python -m genspp.experiments.population_bench --quick

bench-explain: $(READY)
	$(BIN)/python -m genspp.experiments.explain_bench

# How long training takes, by rows, tokens and classes, into results/scale.json; about twenty minutes on two idle cores.
scale: $(READY)
	$(BIN)/python -m genspp.experiments.scale

# Epochs of every gradient method, and of the same by torch's modules, into results/bench-gradient.json; some four minutes.
bench-gradient: $(READY)
	$(BIN)/python -m genspp.experiments.gradient_bench

# What work on a cluster costs, and how far a search would scale, into results/ray.json; some ten minutes.
bench-ray: $(READY)
	$(BIN)/python -m genspp.experiments.cluster_bench

# All pages of docs/ that have a template, with their tables and figures, from results/.
results: $(READY)
	$(BIN)/python -m genspp.experiments.page

# The pictures in README.md and docs/guide.md, from what the guide types; `make browser` installs what they need.
pictures: browser
	$(BIN)/genspp train examples/messages.csv --text message --label topic --out runs/messages --force
	$(BIN)/genspp audit runs/messages
	$(BIN)/genspp report runs/messages
	$(BIN)/python docs/make_pictures.py runs/messages

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build src/*.egg-info
