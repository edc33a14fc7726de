.DEFAULT_GOAL := help
PY := .venv/bin/python
UV := $(shell command -v uv 2>/dev/null || echo "python3 -m uv")
export OMP_NUM_THREADS ?= 1

.PHONY: help install sample run up down test lint docs bench golden screenshots paddle flag clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/.installed ## install what is missing into .venv (uv, then the locked packages)

.venv/.installed: requirements.lock pyproject.toml
	@$(UV) --version >/dev/null 2>&1 || python3 -m pip install --user --quiet uv \
		|| python3 -m pip install --user --quiet --break-system-packages uv
	test -x $(PY) || $(UV) venv --quiet --python 3.11 .venv
	$(UV) pip install --quiet --python $(PY) -r requirements.lock
	$(UV) pip install --quiet --python $(PY) --no-deps -e .
	@touch $@

sample: install ## write the sample knowledge base to .sluice/sample
	@$(PY) -m tests.sample.make_sample .sluice/sample

run: sample ## the whole road on the sample: sync, review, publish, ask, roll back (real Airflow)
	$(PY) -m pipelines.demo

up: install ## start Airflow with the DAGs; prints address and logins
	$(PY) -m pipelines.standalone up

down: install ## stop Airflow and the index server
	$(PY) -m pipelines.standalone down
	-@$(PY) -m pipelines.cli down

test: install ## run the tests, a file at a time on each of two cores
	$(PY) -m pytest -n 2 --dist loadfile

lint: install ## check style, types and the arrows between modules
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

docs: install ## write the README's tables and the JSON Schemas anew from the code
	$(PY) -m schemas.export
	$(PY) -m tests.docs.generate

bench: install ## run each benchmark; each prints one JSON object
	@for file in tests/bench/[a-z]*.py; do \
		name=$$(basename $$file .py); PYTHONPATH=.:plugins $(PY) -m tests.bench.$$name || exit 1; done

golden: install ## write the golden files anew (look at the diff before you commit it)
	SLUICE_GOLDEN=write $(PY) -m pytest tests/golden

screenshots: install ## pictures of the pages in the Airflow UI, for the README (needs Chromium)
	PYTHONPATH=.:plugins $(PY) -m tests.ui.screenshots

paddle: ## an environment of its own for PaddleOCR (.venv-paddle, 0.8 GB), for SLUICE_OCR__ENGINE=paddle
	test -x .venv-paddle/bin/python || $(UV) venv --quiet --python 3.11 .venv-paddle
	$(UV) pip install --quiet --python .venv-paddle/bin/python paddleocr==3.7.0 "paddlex[ocr]==3.7.2" onnxruntime

flag: install ## an environment of its own for FlagEmbedding (.venv-flag, 1.7 GB), then the contract tests of its adapters
	test -x .venv-flag/bin/python || python3.11 -m venv .venv-flag
	.venv-flag/bin/pip install --quiet torch==2.13.0
	.venv-flag/bin/pip install --quiet FlagEmbedding==1.4.2 "transformers>=5.18,<5.24"
	echo $(CURDIR)/.venv/lib/python3.11/site-packages > .venv-flag/lib/python3.11/site-packages/sluice.pth
	HF_HUB_OFFLINE=1 .venv-flag/bin/python -m pytest tests/contract/test_embedder.py tests/contract/test_reranker.py

clean: ## remove caches, the environment and the local state
	rm -rf .venv .venv-paddle .venv-flag .sluice .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
