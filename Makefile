# The commands of the project; `make` alone lists them. What they need is set up by .ci/setup.

ARGS ?=
export DRY_RUN PYTHON

# With DRY_RUN=1 nothing is run: .ci/setup has said what would be set up.
run = $(if $(filter-out 0,$(DRY_RUN)),:,exec .venv/bin/python)

.PHONY: help play test test-slow lint pi clean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):  ## /  make \1#/p' Makefile | while IFS='#' read -r c t; do printf '%-18s %s\n' "$$c" "$$t"; done

play:  ## set up .venv and start the table on port 8000 (ARGS="--seed 7" and the like are passed on)
	@.ci/setup play
	@$(run) -m companion play $(ARGS)

# The tests start Python about a hundred times: its compiled files are kept, whatever the shell says.
test: export PYTHONDONTWRITEBYTECODE =
test:  ## set up everything and run the tests, those in a browser included
	@.ci/setup test
	@$(run) -m pytest -m "not slow" -n $$(( $$(nproc) + 1 )) --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(ARGS)

test-slow:  ## run the tests that take long (together more than an hour)
	@.ci/setup test
	@$(run) -m pytest -m slow $(ARGS)

lint:  ## check style and types
	@.ci/setup test
	@$(run) -m ruff check .
	@$(run) -m mypy

pi:  ## install on a Raspberry Pi and start the table with it (DRY_RUN=1 only says what it would do)
	@.ci/setup pi
	@.ci/service

clean:  ## remove .venv and everything that can be made again
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
