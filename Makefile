# Two commands are enough: `make demo` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
FULL := $(VENV)/.full

# Real corpora, if they lie beside the project; tests that need them skip otherwise.
export HEEDFUL_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: setup demo test test-all lint bench reproduction clean

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

lint: $(FULL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow"

test-all: lint
	$(BIN)/pytest -n 2 --dist loadgroup

bench: $(FULL)
	$(BIN)/python -m benchmarks

# Hours on two processors; goes on where it was. Exit code 1 is that of cells that could not be done: the page says which.
reproduction: $(FULL)
	for grid in benchmarks/reproduction/grids/*.toml; do \
		$(BIN)/heedful sweep $$grid --out runs/reproduction || [ $$? -eq 1 ] || exit; \
	done
	$(BIN)/python -m benchmarks.reproduction runs/reproduction --out docs

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
