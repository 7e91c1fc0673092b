# Thin: each target is one command, and each command fetches or builds what it lacks.
STACK ?= dev
UV := ./scripts/uv
RUN := $(UV) run --locked

.DEFAULT_GOAL := help
SCENARIO ?=
KUBEFLOW_OPTIONS ?=
.PHONY: help up preview down status drill ready preflight test test-tools test-slow check bench kubeflow

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

drill: ## Take the spot machines of a copy of the running stack away, and report (SCENARIO=spot-gone-and-back)
	@$(RUN) sandbox drill $(SCENARIO) --stack $(STACK)

# Whether a cluster is ready: the one of KUBECONFIG, or of kubectl's own settings.
ready: ## Check a cluster before and after Kubeflow is installed, by reading (KUBECONFIG=... STACK=...)
	@$(RUN) ready $(if $(KUBECONFIG),--kubeconfig $(KUBECONFIG)) $(if $(filter-out file,$(origin STACK)),--stack $(STACK))

preflight: ## Ask the stack's cloud for machines, quota, rights and names, by reading (STACK=prod)
	@$(RUN) --group preflight preflight --stack $(STACK) $(if $(ACCOUNT),--account $(ACCOUNT))

kubeflow: ## Install Kubeflow on the running stack from a checkout of its manifests (MANIFESTS=path)
	@$(RUN) sandbox kubeflow --stack $(STACK) --manifests "$(or $(MANIFESTS),$(error MANIFESTS=path: name a checkout of kubeflow/manifests))" $(KUBEFLOW_OPTIONS)

# Tests that stacks share run on dev and staging, or on the one that is named.
PYTEST := $(RUN) pytest -n auto $(if $(filter-out file,$(origin STACK)),--stack $(STACK))

test: ## Run the tests: pure, mocked, and the real engine on both clouds
	@$(RUN) sandbox build
	@$(PYTEST) -m "not slow and not tools"

test-tools: ## Run the tests that need Argo's controller, actionlint or an SDK generator, and build those first
	@$(RUN) sandbox build --tools
	@$(PYTEST) -m "tools and not slow"

test-slow: ## Run the tests that take long (docs: CONTRIBUTING.md)
	@$(RUN) sandbox build --tools
	@$(PYTEST) -m slow

check: ## Format, lint and type-check
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy
	@$(RUN) mypy --config-file= --cache-dir=.mypy_cache --strict .github/scripts/*.py
	@$(RUN) mypy --config-file= --cache-dir=.mypy_cache --strict kubeflow/python/kubeflow_spot examples/training/train.py

bench: ## Measure the times and sizes of docs/reference/figures.md
	@$(RUN) python -m bench
