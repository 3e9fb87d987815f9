# Two commands do everything on a fresh machine: `make demo` and `make test`.
# They need python 3.11 or newer and a network that reaches PyPI and Go modules, nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# The first python that really starts: version managers put names on PATH that do not.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready
CODE := operator/plimsoll devcluster demo benchmarks tests
IMAGE ?= plimsoll
RESULTS ?= build/throughput.json
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' operator/plimsoll/__init__.py)

.PHONY: demo test check oracle e2e quality bench fmt crds image help

demo: $(READY)  ## Places 120 pods on a real control plane by real readings, and shows where and why (KEEP=1: leave it up)
	@$(BIN)/python -m demo $(if $(filter-out 0 no false,$(KEEP)),--keep)

test: check  ## Everything that CI checks, on the same control plane
	$(BIN)/python -m devcluster build
	$(BIN)/pytest -m "cluster or slow"

check: $(READY)  ## Style, types, architecture and the fast tests: two minutes on two cores
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/ruff check --quiet $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -m "not cluster and not slow" -q -n auto

oracle: $(READY)  ## Compares random verdicts, 20,000 at least and 5,000 preemptions, with those of kube-scheduler's own code
	@$(BIN)/python -m tests.oracle --pods 20000 --nominations 5000 --scored 5000

e2e: $(READY)  ## Kubernetes' own scheduling tests, with kube-scheduler and with Plimsoll: about an hour
	@$(BIN)/python -m tests.upstream

quality: $(READY)  ## Replays all scenarios with all contenders, and holds ours to its promises (TRACES=DIR; interrupt and go on)
	@$(BIN)/python -m benchmarks.quality $(if $(TRACES),--traces '$(TRACES)')

bench: $(READY)  ## Plimsoll and kube-scheduler in turn, in every case: an hour and a half (CASES=basic,...; interrupt and go on)
	@$(BIN)/python -m devcluster build
	@mkdir -p $(dir $(RESULTS))
	@$(BIN)/python -m benchmarks.throughput --table --resume --json '$(RESULTS)' \
		$(if $(CASES),--cases '$(CASES)') $(if $(DOCUMENT),--document '$(DOCUMENT)')

fmt: $(READY)  ## Formats the code and mends what can be mended by itself
	$(BIN)/ruff check --fix --quiet $(CODE) || true
	$(BIN)/ruff format --quiet $(CODE)

crds: $(READY)  ## Writes crds/ from the models, the chart's copy of it, and docs/metrics.md
	$(BIN)/plimsoll crds --dir crds
	cp crds/*.yaml helm/plimsoll/files/crds/
	$(BIN)/python -m plimsoll.telemetry > docs/metrics.md
	$(BIN)/python -m tests.chart.values_table

image: ## Builds the container image (needs a container builder)
	docker build --tag $(IMAGE):$(VERSION) .

help:  ## This list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml uv.lock
	@$(if $(PYTHON),,echo "python 3.11 or newer, with venv, is needed on the PATH (or: make PYTHON=/path/to/python)" >&2; exit 1)
	@echo "preparing .venv"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13'
	@VIRTUAL_ENV= $(BIN)/uv sync --locked --quiet
	@touch $@
