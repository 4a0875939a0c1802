# RankLens. `make` alone lists the targets; everything is installed into .venv and nowhere else.

PYTHON ?= python3
PORT ?= 8501
STREAMLIT ?=
PYTEST ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_TEST := $(VENV)/.installed-test

.DEFAULT_GOAL := help
.PHONY: help install console test check fix chromium screenshots

help: ## Say what there is
	@echo "Targets:"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'
	@echo "Variables: PYTHON=python3.12, PORT=8601, STREAMLIT='--server.headless true', PYTEST='tests/core -k chunk'"

install: $(INSTALLED) ## Make .venv and install RankLens with the versions of constraints.txt

console: $(INSTALLED) ## Start the console (PORT=8501), with a sample knowledge base when the base is empty
	$(BIN)/ranklens sample
	$(BIN)/streamlit run console/app.py --server.port $(PORT) $(STREAMLIT)

test: $(INSTALLED_TEST) chromium ## Run the tests (PYTEST= takes more arguments)
	OMP_NUM_THREADS=1 $(BIN)/pytest $(PYTEST)

check: $(INSTALLED_TEST) ## Lint, format, types and import directions, without changing a file
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(INSTALLED_TEST) ## Mend what ruff can mend, and format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

screenshots: $(INSTALLED_TEST) chromium ## Take the pictures in docs/images from the console with the sample base
	$(BIN)/python -m tests.browser.screenshots

chromium: ## Install Debian's chromium for the browser tests when it is missing and this user may
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y chromium \
		|| echo "chromium could not be installed: the browser tests will be skipped." >&2; \
	else \
		echo "chromium is not here and cannot be installed by this user: the browser tests will be skipped." >&2; \
	fi

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -c constraints.txt -e .
	@touch $@

$(INSTALLED_TEST): $(INSTALLED)
	$(BIN)/python -m pip install -c constraints.txt -e '.[test]'
	@touch $@
