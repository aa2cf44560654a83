# Two commands are enough: `make demo` and `make test`. Each sets up what it needs, once.
# While working: `make test-quick`, a minute of lint and the tests that neither train nor start processes or browsers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
FULL := $(VENV)/.full
# tests/conftest.py groups tests by file and puts costly files first
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder

# Real corpora, if they lie beside the project; tests that need them skip otherwise.
export HEEDFUL_DATA ?= $(abspath $(wildcard ../shared/data))

# how long a campaign takes
MINUTES ?= 10

.PHONY: setup demo test test-quick test-all lint bench campaign lowest reproduction clean

setup: $(FULL)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[report]"
	touch $@

$(FULL): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[report,papers,hf,ray,dev]"
	touch $@

demo: $(CORE)
	$(BIN)/heedful demo
	@printf '\n%s\n\n    %s\n\n%s\n%s\n' \
		'To use heedful in this shell:' 'source $(BIN)/activate' \
		'Next: `heedful run --file reviews.csv --text review --label stars` tests attention on texts of your own;' \
		'`heedful corpora` lists what there is besides, and docs/quickstart.md goes on from here.'

lint: $(FULL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports

test: lint
	$(PYTEST) -m "not slow"

test-quick: lint
	$(PYTEST) -m "not slow and not costly" tests

# campaigns of minutes too, and as many examples as hypothesis would try
test-all: lint
	$(PYTEST) --hypothesis-profile full

bench: $(FULL)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks

# Kills and hostile inputs for MINUTES minutes; failing cases are kept in runs/campaign
campaign: $(FULL)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.campaign --minutes $(MINUTES)

# The lowest versions that pyproject.toml allows, and every Python here that it names; in temporary environments, an hour.
lowest: | $(BIN)/python
	$(BIN)/python -m benchmarks.lowest

# Hours on two processors; goes on where it was. Exit code 1 is that of cells that could not be done: the page says which.
reproduction: $(FULL)
	for grid in benchmarks/reproduction/grids/*.toml; do \
		$(BIN)/heedful sweep $$grid --out runs/reproduction || [ $$? -eq 1 ] || exit; \
	done
	$(BIN)/python -m benchmarks.reproduction runs/reproduction --out docs

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
