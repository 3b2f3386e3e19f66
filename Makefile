# make demo    measure two hosts behind slower links, predict an application, explain, write a page
# make test    all tests
# make check   style, types, imports, native build with warnings as errors, then the tests
# make bench   performance of bareline itself and of its benchmarks (BENCH="npb storage" chooses some)
# make faults  break it in every known way and count what is lost (FAULTS="--guests --seed 2" adds options)
# make cloud   a real OpenStack with real guests on this machine: minutes (CLOUD="-k kills" chooses some)
# make docs-check  every command of the documentation that this machine can run, as printed: hours
# make site    the documentation as a site: build/site/index.html opens in a browser, without a server
# Each does its own set-up first: packages, .venv, native programs. `make setup` has what measuring
# needs, `make setup-tests` what tests, style and types need beside it.

BARELINE := .venv/bin/bareline

.PHONY: setup setup-tests demo test check lint bench faults cloud site docs-check clean

setup:
	@scripts/setup.sh

setup-tests:
	@scripts/setup.sh tests

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test: setup-tests
	@scripts/test.sh $(PYTEST_ARGS)

lint: setup-tests
	@scripts/lint.sh

check: lint test

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
