# make demo    measure two hosts behind slower links, predict an application, explain, write a page
# make test    the tests, without guests, clusters, simulations and browser
# make test-all  every test: the tests that `make test` leaves out take minutes and many packages
# make quick   style, types and short tests of one package: PACKAGE=formats, or PACKAGE=platforms/hosts
# make check   style, types, imports, native build with warnings as errors, then the tests
# make bench   performance of bareline itself and of its benchmarks (BENCH="npb storage" chooses some)
# make faults  break it in every known way and count what is lost (FAULTS="--guests --seed 2" adds options)
# make cloud   a real OpenStack with real guests on this machine: minutes (CLOUD="-k kills" chooses some)
# make docs-check  every command of the documentation that this machine can run, as printed: hours
# make site    the documentation as a site: build/site/index.html opens in a browser, without a server
# Each does its own set-up first: packages, .venv, native programs. `make setup` has what measuring
# needs, `make setup-tests` what all tests, style and types need in addition.

BARELINE := .venv/bin/bareline
#: The package of `make quick`; its name was ROOM.
PACKAGE = $(ROOM)

.PHONY: setup setup-quick setup-tests setup-python demo test test-all quick check lint bench faults cloud site docs-check clean

setup:
	@scripts/setup.sh

setup-quick:
	@scripts/setup.sh quick

setup-tests:
	@scripts/setup.sh tests

setup-python:
	@scripts/setup.sh python

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test: setup-quick
	@scripts/test.sh $(or $(PYTEST_ARGS),quick)

test-all: setup-tests
	@scripts/test.sh $(or $(PYTEST_ARGS),all)

quick: setup-python
	@.venv/bin/ruff check src/bareline/$(PACKAGE) tests/$(PACKAGE)
	@.venv/bin/mypy src/bareline/$(PACKAGE)
	@scripts/test.sh -q --quick -n auto -m "not (mpi or netns or long)" tests/$(PACKAGE)

lint: setup-tests
	@scripts/lint.sh

check: lint test-all

bench: setup-tests
	@scripts/bench.sh $(BENCH)

faults: setup-tests
	@.venv/bin/python scripts/faults $(FAULTS)

cloud: setup-tests
	@scripts/cloud.sh $(CLOUD)

site: setup-tests
	@scripts/site.sh

docs-check: setup-tests
	@BARELINE_DOCS_CHECK=1 .venv/bin/python -m pytest tests/docs/test_commands.py -k shell

clean:
	rm -rf .venv build dist runs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
