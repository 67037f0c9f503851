# Two commands do all the set-up: `make site` and `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip itself would compile on one processor.
COMPILE := $(BIN)/python -m compileall -q -j 0 .venv/lib

.PHONY: help site release serve test check mutate bench picture lock clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The environment is remade only when its lock file or the project's metadata changes.
.venv/site.stamp: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) --version). Set PYTHON=…"; exit 1; }
	@echo "Installing what the site needs (once) …"
	@$(PYTHON) -m venv .venv
	@$(PIP) install --no-compile --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(COMPILE) || true
	@touch $@

.venv/test.stamp: requirements-test.lock .venv/site.stamp
	@echo "Installing what the tests need (once) …"
	@$(PIP) install --no-compile --require-hashes -r requirements-test.lock
	@$(COMPILE) || true
	@touch $@

site: .venv/site.stamp  ## build the finished site into site/
	@$(BIN)/python -m macros.build

release: .venv/site.stamp  ## build the site for its public address; refuses while SITE_URL (mkdocs.yml) is not set
	@SITE_RELEASE=1 $(BIN)/python -m macros.build

serve: .venv/site.stamp  ## preview with live reload
	@$(BIN)/python -m mkdocs serve --strict

check: .venv/test.stamp  ## the fast gate: lint, types, data (seconds, no browser)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/results check

test: .venv/test.stamp  ## every test, a real browser included
	@sh tests/need-chromium.sh
	@$(MAKE) --no-print-directory check
	@$(BIN)/python -m compileall -q macros tests  # once, not in each of a hundred processes
	@$(BIN)/python -m pytest -n auto

SEED ?= 1
mutate: .venv/test.stamp  ## measure the gate: make mistakes at random, count what is caught
	@$(BIN)/python tests/mutate.py --seed $(SEED)

bench: .venv/test.stamp site  ## what pages weigh and builds cost: tables and ratios, nothing asserted
	@$(BIN)/python -m tests.measure site
	@$(BIN)/python -m tests.bench

picture: .venv/test.stamp site  ## take README's picture of the start page anew
	@$(BIN)/python -m tests.screenshot

lock: .venv/test.stamp  ## write both lock files anew: versions and hashes, no index address
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --no-emit-index-url pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --no-header --no-emit-index-url --constraint requirements.lock --extra test pyproject.toml \
	  -o requirements-test.lock

clean:  ## remove what was built, keep the environment
	@rm -rf site .build
