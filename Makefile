# A thin face over the CMake presets.

PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)
# Tests wait for the processes of theirs: two more at a time keep the processors busy. With a sanitizer
# they compute more.
TEST_JOBS ?= $(shell expr $(JOBS) + 2)
CORE_TEST_JOBS ?= $(shell expr $(JOBS) + 1)

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := release

# Prerequisites are made one after the other: packages before what needs them. CMake and CTest use
# the processors.
.NOTPARALLEL:

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@for part in $(parts); do printf '  make %-20s one part of check-all (docs/testing.md)\n' check-$$part; done

.PHONY: packages
packages: ## install the Debian packages that are missing (needs root when there are any)
	@cmake/install-packages.sh

# A preset is configured once; after that its build notices by itself what changed.
build/%/build.ninja:
	cmake --preset $*

.PHONY: release
release: build/release/build.ninja ## build the release preset: programs in build/release/bin
	cmake --build --preset release --parallel $(JOBS)

.PHONY: debug
debug: build/debug/build.ninja ## build the debug preset: all usage checks on
	cmake --build --preset debug --parallel $(JOBS)

.PHONY: clang
clang: build/clang/build.ninja ## build with Clang, warnings as errors
	cmake --build --preset clang --parallel $(JOBS)

.PHONY: ft
ft: packages build/release/build.ninja ## build what it needs, then run NAS FT class A on two ranks in three variants
	cmake --build --preset release --parallel $(JOBS) --target gexrun ft
	build/release/bin/gexrun -n 2 build/release/bin/ft --class A

# Pictures and peers take further packages, which nothing else here needs; without root the report lacks them.
.PHONY: figures figures-quick
figures figures-quick: packages release ## measure the papers' figures beside other libraries: report/index.html (docs/figures.md)
	-cmake/install-packages.sh cmake/debian-packages-figures.txt
	cmake --preset release >/dev/null
	cmake --build --preset release --parallel $(JOBS) --target figure_peers
	bench/figures/figures.py --scale $(if $(filter figures-quick,$@),quick,full)

.PHONY: check
check: packages release ## build, then run one test of every behaviour
	ctest --preset release --parallel $(TEST_JOBS)

# Where no hosts can be made the script reports that, and ends with 77.
.PHONY: faults
faults: packages release ## try what can go wrong in a job of several hosts; prints what came of it (needs root)
	tests/hosts/faults.py --bin build/release --times 5 || test $$? = 77

# What a part is for, and how long it takes: docs/testing.md.
networks := smp $(patsubst src/net/%/conduit.cmake,%,$(wildcard src/net/*/conduit.cmake)) plugin
parts := cover $(networks:%=product-%) jobs hosts tree mutation
.PHONY: $(parts:%=check-%)
$(parts:%=check-%): check-%: packages release ## one part of check-all
	ctest --preset release --build-config $* --label-regex '^part-$*$$' --parallel $(TEST_JOBS)

# Each part by itself takes less than an hour; together they take many. The parts whose tests do not
# multiply configurations run in every preset.
every_preset := cover jobs hosts tree
.PHONY: check-all
check-all: packages release debug asan-build tsan-build clang ## all tests: `make check`, the other parts, and every other preset
	failed=; for part in check $(parts:%=check-%); do \
	  $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; for preset in debug asan tsan clang; do for part in "" $(every_preset); do \
	  ctest --preset $$preset $${part:+--build-config $$part --label-regex ^part-$$part'$$'} \
	    --parallel $(JOBS) || failed="$$failed $$preset$${part:+/$$part}"; \
	done; done; test -z "$$failed" || { echo "check-all: tests failed in:$$failed"; exit 1; }

.PHONY: asan-build tsan-build
asan-build tsan-build: %-build: build/%/build.ninja
	cmake --build --preset $* --parallel $(JOBS)

.PHONY: asan
asan: packages asan-build ## build and run the tests of check with AddressSanitizer and UndefinedBehaviorSanitizer
	ctest --preset asan --parallel $(JOBS)

.PHONY: tsan
tsan: packages tsan-build ## build and run the tests of check with ThreadSanitizer
	ctest --preset tsan --parallel $(JOBS)

.PHONY: asan-core tsan-core
asan-core tsan-core: %-core: packages build/%/build.ninja ## build and run the unit tests and a conformance run over each network with the sanitizer
	cmake --build --preset $* --parallel $(JOBS) --target core_tests
	ctest --preset $* --label-regex '^core$$' --parallel $(CORE_TEST_JOBS)

.PHONY: install
install: packages build/release/build.ninja ## build what is installed; install to PREFIX (default /usr/local), below DESTDIR if set
	cmake --build --preset release --parallel $(JOBS) --target installed
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

.PHONY: format
format: packages ## format the sources
	tests/structure/format.sh --fix

# With the compile commands of the Clang build, which clang-tidy understands.
.PHONY: tidy
tidy: packages build/clang/build.ninja ## lint the sources with clang-tidy (tools/lint)
	cmake --preset clang >/dev/null
	tools/lint build/clang --jobs $(JOBS)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build
