# `make run` plays the main job, `make test` runs everything that needs no GPU. Both set themselves up.
VENV := .venv
BIN := $(VENV)/bin
TORCH := 2.13.0
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## system packages (apt, if root) and .venv, idempotent
	@scripts/system-packages.sh

$(VENV)/.ready: pyproject.toml requirements.lock
	@scripts/system-packages.sh
	python3 -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check torch==$(TORCH)
	$(BIN)/pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

run: setup  ## the main job on a real Slurm with stand-in GPUs (under 4 minutes)
	@$(BIN)/greenroom lab story

test: setup  ## every test that needs no GPU
	$(BIN)/pytest

test-fast: setup  ## the tests without a real Slurm
	$(BIN)/pytest -m "not slurm and not slow"

campaign: setup  ## long runs: many seeds, many kills
	GREENROOM_HYPOTHESIS=campaign GREENROOM_ROUNDS=100 $(BIN)/pytest --timeout=3600 tests/unit/policy tests/integration

lint: setup  ## ruff, format, mypy --strict, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup  ## figures, printed as tables
	$(BIN)/python bench/storm.py
	$(BIN)/python bench/start.py
	$(BIN)/python bench/prolog.py
	$(BIN)/python bench/parsers.py
	$(BIN)/python bench/quick.py

docs: setup  ## pages made from the code
	$(BIN)/greenroom checks --docs docs/checks
	$(BIN)/python -m greenroom.faults.docs docs/faults
	$(BIN)/python tests/proof/matrix.py
	$(BIN)/python -m greenroom.controller.config_reference > docs/reference/configuration.md

lock: setup  ## pin the dependencies anew (needs uv)
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 \
	  --extra controller --extra amd --group dev pyproject.toml -o requirements.lock

clean:  ## forget the venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache

.PHONY: help setup run test test-fast campaign lint bench docs lock clean
