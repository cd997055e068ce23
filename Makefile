# Two commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo   set up, publish a built-in table, estimate from the release, show it
#   make test   set up, then lint, types, layers and all tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(LDIVERSITY_DATA)

.PHONY: demo test lint types layers unit setup bench docs picture gallery clean

demo: setup
	$(BIN)/ldiversity demo --folder demo-output

test: setup lint types layers unit

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
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

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

picture: setup
	$(BIN)/python docs/pictures/make.py

# The papers' evaluations in full, into docs/gallery; needs the public tables (LDIVERSITY_DATA).
gallery: setup
	$(BIN)/ldiversity reproduce all -o docs/gallery --overwrite

clean:
	rm -rf $(VENV) demo-output .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
