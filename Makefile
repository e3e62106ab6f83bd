# Two commands matter: `make up` shows real results in the browser, `make test` proves that all works.
PYTHON ?= python3
BIN := .venv/bin
HOME_DIR ?= data

.DEFAULT_GOAL := help
# Some images set it; then every one of hundreds of processes compiles what it imports again, a second each.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help up test test-fast fuzz torture soak spark setup lint lint-python lint-sql format docs compiled site pictures images bench bench-home bench-peers bench-statistics lock clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

up: setup ## set up, ingest the examples, build, check and open the app (127.0.0.1:8501)
	@echo "==> Ingesting the examples, building, opening the app"
	@$(BIN)/dropline --home $(HOME_DIR) up examples

test: .venv/.ready-dev .venv-spark/.ready ## set up and run every check: lint, types, unit, property, dbt, gate, app, browser, Spark
	@$(MAKE) --no-print-directory lint
	@echo "==> Testing"
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations 40

test-fast: .venv/.ready-dev ## check what a save can break, in a minute: lint, types, units, one built home
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m pytest -q -m "not (slow or browser or s3 or spark)"

fuzz: .venv/.ready-dev ## give 3,000 damaged files to every reader; OPTIONS='-k perfdhcp --hypothesis-seed N', FUZZ_EXAMPLES=N for others
	@echo "==> Fuzzing the readers"
	@FUZZ_EXAMPLES=$(or $(FUZZ_EXAMPLES),3000) $(BIN)/python -m pytest -q -n 2 tests/fuzz/test_fuzz.py $(OPTIONS)

torture: .venv/.ready-dev ## kill 320 commands at random instants; TORTURE_KILLS=N, TORTURE_SEED=N for others
	@echo "==> Killing (some 20 minutes)"
	@TORTURE_KILLS=$(or $(TORTURE_KILLS),320) $(BIN)/python -m pytest -q tests/torture/test_torture.py -k any_kill $(OPTIONS)

soak: .venv/.ready-dev ## let 30 visitors use the app for ten minutes while results come in; fails when memory grows
	@echo "==> Soaking (some 15 minutes)"
	@$(BIN)/python -m benchmarks.soak

spark: .venv-spark/.ready ## build HOME_DIR on Spark (Java 17 or newer): two executors on this machine
	@echo "==> Building on Spark"
	@DROPLINE_LAKE=$(HOME_DIR)/build/lake DROPLINE_QUALITY=$(HOME_DIR)/quality \
	.venv-spark/bin/python spark.py build --exclude-resource-type unit_test

setup: .venv/.ready ## make the environment that `up` needs

lint: .venv/.ready-dev ## check style and types of the Python and the SQL
	@echo "==> Checking style and types"
	@$(MAKE) --no-print-directory -j 2 lint-python lint-sql

lint-python: .venv/.ready-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

lint-sql: .venv/.ready-dev
	@$(BIN)/sqlfluff lint --processes 0 --disable-progress-bar --nocolor -q models analyses expectations measure/queries/models tests/dbt
	@$(BIN)/sqlfluff lint --processes 0 --templater placeholder --disable-progress-bar --nocolor -q app/queries ingest/queries measure/queries/warehouse report benchmarks/questions.sql

format: .venv/.ready-dev ## rewrite the Python and the SQL in the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/sqlfluff fix --disable-progress-bar -q models analyses expectations measure/queries/models tests/dbt
	@$(BIN)/sqlfluff fix --templater placeholder --disable-progress-bar -q app/queries ingest/queries measure/queries/warehouse report benchmarks/questions.sql

docs: setup ## write the data dictionary, and the dbt site (tables, lineage, who reads them) to docs/site
	@echo "==> Writing docs/reference/data-dictionary.md"
	@mkdir -p target
	@$(BIN)/python -m docs.dictionary > target/data-dictionary.md && mv target/data-dictionary.md docs/reference/
	@echo "==> Writing docs/site/index.html"
	@$(BIN)/dropline --home $(HOME_DIR) build
	@export DROPLINE_LAKE=$(HOME_DIR)/build/lake DROPLINE_QUALITY=$(HOME_DIR)/quality; \
	$(BIN)/dbt --quiet build --exclude-resource-type unit_test && \
	$(BIN)/dbt --quiet docs generate --static --target-path docs/site
	@mv docs/site/static_index.html docs/site/index.html

compiled: setup ## write compiled.json, by which builds need no dbt: after each change to models, macros or seeds
	@echo "==> Compiling the models"
	@rm -rf target/compiled compiled.json
	@$(BIN)/dropline --home target/compiled build
	@mv target/compiled/build/compiled.json .

site: setup ## write the results of HOME_DIR as pages that need no server, to target/site
	@echo "==> Writing target/site"
	@$(BIN)/dropline --home $(HOME_DIR) publish target/site

pictures: .venv/.ready-dev ## take the pictures anew by which tests know every page; in full size in target/pictures
	@echo "==> Taking pictures"
	@NEW_PICTURES=1 $(BIN)/python -m pytest -q tests/browser/test_accessibility.py

images: .venv/.ready-dev ## take the pictures of README anew, of the app over HOME_DIR
	@echo "==> Taking the pictures of docs/images"
	@$(BIN)/python -m docs.pictures $(HOME_DIR)

bench: bench-home ## measure ingest, growth, arrival, questions, starts and pages; write benchmarks/results
	@echo "==> Measuring the ingest, and all steps from 1,000 to 100,000 trials"
	@$(BIN)/python -m benchmarks.ingest
	@$(BIN)/python -m benchmarks.growth
	@$(BIN)/python -m benchmarks.arrival
	@echo "==> Measuring questions, starts and pages over 10,000 trials"
	@$(BIN)/python -m benchmarks.queries target/bench
	@$(BIN)/python -m benchmarks.start target/bench
	@$(BIN)/python -m benchmarks.pages target/bench

bench-peers: .venv-peers/.ready bench-home ## measure a script, DuckDB, Polars, ClickHouse and PostgreSQL (if installed) beside Dropline
	@echo "==> Measuring alternatives"
	@PYTHONPATH=.venv-peers $(BIN)/python -m benchmarks.peers target/bench

bench-home: .venv/.ready-dev
	@rm -rf target/bench && mkdir -p target/bench
	@$(BIN)/python -m benchmarks.trees target/bench/lake --trials 10000 --as-lake
	@$(BIN)/dropline --home target/bench build

bench-statistics: .venv/.ready-dev .venv-otava/.ready ## show by simulation what intervals, thread scaling and change points hold
	@echo "==> Simulating (some five minutes)"
	@$(BIN)/python -m benchmarks.coverage
	@$(BIN)/python -m benchmarks.scaling
	@PYTHONPATH=.venv/checkout .venv-otava/bin/python -m benchmarks.changes

lock: setup ## pin the packages again
	$(BIN)/uv pip compile pyproject.toml $(LOCK) -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra browser -c requirements.lock $(LOCK) -o requirements-dev.lock
	for name in setup spark otava client; do $(BIN)/uv pip compile requirements-$$name.in $(LOCK) -o requirements-$$name.lock; done
	$(BIN)/uv pip compile requirements-peers.in -c requirements-dev.lock $(addprefix --no-emit-package ,numpy pandas pyarrow python-dateutil six tzdata) $(LOCK) -o requirements-peers.lock

LOCK := --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header --no-annotate --no-emit-index-url

clean: ## remove everything that make made, but not the data
	rm -rf .venv .venv-otava .venv-peers .venv-spark .mypy_cache .ruff_cache .pytest_cache .hypothesis target logs docs/site *.egg-info

# The locks are complete. uv installs in 2 s what takes pip 25; where only pip is told of a mirror, pip does it. A pip in
# .venv, which takes 5 s, is made only where it is needed: if there is none beside $(PYTHON), or uv does not do.
HASHED := --quiet --no-deps --require-hashes --requirement
PIP := -m pip --disable-pip-version-check
own_pip = { $(BIN)/python -m ensurepip >/dev/null && $(BIN)/python $(PIP) $(1); }
install = $(BIN)/uv pip install --python $(1) $(2) || $(call own_pip,--python $(1) install --no-compile $(2))

.venv/.ready: requirements-setup.lock requirements.lock pyproject.toml
	@echo "==> Setting up .venv"
	@$(PYTHON) -c 'import sys; sys.exit("Dropline needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv --without-pip .venv
	@$(PYTHON) $(PIP) --python .venv install $(HASHED) requirements-setup.lock 2>/dev/null || \
	$(call own_pip,install $(HASHED) requirements-setup.lock)
	@$(call install,.venv,$(HASHED) requirements.lock)
	@$(call install,.venv,--quiet --no-deps --no-build-isolation --editable .)
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.lock
	@echo "==> Adding what the tests need"
	@$(call install,.venv,$(HASHED) requirements-dev.lock)
	@$(BIN)/python -m ensurepip >/dev/null # tests install packages as people do
	@mkdir -p .venv/checkout # where mypy finds the packages
	@ln -sfn ../.. .venv/checkout/dropline && ln -sfn ../../benchmarks .venv/checkout/benchmarks
	@touch $@

.venv-otava/.ready: requirements-otava.lock .venv/.ready
	@echo "==> Setting up Apache Otava, to run beside it"
	@$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv-otava
	@$(call install,.venv-otava,$(HASHED) $<)
	@touch $@

.venv-peers/.ready: requirements-peers.lock .venv/.ready-dev
	@echo "==> Setting up Polars and ClickHouse, to run beside it"
	@rm -rf .venv-peers
	@$(call install,.venv,$(HASHED) $< --target .venv-peers)
	@touch $@

.venv-spark/.ready: requirements-spark.lock .venv/.ready
	@echo "==> Setting up Apache Spark, in an environment of its own"
	@$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv-spark
	@$(call install,.venv-spark,$(HASHED) $<)
	@touch $@
