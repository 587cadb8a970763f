# make demo: environment, install, and the road from the bundled corpus to tables.  make test: everything checked.
# Both start from a bare clone. VENV chooses the environment's folder, PYTHON the interpreter that makes it.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT = build/quickstart
EMBCLI = $(BIN)/embcli

.PHONY: demo test lint data bench clean
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

# All benches beside the peers that install as packages; README, "Figures", says which programs can be named besides.
PEERS = gensim tokenizers tiktoken gigatoken gigabpe faiss-cpu torch word2vec
ROUNDS = 3

$(VENV)/peers/bin/python:
	$(PYTHON) -m venv $(VENV)/peers
	for peer in $(PEERS); do $@ -m pip install --quiet --disable-pip-version-check $$peer || echo "no $$peer here"; done

bench: $(BIN)/embcli $(VENV)/peers/bin/python
	@test -n "$(CORPUS)" || { echo "make bench CORPUS=text.txt: which text?" >&2; exit 2; }
	PEER_PYTHON=$${PEER_PYTHON:-$(VENV)/peers/bin/python} $(BIN)/python experiments/bench/every.py $(CORPUS) --rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY))

data:
	$(PYTHON) data/make_corpus.py

clean:
	rm -rf build $(VENV) .ci-venv
