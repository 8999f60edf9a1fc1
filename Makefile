# Everything sets itself up: a machine with Python 3.11 or later, make and git is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: quickstart test browser lint format bench bench-quick bench-explain bench-gradient bench-ray scale samples results pictures clean \
	torture torture-quick fuzz strangers hashes vulnerabilities dist installed

# The virtual environment, with exactly the files of requirements.txt, which pip checks by their hashes; made anew only when
# these files change. torch comes by its exact number, from wherever this machine has it; what it needs is there already.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(READY): pyproject.toml constraints.txt requirements.txt
	$(PYTHON) -c 'import sys; sys.exit("genspp needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps -r requirements.txt
	$(PIP) -c constraints.txt torch==2.13.0
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --disable-pip-version-check
	touch $(READY)

quickstart: $(READY)
	$(BIN)/genspp train toy --preset paper --seed 1 --out runs/quickstart --force

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# What the tests of pages in a real browser need, which are skipped without: Debian's Chromium.
browser: $(READY)
	command -v chromium || { apt-get update -qq && apt-get install -y -qq chromium; }

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

# How small samples of real data do beside TF-IDF, into results/samples.json: make samples DATA="texts.csv"; minutes per source.
samples: $(READY)
	$(BIN)/python -m genspp.experiments.samples $(DATA)

# Epochs of every gradient method, and of the same by torch's modules, into results/bench-gradient.json; some four minutes.
bench-gradient: $(READY)
	$(BIN)/python -m genspp.experiments.gradient_bench

# What work on a cluster costs, and how far a search would scale, into results/ray.json; some minutes.
bench-ray: $(READY)
	$(BIN)/python -m genspp.experiments.cluster_bench

# Kills every command at random moments, a hundred times and more, fills its disk and the like, into results/torture.json;
# about half an hour. The quick form, some kills of a few commands, is part of CI. libfaketime turns the clock back, if there is one.
torture: $(READY)
	ls /usr/lib/*/faketime/libfaketime.so.1 || { apt-get update -qq && apt-get install -y -qq libfaketime; } || true
	$(BIN)/python -m genspp.experiments.torture

torture-quick: $(READY)
	$(BIN)/python -m genspp.experiments.torture --quick

# Every reader of files under a fuzzer, MINUTES each, into results/fuzz.json.
MINUTES ?= 10
fuzz: $(READY)
	$(PIP) atheris==3.0.0
	$(BIN)/python -m genspp.experiments.fuzz --minutes $(MINUTES)

# Model folders of a stranger and hostile files, into results/strangers.json; some minutes, and some GB of memory and disk.
strangers: $(READY)
	$(BIN)/python -m genspp.experiments.strangers

# requirements.txt anew, after constraints.txt has changed.
hashes: $(READY)
	$(BIN)/python tools/hashes.py

# Whether anybody knows a hole in one of our packages; asks PyPI.
vulnerabilities:
	test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/pip install --quiet pip-audit; }
	$(VENV)-audit/bin/pip-audit --requirement requirements.txt --disable-pip --require-hashes --strict

# Wheel and source archive, the same bytes from the same files; and the wheel tested where nothing else is, by every Python at hand.
dist: $(READY)
	$(BIN)/python tools/build.py

installed: dist
	$(BIN)/python tools/installed.py

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
