PYTHON ?= python3
BIN := .venv/bin

.PHONY: test demo bench lint clean

# the environment is made once and again whenever the lock changes
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "revereval needs Python 3.11 or later")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

test: lint
	$(BIN)/python -m pytest -n auto tests

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

demo: .venv/ready
	$(BIN)/revereval run-pair h11-framing --new
	$(BIN)/revereval run-pair packaging-specifiers --new
	$(BIN)/revereval ledger audit
	$(BIN)/revereval ledger export --format csv

bench: .venv/ready
	$(BIN)/python -m tests.bench

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
