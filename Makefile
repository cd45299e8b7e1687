# Every target sets up what it needs; PYTHON may name any Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is kept, whatever the shell says: many test processes import the same modules.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install test test-slow test-abuse test-oldest test-newest test-data test-gpu demo paper bench docs links dist format clean

install: .venv/installed

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "deplda needs Python 3.11 or newer; run: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@

# Kernels are compiled once for all test processes, while lint, types and lengths are checked; BASE=main shows how the
# lengths differ from a git revision.
test: install
	@$(BIN)/python -m tests.warm sampled & sampled=$$!; \
	$(BIN)/python -m tests.warm expected & expected=$$!; \
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m tools.lines $(BASE) \
	  || { kill $$sampled $$expected; exit 1; }; \
	wait $$sampled && wait $$expected
	$(BIN)/pytest -n 2 --dist loadfile

# What takes long: crashes of workers, Geweke's test, proofs that find deliberate mistakes.
test-slow: install
	$(BIN)/pytest -n 2 --dist loadfile -m 'slow and not data'

# Kills, mutated files, crowds, full disks, as often as the threat model says.
test-abuse: install
	$(BIN)/pytest --abuse -m '' --timeout 7200 tests/abuse

# Other versions of what deplda needs, in an environment of their own, $(1), with options of pip, $(2):
# the tests of every room run there, but for those that take a browser or Schemathesis.
ROOMS := data evaluation engine kernels training inference models comparison web cli
define test-in
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile $(2) \
	  --editable '.[test]'
	$(1)/bin/python -m pip list --disable-pip-version-check
	NUMBA_CACHE_DIR=$(CURDIR)/$(1)/kernels $(1)/bin/pytest -n 2 --dist loadfile \
	  --ignore tests/web/test_page.py --ignore tests/web/test_openapi.py \
	  $(addprefix tests/,$(ROOMS))
endef

# The oldest Python and the oldest versions that pyproject.toml allows.
test-oldest: PYTHON = python3.11
test-oldest:
	$(PYTHON) -m venv --clear .venv-oldest
	$(PYTHON) -m tests.oldest > .venv-oldest/oldest.txt
	$(call test-in,.venv-oldest,--constraint .venv-oldest/oldest.txt)

# The newest versions that there are for a Python: make test-newest PYTHON=python3.13
test-newest:
	$(PYTHON) -m venv --clear .venv-newest
	$(call test-in,.venv-newest)

# Needs a folder of real data sets: make test-data DATA_DIR=...
test-data: install
	$(BIN)/pytest -m data --data-dir=$(DATA_DIR) tests paper/tests

# Needs a CUDA GPU and the CuPy of its CUDA: make test-gpu CUPY=cupy-cuda13x for another CUDA than 12
CUPY ?= 'cupy-cuda12x[ctk]'
test-gpu: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CUPY)
	$(BIN)/pytest -m 'gpu and not data' tests

# Seven models compared on generated news, then a test document of it, explained by the hybrid.
demo: install
	@$(BIN)/deplda compare newsroom --models all -o demo
	@$(BIN)/deplda train newsroom -o demo/model --force
	@$(BIN)/deplda datasets convert newsroom demo/newsroom.jsonl --force
	@$(BIN)/deplda explain demo/model demo/newsroom.jsonl --pick 20 -k 3 --html demo/explained.html --force

# The quick form of the reproduction; paper/README.md has the long one.
paper: install
	@$(BIN)/python -m paper run newsroom -o paper-results/newsroom --budget quick
	@$(BIN)/python -m paper report paper-results/newsroom -o paper-results/newsroom.html --force

# One table against other libraries, into docs/benchmarks.md; DATA_DIR=... for real data.
bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks --write $(if $(DATA_DIR),--data-dir $(DATA_DIR))

# The site, into docs/_build/html; a warning is an error.
docs: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

# Whether the addresses that the pages name answer; needs a network.
links: docs
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

# Wheel and sdist, into dist/: checked, and the quickstart run with the wheel alone in those of these Pythons that are
# here. TAG=v1.2.3 is compared with the version.
PYTHONS ?= python3.11 python3.12 python3.13
dist: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	$(BIN)/python -m tests.dist $(if $(TAG),--tag $(TAG)) $(PYTHONS)

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-oldest .venv-newest .mypy_cache .pytest_cache .ruff_cache .hypothesis dist demo paper-results docs/_build docs/examples docs/reference/generated
