# make demo: environment, install, and the road from the bundled corpus to tables.  make test: everything checked.
# Both start from a bare clone. VENV chooses the environment's folder, PYTHON the interpreter that makes it.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT = build/quickstart
EMBCLI = $(BIN)/embcli

.PHONY: demo test lint data clean
.DELETE_ON_ERROR:

$(BIN)/embcli: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/dev.done: $(BIN)/embcli
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(BIN)/embcli
	$(EMBCLI) run experiments/quickstart.yaml
	@echo; echo "Next: source $(BIN)/activate; embcli neighbors $(OUT)/vectors.npz 'uncle - man + woman'; embcli info $(OUT)/counts.npz --top 5"

test: $(VENV)/dev.done
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/dev.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

data:
	$(PYTHON) data/make_corpus.py

clean:
	rm -rf build $(VENV) .ci-venv
