# make demo: environment, install, and the road from the bundled corpus to tables.  make test: everything checked.
# Both start from a bare clone. VENV chooses the environment's folder, PYTHON the interpreter that makes it.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT ?= build/demo
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

$(OUT)/tokens.npz: data/corpus.txt $(BIN)/embcli
	mkdir -p $(OUT)
	$(EMBCLI) encode $< --words --lower -o $@

$(OUT)/counts.npz: $(OUT)/tokens.npz
	$(EMBCLI) cooc $< --window 5 --weighting dynamic -o $@

$(OUT)/vectors.npz: $(OUT)/counts.npz
	$(EMBCLI) svd $< --dim 150 -o $@

demo: $(OUT)/vectors.npz
	@echo; echo "== Words that stand in like company (cosine; the corpus is generated, see data/README.md)"; echo
	$(EMBCLI) neighbors --top 5 $< king queen paris dog puppy doctor hospital bank mole bigger walked bread
	@echo; echo "== Analogies: without the words of the question, and with them"; echo
	$(EMBCLI) neighbors --top 3 $< 'king - man + woman' 'paris - france + italy' 'bigger - big + small'
	@echo; echo "== All questions of data/questions.txt"; echo
	$(BIN)/python experiments/analogies.py $< data/questions.txt
	@echo; echo "Next: source $(BIN)/activate; embcli neighbors $< 'uncle - man + woman'; embcli info $(OUT)/counts.npz --top 5"

test: $(VENV)/dev.done
	$(BIN)/python -m pytest

lint: $(VENV)/dev.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

data:
	$(PYTHON) data/make_corpus.py

clean:
	rm -rf build $(VENV) .ci-venv
