# Everything a stranger needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types scorecard samples clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	mkdir -p $(VENV)/typing && ln -sfn ../.. $(VENV)/typing/trainrx
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python -m trainrx.app.demo

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/pyright

# The browser tests need a Chromium; .ci/run installs Debian's, elsewhere they skip with a reason.
test: lint types
	$(BIN)/python -m pytest -n 2

# Runs every scenario with a planted fault and writes tests/scenarios/SCORECARD.md; takes the better part of an hour.
scorecard: $(VENV)/.installed
	$(BIN)/python -m tests.scenarios.scorecard

# Records the runs that come with trainrx anew; a minute or two, on a machine that does nothing else.
samples: $(VENV)/.installed
	$(BIN)/python -m tests.samples.record

clean:
	rm -rf $(VENV) build *.egg-info
