PYTHON ?= python3
BIN := .venv/bin

.PHONY: test suite demo bench lint clean

# the environment is made once and again whenever the lock changes
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "revereval needs Python 3.11 or later")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

test: lint suite
	$(BIN)/python -m pytest -n auto tests

# every task of the suite; the package sources are fetched once and stay in the user's cache
suite: .venv/ready
	$(BIN)/revereval tasks lint
	$(BIN)/revereval tasks verify --perturb

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

demo: .venv/ready
	$(BIN)/revereval run-pair h11-framing --new
	$(BIN)/revereval run-pair packaging-specifiers --new
	$(BIN)/revereval ledger audit
	$(BIN)/revereval ledger export --output runs/boundaries.csv
	$(BIN)/revereval analyze bounds
	$(BIN)/revereval report --output runs/report.html

bench: .venv/ready
	$(BIN)/python -m tests.bench

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
