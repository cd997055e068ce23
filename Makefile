# Three commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo          set up, publish a built-in table, estimate from the release, show it
#   make test          set up, then lint, types, layers and all tests, with the newest versions of all dependencies
#   make test-oldest   the tests where versions matter, in an environment of its own with the oldest versions
#                      (test-oldest-spark: those of Spark)
# And where several versions of Python are installed:
#   make test-python PYTHON=python3.13   the tests that another Python could break, in an environment of its own
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(LDIVERSITY_DATA)
CHECK_VERSION := -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'

# The oldest versions are those that pyproject.toml names, on the oldest Python; PYTHON=... chooses another Python.
COMMA := ,
SPACE := $(subst ,, )
OLDEST := .venv-oldest
OLDEST_EXTRAS := test
IN_OLDEST = NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin
OLDEST_PYTHON = $(if $(filter python3,$(PYTHON)),$(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3),$(PYTHON))
# What is run there reads, writes and computes with each version: every kind of table and file, every command and answer,
# estimates, audits, attacks and pictures, servers and storage, and a publication by each method, whose draws are compared
# with those of other versions. The rest is decided by this project's own code alone, and the newest versions find its faults.
OLDEST_TESTS := $(addprefix tests/unit/,base engines pictures release tables web) \
	$(addprefix tests/contract/test_,$(addsuffix .py,answers engines estimates_on_engines estimators every_command evidence \
		extreme_numbers frame_types grouping_methods pycanon same_draws several_files times without_sensitive_columns)) \
	$(wildcard tests/collection/test_server_*.py tests/collection/test_store_[!k]*.py) tests/property/test_files_give_back.py

# Another Python has an environment of its own, with the newest versions. What could break there: each room by itself, every
# kind of table, file, answer, error and entry, pickling, what is drawn, and each command and example once.
OTHER = .venv-$(notdir $(PYTHON))
PYTHON_TESTS := tests/unit $(addprefix tests/contract/test_,$(addsuffix .py,answers engines estimators every_command evidence \
		extreme_numbers frame_types same_draws secrets several_files times toy_entries toy_mechanism toy_model_and_method \
		without_sensitive_columns)) \
	$(addprefix tests/e2e/test_,$(addsuffix .py,command_line examples one_of_each)) tests/meta/test_imports.py

# One more than there are processors, because tests wait for browsers, databases and other processes now and then.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')

# Most modules of most packages are never imported: those that are get compiled then.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

# Where compiled modules may not be kept, each of the many processes of the tests would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-oldest test-oldest-spark test-python lint types layers unit setup setup-oldest compiled compiled-oldest bench dist docs man sbom picture gallery clean

demo: setup
	$(BIN)/ldiversity demo --folder demo-output

test: setup lint types layers unit

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) $(CHECK_VERSION)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable '.[dev]'
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

# Compiles all loops once, before many processes would do it at the same time, and notes what was compiled for a test.
.kernels.json: $(wildcard src/ldiversity/_kernels/*.py) tests/meta/compile_all.py | setup
	rm -f src/ldiversity/_kernels/__pycache__/*.nb[ci]
	env -u NUMBA_CACHE_DIR $(BIN)/python tests/meta/compile_all.py > $@.part
	mv $@.part $@

unit: setup .kernels.json
	$(BIN)/pytest -n $(WORKERS)

# Compiled loops are kept apart: each version of numba discards those of another.
test-oldest: setup-oldest
	$(IN_OLDEST)/pytest -n $(WORKERS) $(OLDEST_TESTS)

# The tests of Spark with the oldest pyspark, in an environment of their own; they need Java.
test-oldest-spark:
	$(MAKE) test-oldest OLDEST=.venv-oldest-spark OLDEST_EXTRAS='test spark' OLDEST_TESTS=tests/spark

# Before many processes begin: one that compiles all test modules, and the loops for the oldest versions.
compiled: setup
	$(BIN)/pytest --collect-only -qq > $(VENV)/collected.txt

compiled-oldest: setup-oldest
	$(IN_OLDEST)/python tests/meta/compile_all.py > $(OLDEST)/kernels.json
	$(IN_OLDEST)/pytest --collect-only -qq $(OLDEST_TESTS) > $(OLDEST)/collected.txt

setup-oldest: $(OLDEST)/.ready

$(OLDEST)/.ready: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) $(CHECK_VERSION)
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/oldest_versions.py $(OLDEST_EXTRAS) > $(OLDEST)/versions.txt
	$(OLDEST)/bin/python $(INSTALL) --constraint $(OLDEST)/versions.txt --editable '.[$(subst $(SPACE),$(COMMA),$(OLDEST_EXTRAS))]'
	touch $@

test-python: $(OTHER)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(OTHER)/numba $(OTHER)/bin/pytest -n $(WORKERS) $(PYTHON_TESTS)

$(OTHER)/.ready: pyproject.toml
	$(PYTHON) $(CHECK_VERSION)
	$(PYTHON) -m venv --clear $(OTHER)
	$(OTHER)/bin/python $(INSTALL) --editable '.[test]'
	touch $@

bench: setup
	$(BIN)/python $(INSTALL) --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

# The site: docs/_build/index.html
docs: setup
	$(BIN)/python -m sphinx -b html -q -E -W --keep-going docs docs/_build

# Manual pages of all commands: man -l man/ldiversity-anonymize.1
man: setup
	$(BIN)/python tools/man_page.py man

# What a package index gets: dist/*.whl and dist/*.tar.gz. A forge that builds them adds its address (tools/package_metadata.py).
dist: setup
	rm -rf dist
	$(BIN)/hatchling build -d dist

# What is installed with the package, with versions and licences (CycloneDX).
sbom: setup
	$(BIN)/python tools/sbom.py --all-extras > sbom.json

picture: setup
	$(BIN)/python docs/pictures/make.py

# Runs the papers' evaluations in full and writes docs/gallery. Needs the public tables (LDIVERSITY_DATA).
gallery: setup
	$(BIN)/python -m papers all -o docs/gallery --overwrite

clean:
	rm -rf $(VENV) .venv-* .kernels.json demo-output dist man sbom.json docs/_build docs/reference .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
