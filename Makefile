# Everything a person types. `make` alone shows this list.
# The demo and the tests install what they need: on a bare Debian 12, as root or with sudo, also
# from apt.

PYTHON ?= python3
VENV := .venv
BUILT := $(VENV)/.built
RUST := $(shell git ls-files 'bpf/**' 'crates/**.rs' 'crates/**.c' 'crates/**/Cargo.toml' Cargo.toml Cargo.lock pyproject.toml 2>/dev/null)
# The controllers for the kernel are an optional part: they need clang and libelf where they are
# built.
ifeq ($(shell uname -s),Linux)
export MATURIN_PEP517_ARGS := --features kernel,pyo3/extension-module
KERNEL := --features bindings/kernel
endif
# The fuzz targets without libFuzzer, built beside the workspace.
FUZZ := --manifest-path fuzz/Cargo.toml --no-default-features --target-dir target
PYTEST := $(VENV)/bin/python -m pytest
WORKERS := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
# Tests that only compute: none has a server, a browser, a time limit or anything of the kernel.
COMPUTING := tests/docs/test_worked_examples.py tests/evaluation tests/papers tests/plot tests/theory
# The reference pages come last: they document the modules that the others write.
LAST := tools/generate_reference.py
GENERATORS := $(filter-out $(LAST),$(wildcard tools/generate_*.py)) $(LAST)

.PHONY: help install build demo explorer router deb dkms wheel test test-rust test-python test-linux test-delivery test-kernels check publish-check generate site fuzz bench reproduce clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: ## install what building needs and is missing (apt, as root or with sudo)
	@sh tools/install.sh

build: $(BUILT) ## build; afterwards .venv/bin/anabranch works

$(BUILT): $(RUST) | install
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[test]'
	touch $@

demo: build ## scenario C with LIA and OLIA over 5 seeds: a table and an HTML report
	$(VENV)/bin/anabranch reproduce khalili.table3.n10 khalili.table3.n30 khalili.table6.olia --seeds 5 --report out/demo

explorer: build ## the explorer as one file, out/explorer.html, and the page in the package; installs node
	@sh tools/install.sh page
	npm --prefix explorer ci --silent --no-audit --no-fund
	sh explorer/engine.sh
	node explorer/lessons.mjs > explorer/build/asks.json
	$(VENV)/bin/python -m anabranch.explorer.data explorer/build/data.json explorer/build/asks.json
	node explorer/build.mjs
	node explorer/build.mjs --single

router: install ## the program for routers, target/*/router/anabranch-linux: linked statically
	@sh packaging/router.sh

deb: install ## the program for routers and its units as a Debian package in target/
	@sh packaging/deb.sh "$$(sh packaging/router.sh)"

dkms: build ## the controllers as kernel modules, for kernels without BTF: a package for DKMS, and an archive, in target/
	@sh packaging/dkms.sh $(VENV)/bin/anabranch

wheel: install ## the Python package as a wheel in target/wheels, with the controllers for the kernel
	@sh packaging/wheel.sh

test-delivery: deb wheel ## both in a fresh Debian 12, on this kernel: sudo make test-delivery; needs debootstrap
	$(PYTHON) tests/delivery/run.py

test: test-rust test-python ## build and run every test

test-rust: install
	cargo test --quiet --workspace --features simulator/quic --exclude bindings --exclude kernel --exclude loader
	cargo test --quiet --package kernel --package loader -- --nocapture # says which tests it skipped, and why
	cargo build --quiet --package loader # for tests/linux
	cargo test --quiet $(FUZZ) --lib # fuzz targets reach every kind
	cargo test --quiet --manifest-path templates/controller/Cargo.toml --target-dir target

test-python: build
	@sh tools/install.sh tests
	@if command -v chromium >/dev/null; then $(MAKE) --no-print-directory $(VENV)/.browser; fi
	$(PYTEST) --ignore tests/linux $(if $(IDLE),$(COMPUTING:%=--ignore %)) $(WORKERS)
# In real time: other tests would take its processors. CI gives what time they have left to IDLE and
# to tests that only compute.
	@if [ -n "$(IDLE)" ]; then \
	  chrt --idle 0 sh -ec '$(IDLE)' & beside=$$!; \
	  chrt --idle 0 $(PYTEST) $(COMPUTING) $(WORKERS) & computing=$$!; \
	  trap "kill $$beside $$computing" EXIT; fi; \
	$(PYTEST) tests/linux && if [ -n "$(IDLE)" ]; then wait $$beside && wait $$computing && trap - EXIT; fi

test-linux: ## the tests of the real kernel, on what is built: sudo make test-linux
	test=$$(ls -t target/debug/deps/attached-* | grep -v '\.d$$' | head -n 1); test -n "$$test" && $$test --nocapture
	$(PYTEST) tests/linux

test-kernels: build ## the controllers on other kernels, booted under emulation; fetches them, needs no root
	$(VENV)/bin/python tests/kernels/run.py

# `cargo fmt` does not see the files that registries name in a macro: rustfmt is given all of them.
check: build ## formatting, lints, types, layers (as CI does)
	@sh tools/install.sh check
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --quiet --workspace --all-targets $(KERNEL) -- -D warnings
	cargo clippy --quiet $(FUZZ) -- -D warnings
	$(VENV)/bin/ruff check python tests tools docs benches
	$(VENV)/bin/ruff format --quiet --check python tests tools docs benches
	$(VENV)/bin/mypy
	$(VENV)/bin/python tests/layers.py
	for tool in $(GENERATORS); do $(VENV)/bin/python $$tool --check || exit 1; done

PUBLISHED := $(addprefix -p anabranch-,units formula sharing control adapter noq quinn)

# Minutes of building, from the registry: not a part of `make check`.
publish-check: install ## whether the published crates package, and offer what crates/*/api.txt says
	cargo publish --dry-run --allow-dirty $(PUBLISHED)
	$(PYTHON) tools/public_api.py --check

generate: build ## write what is generated from the code: dataclasses, reference pages
	for tool in $(GENERATORS); do $(VENV)/bin/python $$tool || exit 1; done

site: $(VENV)/.docs ## the documentation as a site in out/site, every warning an error and every link checked
	$(VENV)/bin/python tools/generate_reference.py --check
	rm -rf out/site
	$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs/site -d out/doctrees . out/site
	$(VENV)/bin/python tools/check_site.py out/site

$(VENV)/.docs: pyproject.toml | build
	$(VENV)/bin/pip install --quiet $$($(VENV)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	touch $@

$(VENV)/.browser: pyproject.toml | build
	$(VENV)/bin/pip install --quiet $$($(VENV)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["browser"])')
	touch $@

fuzz: ## ten minutes of coverage-guided fuzzing of each target (FUZZ_SECONDS=600, JOBS=2); needs a C++ compiler
	fuzz/run

bench: ## instructions per packet-hop, memory per flow, the curve over flows (valgrind)
	$(PYTHON) benches/measure.py

reproduce: build ## every claim in full, with the report
	$(VENV)/bin/anabranch reproduce --json out/claims.json --report out/report

clean: ## remove what was built
	rm -rf target $(VENV) out explorer/build explorer/node_modules python/anabranch/*.so
