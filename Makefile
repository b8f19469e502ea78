# make demo    sets up what is missing, answers a question about a shipped picture, learns from a wrong answer, and
#              examines models
# make test    sets up what is missing, and runs the tests
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

HERE := $(shell dirname "$$(realpath "$(lastword $(MAKEFILE_LIST))")")
ifneq ($(HERE),$(shell pwd -P))
# Called as `make -f somewhere/Makefile`: every path below is relative to this file.
GOALS := $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS)
$(firstword $(GOALS)):
	@$(MAKE) -C "$(HERE)" $(GOALS)
$(wordlist 2,$(words $(GOALS)),$(GOALS)): $(firstword $(GOALS)) ; @:
else

PYTHON ?= python3
PY := .venv/bin/python
SETUP := .venv/.installed
TORCH = $(shell grep '^torch==' constraints.txt)
QUESTION ?= What color is the house to the left of the dog?
PICTURE ?= examples/scene.png
UNKNOWN ?= examples/beach.png
TAUGHT ?= Is there a wave in the picture?
ABOUT ?= Can the models recognize vehicles?
# Tests run in so many processes, each with one thread of torch; a process that is done takes over tests of another.
PROCESSES ?= 2
PYTEST := OMP_NUM_THREADS=1 $(PY) -m pytest --numprocesses $(PROCESSES) --dist worksteal

# Programs find a place for their caches and memory even where no home directory is set.
ifeq ($(strip $(HOME)),)
export HOME := $(shell pwd)/.home
endif
# Nothing but the installation itself goes to the network.
export HF_HUB_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export LANGSMITH_TRACING := false
# Nothing that is run here leaves a process behind.
export SNELLEN_RESIDENT := off

.PHONY: help install demo studio test slow lint format types imports check graphs lock clean

help: ## list what there is to make
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):[^#]*## /  make \1|/' | column -t -s '|'

install: $(SETUP) ## create .venv and install the locked versions

$(SETUP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Snellen needs Python 3.11 or newer: name one with PYTHON=python3.11 make install." >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { rm -rf .venv; $(PYTHON) -m venv .venv; }
	$(PY) -m pip install --disable-pip-version-check "$(TORCH)"
	$(PY) -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(SETUP) ## answer a question about a shipped picture, learn from a wrong answer, examine models; write the pages
	@$(PY) -m snellen ask "$(PICTURE)" "$(QUESTION)" --html out/demo.html --out out/demo
	@echo
	@echo "No model has ever seen a wave. Told the right answer, Snellen finds the step at fault, teaches its tool, and tries again."
	@rm -rf out/home
	@SNELLEN_HOME=out/home $(PY) -m snellen ask "$(UNKNOWN)" "$(TAUGHT)" --answer yes --html out/learned.html
	@echo
	@echo "A question about models becomes experiments on generated pictures, run until the evidence suffices."
	@SNELLEN_HOME=out/home $(PY) -m snellen investigate "$(ABOUT)" --budget images=400 --html out/investigation.html
	@echo
	@echo "The last two share a memory: SNELLEN_HOME=out/home .venv/bin/snellen memory list (or threads, or reports)"

studio: $(SETUP) ## run LangGraph's server, for Studio
	@$(PY) -m snellen studio

test: $(SETUP) ## run the tests (not the slow ones)
	@$(PYTEST)

slow: $(SETUP) ## run the slow tests
	@$(PYTEST) -m slow

lint: $(SETUP) ## ruff: rules and format
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check

format: $(SETUP) ## ruff: mend what can be mended
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format

types: $(SETUP) ## mypy, strict
	@$(PY) -m mypy

imports: $(SETUP) ## the import contracts of docs/ARCHITECTURE.md
	@.venv/bin/python -c 'from importlinter.cli import lint_imports_command as lint; lint(["--no-logo"])'

check: lint types imports test ## everything a change must pass, but the slow tests

graphs: $(SETUP) ## draw the graphs and the rooms of the docs anew (needs Graphviz: apt install graphviz)
	@PYTHONPATH=. $(PY) docs/graphs/draw.py
	@PYTHONPATH=. $(PY) docs/pictures/rooms.py

lock: $(SETUP) ## write constraints.txt from what is installed
	@{ sed -n '/^#/p' constraints.txt; \
		$(PY) -m pip freeze --all --exclude-editable | { grep -vE '^(pip|snellen)==| @ ' || true; } \
		| sed 's/+[a-z0-9.]*$$//' | LC_ALL=C sort -f; } > .venv/constraints.new
	@mv .venv/constraints.new constraints.txt
	@touch $(SETUP)

clean: ## remove what runs and tools left (not .venv, not your memory)
	@rm -rf out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
endif
