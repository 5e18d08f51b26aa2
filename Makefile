# Everything starts here; each verb first sets up what it needs. `make` alone lists the verbs.
PYTHON ?= python3
# Workers of the tests: one more than CI has cores, as now and then one only waits, for a browser or for a limit of time.
WORKERS ?= 3
CONSTRAINTS ?= constraints.txt

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UNFINISHED := $(VENV)/.unfinished

.DEFAULT_GOAL := help
.PHONY: help setup book check test stress chapters cards exercises timings reference scorecard publish bench clean

help:  ## list the verbs
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r verb what; do printf '  make %-9s %s\n' "$$verb" "$$what"; done

setup: $(STAMP)  ## make .venv and install the course with the tested versions
	@echo 'Ready. Read: make book. Run a chapter: $(BIN)/jupyter lab chapters/02_vae.ipynb'

# A set-up that was interrupted can leave packages half copied, which pip takes for installed: such a .venv is made anew.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'The course needs Python 3.11 or newer; name one with `make $(or $(MAKECMDGOALS),setup) PYTHON=python3.11`.'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo '$(PYTHON) lacks venv; on Debian and Ubuntu install the package python3-venv.'; exit 1; }
	@if [ -e $(UNFINISHED) ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then $(PYTHON) -m venv --clear $(VENV); fi
	@echo 'Installing the course into $(VENV) (the first time takes some minutes) …'
	@touch $(UNFINISHED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[book,test]'
	@rm -f $(UNFINISHED) && touch $@

# A failed build forgets its doctrees: otherwise the next one would not read the faulty page again, and would pass.
book: $(STAMP)  ## build the HTML book; a warning is an error, and so is a notebook or a scorecard that is not up to date
	@$(BIN)/python tools/chapters.py --check
	@$(BIN)/python tools/scorecard.py --check
	@$(BIN)/jupyter-book build . --config _config.yml --toc book/_toc.yml --path-output . -W -n --keep-going || \
	  { rm -rf _build/.doctrees; exit 1; }
	@echo 'The book is built. Open _build/html/index.html, or in a browser: file://$(CURDIR)/_build/html/index.html'

check: $(STAMP)  ## ruff and the fast tests, in three minutes
	@$(BIN)/python -m ruff check .
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not slow and not stress'
	@echo 'Sound as far as the fast tests see. Before you send a change: make test, make book.'

# One thread for each worker: two trainings that share cores with two threads each run ten times slower.
test: $(STAMP)  ## run every check: ruff, then all tests
	@$(BIN)/python -m ruff check .
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=30 --durations-min=5
	@echo 'All checks pass. To see the book: make book.'

stress: $(STAMP)  ## run the slow checks too: training that is killed, starved and fed rubbish, many times over
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m stress

chapters: $(STAMP)  ## execute the chapters and store their outputs; one with CHAPTER=02_vae
	@$(BIN)/python tools/chapters.py $(CHAPTER)
	@echo 'Stored in chapters/. See them in the book: make book; or run one: $(BIN)/jupyter lab chapters/'

cards: $(STAMP)  ## renew the cards of claims in chapters, for which nothing has to be executed
	@$(BIN)/python tools/chapters.py --cards
	@echo 'The cards are in chapters/. See them: make book.'

timings: $(STAMP)  ## measure how long each notebook takes; one with CHAPTER=02_vae
	@$(BIN)/python tools/timings.py $(CHAPTER)
	@echo 'The times are in book/timings.md. See them: make book.'

exercises: $(STAMP)  ## make the students' exercises from their solutions
	@$(BIN)/python tools/exercises.py
	@echo 'Open one: $(BIN)/jupyter lab exercises/02_vae.ipynb. The solutions are in book/exercises_solutions.md: make book.'

reference: $(STAMP)  ## write the pages made from docstrings and other sources, and what chapters say of their time
	@$(BIN)/python tools/reference.py
	@echo 'The pages are in book/. See them: make book.'

scorecard: $(STAMP)  ## write the scorecard from the claims and the stored results
	@$(BIN)/python tools/scorecard.py
	@echo 'The scorecard is book/scorecard.md. See it: make book.'

publish: $(if $(URL),$(STAMP))  ## write the repository's address where it is needed: URL=https://github.com/owner/name
	@if [ -z '$(URL)' ]; then echo 'Name the address: make publish URL=https://github.com/owner/name'; exit 1; fi
	@$(BIN)/python tools/publish.py '$(URL)'

# benchmarks/ holds longer ones too, which are started by hand: their first lines say what they show.
bench: $(STAMP)  ## measure the speed of training, of drawing images and of the scores on this computer
	@for name in datasets training fit_many soft_rank metrics subspace_diffusion; do echo "$$name"; $(BIN)/python "benchmarks/$$name.py" || exit 1; done

clean:  ## remove what was built; .venv stays
	@rm -rf _build build dist *.egg-info .pytest_cache .ruff_cache
	@find book chapters course_grading course_lib course_replication tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
