# Every target sets up what it needs by itself; the second run is quick.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BUILDER ?= docker
# Whatever the machine says: hundreds of processes that each compile what they import cost a tenth of all tests.
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
PY := PYTHONPATH=src $(BIN)/python
LOCAL := $(PY) -m firebolt_local
DEMO_PAGE := build/demo.html
# A third of the time tests wait: two cores carry four processes, each with a control plane of its own. A file stays in
# one of them; tests/support/order.py says which files start together.
PROCESSES ?= 4
SIDE_BY_SIDE := --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder

.PHONY: help setup programs test test-slow test-model test-unit test-api e2e e2e-quick check fmt fmt-check lint types imports run demo demo-simulated demo-clean crds dashboard docs image image-docker gitops lock plugin mutants fuzz campaign campaign-quick bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(VENV)/.installed  ## virtual environment with everything pinned

$(VENV)/.installed: requirements/dev.txt
	@echo "==> virtual environment"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.txt
	@touch $@

programs: setup  ## build all programs that clusters are made of (once; up to ten minutes on two cores)
	@$(LOCAL) build

test: programs  ## tests on a real API server, in minutes; needs no root, runs more as root
	@PYTHONPATH=src $(BIN)/python -m pytest --ignore=tests/e2e --ignore=tests/model -m "not slow" $(SIDE_BY_SIDE)

test-slow: programs  ## the long ones: every crash point, frozen leaders, churn, zero loss; about half an hour
	@PYTHONPATH=src $(BIN)/python -m pytest --ignore=tests/e2e --ignore=tests/model -m slow

test-model: setup  ## the exhaustive search of the engine's states; FIREBOLT_MODEL_STATES=1000000 goes deeper
	@PYTHONPATH=src $(BIN)/python -m pytest tests/model

test-unit: setup  ## only what needs no cluster
	@PYTHONPATH=src $(BIN)/python -m pytest tests/unit

test-api: programs  ## only what needs the API server
	@PYTHONPATH=src $(BIN)/python -m pytest tests/api

e2e: setup  ## everything with real pods on a cluster of its own; needs root; about half an hour
	@FIREBOLT_E2E_INSTALL=yes PYTHONPATH=src $(BIN)/python -m pytest tests/e2e --durations=0 --durations-min=1

e2e-quick: setup  ## the part of it that CI runs; a few minutes
	@FIREBOLT_E2E_INSTALL=yes PYTHONPATH=src $(BIN)/python -m pytest tests/e2e -m quick --durations=0 --durations-min=1

fmt: setup  ## format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

fmt-check: setup
	@echo "==> format" && $(BIN)/ruff format --check --quiet .

lint: setup
	@echo "==> lint" && $(BIN)/ruff check --quiet .

types: setup
	@echo "==> mypy" && $(BIN)/mypy
	@echo "==> pyright" && $(BIN)/pyright --pythonpath $(BIN)/python

imports: setup
	@echo "==> import layers" && PYTHONPATH=src $(BIN)/lint-imports

check: fmt-check lint types imports docs test  ## what CI runs, but for the search and the end-to-end tests

run: setup  ## the operator out of cluster, on the current kubeconfig
	@$(PY) -m firebolt_operator.main run --zap-devel $(ARGS)

demo: setup  ## the operator on a real node, under load, with a picture of it; simulated without root
	@$(LOCAL) demo --page $(DEMO_PAGE) $(ARGS)

demo-simulated: setup  ## the operator on a control plane with simulated pods; needs no root
	@$(LOCAL) demo --simulated

demo-clean: setup  ## remove what the demos left
	@$(LOCAL) demo --clean --page $(DEMO_PAGE)

crds: setup  ## write config/crd, config/schemas, the charts and the reference pages from the models
	@$(PY) scripts/write_crds.py && $(PY) scripts/write_reference.py

dashboard: setup  ## write the chart's Grafana dashboard from its panels
	@$(PY) -m scripts.write_dashboard

image: setup  ## the operator's image as an OCI archive, with what is in it; REFERENCE=host/name:tag ARCHITECTURES="amd64 arm64"
	@$(LOCAL) images operator --into build/image $(if $(REFERENCE),--reference $(REFERENCE)) $(if $(ARCHITECTURES),--architectures $(ARCHITECTURES))

image-docker:  ## the same with a container builder, from the Dockerfile; REFERENCE=host/name:tag BUILDER=podman
	@$(BUILDER) build --tag $(REFERENCE) .

docs: setup  ## the docs as a site, into build/site; a link that leads nowhere fails
	@echo "==> docs" && $(BIN)/python -m scripts.docs_site build/docs && $(BIN)/zensical build --clean --strict

gitops: setup  ## write the health checks for Argo CD and Flux
	@$(PY) scripts/write_gitops.py

lock: setup  ## pin dependencies again from pyproject.toml
	@$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/pip install --quiet uv
	@cd requirements && for set in "run.txt" "standins.txt --extra standins" "dev.txt --all-extras --group ../pyproject.toml:dev"; do \
	  ../$(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-emit-index-url --no-emit-package kubectl-firebolt --no-annotate --no-header ../pyproject.toml -o $$set; done

plugin: setup  ## the wheel of kubectl-firebolt, into dist/
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./plugin

mutants: setup  ## plant faults in the modules that decide, and tell which no unit test notices (docs/dev/mutants.md)
	@$(PY) -m scripts.mutants $(ARGS)

fuzz: setup  ## 100,000 inputs for every parser of what others write, and a table (docs/dev/fuzz.md)
	@$(PY) -m tests.fuzz $(ARGS)

campaign: programs  ## every fault, every edit, judged from outside; up to two hours, goes on where it was (docs/dev/campaign.md)
	@$(LOCAL) campaign --into build/campaign $(ARGS)

campaign-quick: programs  ## the part of it that CI runs; a few minutes
	@$(LOCAL) campaign --part quick --afresh --into build/campaign-quick

bench: programs  ## benchmarks; each prints a table
	@for each in $(filter-out bench/compare.py,$(wildcard bench/*.py)); do echo "==> $$each"; $(PY) $$each; done

clean:  ## remove what make made here (not the cache of built programs)
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
