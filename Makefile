# Three commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo          set up, publish a built-in table, estimate from the release, show it
#   make test          set up, then lint, types, layers and all tests, with the newest versions of all dependencies
#   make test-oldest   the tests where versions matter, in an environment of its own with the oldest versions
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(LDIVERSITY_DATA)
CHECK_VERSION := -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'

# The oldest versions are those that pyproject.toml names, on the oldest Python; PYTHON=... chooses another Python.
OLDEST := .venv-oldest
OLDEST_PYTHON = $(if $(filter python3,$(PYTHON)),$(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3),$(PYTHON))
# Not papers and statistical: they test mathematics, take long, and are run with the newest versions.
OLDEST_TESTS := tests/unit tests/contract tests/property tests/e2e tests/papers_gallery src papers

.PHONY: demo test test-oldest lint types layers unit setup bench docs picture gallery clean

demo: setup
	$(BIN)/ldiversity demo --folder demo-output

test: setup lint types layers unit

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) $(CHECK_VERSION)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

unit: setup
	$(BIN)/pytest -n auto

# Compiled loops are kept apart: each version of numba discards those of another.
test-oldest: $(OLDEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/pytest -n auto $(OLDEST_TESTS)

$(OLDEST)/.ready: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) $(CHECK_VERSION)
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/oldest_versions.py test > $(OLDEST)/versions.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/versions.txt --editable '.[test]'
	touch $@

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

picture: setup
	$(BIN)/python docs/pictures/make.py

# Runs the papers' evaluations in full and writes docs/gallery. Needs the public tables (LDIVERSITY_DATA).
gallery: setup
	$(BIN)/python -m papers all -o docs/gallery --overwrite

clean:
	rm -rf $(VENV) $(OLDEST) demo-output .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
