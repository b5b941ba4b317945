# Run `make` for a list of what there is. Paths are relative, so that the checkout may have a blank in its name.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PINS := requirements-build.txt requirements-runtime.txt requirements-test.txt
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Each file that is installed has one of the hashes beside its pin; what builds the few sources is installed first, so that
# nothing is fetched for a build without one.
INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check

export PYTHONPATH := .
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install demo tour demo-down test thorough unit contracts dags integration scenarios soak runbooks nightly style lint up down status reset reference pins clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(STAMP): $(PINS) requirements.txt pyproject.toml demo/machine.py
	@"$(PYTHON)" demo/machine.py
	"$(PYTHON)" -m venv $(VENV)
	$(INSTALL) --require-hashes -r requirements-build.txt
	$(INSTALL) --require-hashes --no-build-isolation -r requirements.txt
	$(INSTALL) --no-build-isolation --no-deps -e .
	@touch $(STAMP)

install: $(STAMP) ## Make the virtual environment .venv with all that is needed

demo: $(STAMP) ## Replicate a real database between two real clusters, with Airflow; leaves them running
	$(RUN) -m demo run

tour: $(STAMP) ## After `make demo`: what else there is, each command shown before it is run
	$(RUN) -m demo.tour

demo-down: $(STAMP) ## Stop what `make demo` left running; what it stored stays
	$(RUN) -m demo down

test: $(STAMP) style ## Check style, layers and types, and run the tests: unit, contracts, dags, integration, scenarios
	$(RUN) -m tests.lanes

thorough: $(STAMP) ## Run the longer tests of the same groups; with `make test`, what a change must pass before it lands
	$(RUN) -m tests.lanes -m "thorough and not nightly and not runbook"

unit contracts dags integration scenarios: $(STAMP) ## Run one group of tests
	$(RUN) -m pytest tests/$@

soak: $(STAMP) ## Replicate SEEDS (200) random histories between real clusters, with kills, and check each state
	$(RUN) -m tests.checker.soak $(or $(SEEDS),200) $(or $(FIRST),0)

runbooks: $(STAMP) ## Follow every section of docs/runbooks.md in a running Airflow; takes twenty minutes
	$(RUN) -m pytest -m runbook tests/integration

nightly: $(STAMP) ## Run all that is long, or PARTS of it, and print one table; 60 to 90 minutes on two quiet cores
	$(RUN) -m tests.nightly $(PARTS)

style: $(STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

lint: style ## Check style, layers and types
	$(RUN) -m mypy

up down status reset: $(STAMP) ## Start, stop, show, delete the two clusters of the sandbox
	$(RUN) -m sandbox $@

reference: $(STAMP) ## Write the parts of docs/ that are made from the code
	$(RUN) -m twinhive.surfaces.reference docs

pins: ## Resolve requirements*.in to requirements*.txt again, with the hashes of all files of each release (needs uv)
	for pins in $(PINS); do \
	  uv pip compile --quiet --python-version 3.11 --no-header --generate-hashes $${pins%.txt}.in -o $$pins || exit 1; done

clean: ## Remove the virtual environment
	rm -rf $(VENV)
