# Two commands do everything on a machine that has python3 and make:
#   make demo    set up, then derive, print, compile and check a robot's inverse dynamic model
#   make test    set up, then run every test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check lint laws fuzz bench clean

demo: $(VENV)/.stamp-core
	$(BIN)/python examples/demo.py

test: $(VENV)/.stamp-test
	$(MAKE) --no-print-directory -j2 lint check

check: $(VENV)/.stamp-test
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.stamp-test
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples
	$(BIN)/mypy

laws: $(VENV)/.stamp-test
	$(BIN)/python -m tests.laws --robots 10000
	$(BIN)/python -m tests.laws --base 2000

fuzz: $(VENV)/.stamp-test
	$(BIN)/python -m tests.fuzz --expressions 100000 --files 20000

bench: $(VENV)/.stamp-test
	$(BIN)/python -m bench

$(VENV)/.stamp-core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.stamp-test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.stamp-core

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
