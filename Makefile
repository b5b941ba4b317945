# Run `make` for a list of what there is. Paths are relative, so that the checkout may have a blank in its name.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed

export PYTHONPATH := .
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install demo demo-down test unit contracts dags integration scenarios soak runbooks lint up down status reset reference pins clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(STAMP): requirements.txt pyproject.toml demo/machine.py
	@"$(PYTHON)" demo/machine.py
	"$(PYTHON)" -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $(STAMP)

install: $(STAMP) ## Make the virtual environment .venv with all that is needed

demo: $(STAMP) ## Replicate a real database between two real clusters, with Airflow; leaves them running
	$(RUN) -m demo run

demo-down: $(STAMP) ## Stop what `make demo` left running; what it stored stays
	$(RUN) -m demo down

test: $(STAMP) lint ## Run all tests: unit, contracts, dags, integration, scenarios
	$(RUN) -m pytest tests

unit contracts dags integration scenarios: $(STAMP) ## Run one group of tests
	$(RUN) -m pytest tests/$@

soak: $(STAMP) ## Replicate SEEDS (200) random histories between real clusters, with kills, and check each state
	$(RUN) -m tests.checker.soak $(or $(SEEDS),200) $(or $(FIRST),0)

runbooks: $(STAMP) ## Follow every section of docs/runbooks.md in a running Airflow; takes a quarter of an hour
	$(RUN) -m pytest -m runbook tests/integration

lint: $(STAMP) ## Check style, layers and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

up down status reset: $(STAMP) ## Start, stop, show, delete the two clusters of the sandbox
	$(RUN) -m sandbox $@

reference: $(STAMP) ## Write the parts of docs/ that are made from the code
	$(RUN) -m twinhive.reference docs

pins: ## Resolve requirements.in to requirements.txt again (needs uv)
	uv pip compile --quiet --python-version 3.11 --no-header requirements.in -o requirements.txt

clean: ## Remove the virtual environment
	rm -rf $(VENV)
