# Set-up lives in .venv. Its two stamps hold the folder's path: programs in there have it written into them, so a
# folder that was moved, or whose Python is gone, is set up anew.
PYTHON ?= python3
ARGS ?=
UV_VERSION := 0.13.9

# Seconds: what `make lab` may take in all is 25 minutes, of which its plan of faults has 16.
LAB_TESTS_WITHIN := 500

VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(wildcard adapters/packages/*/pyproject.toml)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
MOVED := $(sort $(shell for stamp in $(VENV)/.run $(VENV)/.dev; do \
	[ ! -e $$stamp ] || { [ -x $(BIN)/python ] && [ "$$(cat $$stamp)" = "$$(pwd -P)" ]; } || echo moved; done))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test check checked bench soak cuts lab conformance lock sbom release clean dev moved named

help:  ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 14

run: $(VENV)/.run  ## set up what is missing and start Signalbox (ARGS="--config FILE")
	@exec $(BIN)/signalbox run $(ARGS)

test: $(VENV)/.dev  ## the static gate and all tests (ARGS="-k name" for some)
	@sh tests/setup.sh chromium pgbouncer dovecot
	@$(MAKE) --no-print-directory check
	@$(BIN)/python -m pytest -q -n 4 --dist loadgroup $(ARGS)

check: $(VENV)/.dev  ## the static gate alone
	@echo "Checking format, lint, types, imports, migrations, routes, text and docstrings."
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary >$(VENV)/mypy.log 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory checked; others=$$?; \
	wait $$types || { cat $(VENV)/mypy.log; exit 1; }; exit $$others

# What is checked beside the types, which take one processor for longer than all of it.
checked:
	@$(BIN)/lint-imports --no-logo >$(VENV)/lint-imports.log 2>&1 || { cat $(VENV)/lint-imports.log; exit 1; }
	@for package in $(dir $(PACKAGES)); do \
		told=$$(cd $$package && "$(CURDIR)/$(BIN)/lint-imports" --no-logo --no-cache 2>&1) || { echo "$$told"; exit 1; }; done
	@$(BIN)/python -m runtime.store.check
	@$(BIN)/python -m tests.security.check
	@$(BIN)/python -m tests.docstrings

bench: $(VENV)/.dev  ## benchmarks, printed as ratios (ARGS="name")
	@exec $(BIN)/python -m bench $(ARGS)

soak: $(VENV)/.dev  ## random kills under random traffic, all promises checked (KILLS=500 SEED=7 MINUTES=10 ENGINE=postgres)
	@exec $(BIN)/python -m tests.soak $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(ENGINE),--engine $(ENGINE)) $(ARGS)

cuts: $(VENV)/.dev .venv-synapse/.done  ## the tests that take long: fifty cut sends of each kind on each platform, … (ARGS="-k telegram")
	@exec $(BIN)/python -m pytest -q -n 2 --dist loadgroup -m soak $(ARGS)

lab: $(VENV)/.dev  ## faults that processes live through (FULL=1 MINUTES=60 AGAIN=1 SEED=7 SHARE=1 ARGS="--only plant")
	@sh tests/setup.sh faketime pgbouncer
	@$(BIN)/python -m tests.lab $(if $(FULL),--full) --minutes $(or $(MINUTES),$(if $(FULL),0,16)) $(if $(AGAIN),--again) \
		$(if $(SEED),--seed $(SEED)) $(ARGS); plan=$$?; \
	$(if $(FULL)$(ARGS),exit $$plan,LAB_SHARE=$(or $(SHARE),0.1) $(BIN)/python -m pytest -v --durations=20 -n 3 \
		--dist loadgroup --session-timeout=$(LAB_TESTS_WITHIN) tests/lab -m soak || exit 1; exit $$plan)

dev: $(VENV)/.dev  ## set up everything for working on Signalbox

conformance: $(VENV)/.dev .venv-conformance/.done  ## suites of others against this program, with their counts
	@$(BIN)/python -m tests.conformance.openai_clients $(BIN)/python .venv-conformance/bin/python
	@$(BIN)/python -m tests.conformance.rest .venv-conformance/bin/schemathesis $(ARGS)
	@$(BIN)/python -m tests.conformance.mcp.suite
	@$(BIN)/python -m tests.conformance.openid.suite

# A Matrix homeserver for tests, of which they start one; 240 MB.
.venv-synapse/.done: tests/homeserver/requirements.lock
	@echo "Installing Synapse for the tests of the Matrix channel (once; about half a minute)."
	@"$(PYTHON)" -m venv --clear .venv-synapse
	@.venv-synapse/bin/python -m pip --disable-pip-version-check --no-input -qq install --require-hashes -r $<
	@touch $@

.venv-conformance/.done: tests/conformance/requirements.lock
	@"$(PYTHON)" -m venv --clear .venv-conformance
	@.venv-conformance/bin/python -m pip --disable-pip-version-check --no-input -qq install --require-hashes -r $<
	@touch $@

lock:  ## write the lock files anew (ARGS=--upgrade for newer versions)
	@echo "Resolving dependencies."
	@"$(PYTHON)" -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip --disable-pip-version-check -qq install uv==$(UV_VERSION)
	@"$(PYTHON)" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])' \
		>.venv-lock/build.in
	@$(UV_COMPILE) -o requirements.lock pyproject.toml - <.venv-lock/build.in >/dev/null
	@$(UV_COMPILE) --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml - <.venv-lock/build.in >/dev/null
	@$(UV_COMPILE) -o bench/injection/requirements.lock bench/injection/requirements.in >/dev/null
	@$(UV_COMPILE) -o tests/conformance/requirements.lock tests/conformance/requirements.in >/dev/null
	@$(UV_COMPILE) -o tests/homeserver/requirements.lock tests/homeserver/requirements.in >/dev/null
	@rm -rf .venv-lock

sbom: $(VENV)/.run  ## write dist/sbom.json: all that requirements.lock installs, with hashes and licences (CycloneDX 1.6)
	@$(BIN)/python -m tests.sbom dist/sbom.json

named:
	@[ -n "$(VERSION)" ] || { echo "Name the version: make release VERSION=0.2.0, or with DRY=1 to try it" >&2; exit 2; }

release: named $(VENV)/.dev  ## version, changelog, wheel and sdist twice, SBOM, image (VERSION=0.2.0, DRY=1 changes nothing)
	@$(BIN)/python -m tests.release "$(VERSION)" $(if $(DRY),--dry)

UV_COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(ARGS)

clean:  ## remove the set-up and caches (data in var/ stays)
	@rm -rf $(VENV) .venv-lock .venv-injection .venv-conformance .venv-synapse build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +

# The virtual environment itself; later set-ups reuse it.
$(BIN)/python: $(MOVED)
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Signalbox needs Python 3.11 or newer, and '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1). Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' lacks its venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV)."
	@"$(PYTHON)" -m venv --clear $(VENV)

$(VENV)/.run: requirements.lock pyproject.toml $(MOVED) | $(BIN)/python
	@echo "Installing what Signalbox needs (once; about a minute)."
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@pwd -P >$@

# The development lock holds everything of the other one at the same versions, so both stamps are met.
$(VENV)/.dev: requirements-dev.lock requirements.lock pyproject.toml $(PACKAGES) $(MOVED) | $(BIN)/python
	@echo "Installing what Signalbox and its tests need (once; about a minute)."
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e . $(addprefix -e ./,$(patsubst %/,%,$(dir $(PACKAGES))))
	@pwd -P >$(VENV)/.run
	@pwd -P >$@
