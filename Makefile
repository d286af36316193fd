# Everything runs in .venv, which each target makes when it is not there.
# Needed beforehand: python3 (3.11 or later) and make.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench quality crashes docs clean
.DEFAULT_GOAL := demo

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Memlane needs Python 3.11 or later; name one with: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.dev: .venv/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

.venv/.local: .venv/.dev  # llama.cpp: a build of 5 to 11 minutes, once for all that share pip's cache
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

demo: .venv/.installed  ## index the sample workspace and ask it six questions
	@$(BIN)/python examples/demo.py

test: .venv/.dev  ## the whole test suite
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: .venv/.dev  ## style, types, and the arrows between the rooms
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: .venv/.dev  ## the figures of benchmarks/speed
	@$(BIN)/python -m benchmarks.speed $(ARGS)

quality: .venv/.dev  ## the quick round of benchmarks/quality; MEMLANE_EVAL names the data
	@test -n "$$MEMLANE_EVAL" || { echo 'make quality needs MEMLANE_EVAL=FOLDER, the folder with the data sets' >&2; exit 2; }
	@$(BIN)/python -m benchmarks.quality --quick $(ARGS)

crashes: .venv/.dev  ## kill it 200 times while it writes, and look at what is left
	@$(BIN)/python -m benchmarks.crashes $(ARGS)

docs: .venv/.dev  ## rewrite the generated reference pages
	@$(BIN)/python docs/generate.py $(ARGS)

clean:
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
