# Two commands: `make run` serves the app, `make test` runs all tests. Both set up what they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3

.PHONY: setup setup-dev run test check bench browser picture space

# torch comes first and alone, so that its exact version decides which build is taken. `make setup CPU=1` takes the build without
# CUDA, where the default index would bring several gigabytes of it.
$(VENV)/.installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $$(grep '^torch==' requirements.txt) $(if $(CPU),--index-url https://download.pytorch.org/whl/cpu)
	$(BIN)/pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed $(VENV)/.frontend requirements-dev.txt requirements-mcp.txt
	$(BIN)/pip install --quiet -r requirements-dev.txt
	@touch $@

# Ray stands in an environment of its own, which reads everything else from the one above: `make test` stays without it.
RAY := $(VENV)/ray
SITE := -c "import site; print(site.getsitepackages()[0])"
$(RAY)/.installed: $(VENV)/.installed-dev requirements-ray.txt
	$(PYTHON) -m venv $(RAY)
	$(abspath $(BIN))/python $(SITE) > "$$($(RAY)/bin/python $(SITE))/beside.pth"
	$(RAY)/bin/pip install --quiet -r requirements-ray.txt
	@touch $@

# With npm the pages are less to fetch: a smaller Plotly, and Gradio's scripts joined into one. Without it they come as they are.
$(VENV)/.frontend: $(VENV)/.installed deploy/frontend.py
	@$(BIN)/python -m deploy.frontend
	@touch $@

setup: $(VENV)/.frontend

setup-dev: $(VENV)/.installed-dev

# Debian's Chromium drives the browser tests, without its own windows where it comes so, which saves a quarter of its processor time;
# without any, or the right to install it, they are skipped, loudly.
browser:
	@command -v chromium-headless-shell >/dev/null || \
	  { timeout 120 apt-get update -qq && apt-get install -y -qq chromium-headless-shell >/dev/null; } || \
	  command -v chromium >/dev/null || apt-get install -y -qq chromium >/dev/null || \
	  echo "WARNING: no chromium here and it could not be installed: the browser tests will be skipped"

run: setup
	$(BIN)/python app.py

# A worker that waits for its browser leaves the processor to the others: tests/conftest.py says who gets what. A single file runs
# without workers: `.venv/bin/python -m pytest tests/e2e/test_pages.py`. Bytecode is kept whatever the environment says: without it
# each of some twenty processes compiles what it imports, and every worker all tests.
test: export PYTHONDONTWRITEBYTECODE =
test: setup-dev browser
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# The fuzz ten times as long as `make test` has it (EXPLORER_FUZZ_SEED=N draws others), every method on every family, how the bundled
# models were made, a minute without a network, a cluster's tests, and what a newer Gradio would break.
check: test $(RAY)/.installed
	EXPLORER_FUZZ_CALLS=5000 $(BIN)/python -m pytest -q tests/test_fuzz.py
	EXPLORER_ALL_PAIRS=1 $(BIN)/python -m pytest -q --numprocesses $(WORKERS) tests/tuning tests/compress tests/test_hub_families.py tests/e2e/test_address.py
	$(BIN)/python -m pytest -q --numprocesses $(WORKERS) tests/pretraining
	EXPLORER_AWAY_SECONDS=60 $(BIN)/python -m pytest -q tests/e2e/test_lost_connection.py
	$(RAY)/bin/python -m pytest -q tests/engine/test_cluster.py tests/engine/test_head.py tests/engine/test_engines.py
	$(BIN)/python -m explorer.serving.patches
	$(BIN)/python -m tests.house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The README's picture, and the one that a link to the app shows.
picture: setup-dev browser
	$(BIN)/python -m deploy.picture

bench: setup-dev
	$(BIN)/python -m benchmarks

# `make space DRY=folder` writes what a Hugging Face Space needs, `make space SPACE=user/name` sends it up: docs/deploy.md.
space: setup
	@$(BIN)/python -m deploy.space $(if $(DRY),--dry "$(DRY)") $(if $(SPACE),--space "$(SPACE)") $(if $(YES),--yes)
