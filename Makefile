# Thin: each target is one command, and each command fetches or builds what it lacks.
STACK ?= dev
UV := ./scripts/uv
RUN := $(UV) run --locked

.DEFAULT_GOAL := help
.PHONY: help up preview down status test test-sandbox test-pure test-layer test-delivery test-slow check bench

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

up: ## Bring the stack up on the emulated cloud (STACK=dev)
	@$(RUN) sandbox up --stack $(STACK)

preview: ## Show what `make up` would change
	@$(RUN) sandbox preview --stack $(STACK)

down: ## Delete the stack, its processes and its state
	@$(RUN) sandbox down --stack $(STACK)

status: ## Show the stack's processes and pools
	@$(RUN) sandbox status --stack $(STACK)

test: ## Run all tests: pure, mocked, and one pass of the real engine; two groups at a time
	@$(RUN) sandbox build
	@$(MAKE) --no-print-directory -k -j2 $(if $(filter output-sync,$(.FEATURES)),-Oline) test-sandbox test-pure test-layer test-delivery

# Tests that stacks share run on dev and staging, or on the one that is named.
SHARED := $(if $(filter-out file,$(origin STACK)),--stack $(STACK))

# The longest group first. Each has its own control planes, ports and folders.
LAYER := tests/sandbox/test_autoscaler.py tests/sandbox/test_gke_stacks.py tests/sandbox/test_scheduling.py
DELIVERY := tests/sandbox/test_drift.py

test-sandbox: ## Run the tests of the whole sandbox through the engine
	@$(RUN) pytest $(SHARED) -m "engine and not slow" tests/sandbox $(LAYER:%=--ignore=%) $(DELIVERY:%=--ignore=%)

test-pure: ## Run the tests that need neither engine nor control plane
	@$(RUN) pytest -m "not engine and not slow"

test-layer: ## Run the tests of the layer and of examples on real control planes
	@$(RUN) pytest $(SHARED) -m "engine and not slow" tests/admission tests/components $(LAYER)

test-delivery: ## Run the tests of upgrades, drift, reports and policies through the engine
	@$(RUN) pytest $(SHARED) -m "engine and not slow" tests/report tests/policy tests/upgrade $(DELIVERY)

test-slow: ## Run the tests that take long
	@$(RUN) sandbox build
	@$(RUN) pytest -m slow

check: ## Format, lint and type-check
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy
	@$(RUN) mypy --config-file= --cache-dir=.mypy_cache --strict .github/scripts/*.py

bench: ## Measure the times and sizes the README reports
	@$(RUN) python -m bench
