# Windtunnel's one Makefile.  `make help` lists the targets.
#
#   make VARIANT=debug        build into build/debug (variants are listed below)
#   make CC=clang OPT=-O1     another compiler or optimisation; rebuilds what that changes
#   make test ONLY=text       only the tests whose path holds "text"
#   make V=1                  show whole commands

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

# ---- Variants: each has its own folder build/$(VARIANT) ------------------------------------------
# release | profiled | counting | debug | sanitized | fuzz | coverage | gcc | clang | gcc-O0, clang-O1, ...
# (compiler-optimisation)

VARIANT ?= release
B := build/$(VARIANT)
OPT := -O2
INSTRUMENT :=
WARNINGS := -Wall -Wextra -Wshadow -Wconversion
WERROR ?= -Werror
ifeq ($(VARIANT),debug)
OPT := -O0
INSTRUMENT := -DWINDTUNNEL_DEBUG=1
else ifeq ($(VARIANT),sanitized)
OPT := -O1
INSTRUMENT := -DWINDTUNNEL_DEBUG=1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all \
              -fno-omit-frame-pointer
# gcc 12 warns of conversions that its own instrumentation adds; the other variants judge the code.
WARNINGS := -Wall -Wextra
WERROR :=
else ifeq ($(VARIANT),fuzz)
CC := clang
OPT := -O1
INSTRUMENT := -DWINDTUNNEL_DEBUG=1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all \
              -fno-omit-frame-pointer
else ifeq ($(VARIANT),coverage)
OPT := -O0
INSTRUMENT := --coverage -fprofile-update=atomic
else ifneq ($(filter gcc gcc-O% clang clang-O%,$(VARIANT)),)
CC := $(firstword $(subst -, ,$(VARIANT)))
OPT := $(or $(addprefix -,$(word 2,$(subst -, ,$(VARIANT)))),-O2)
else ifeq ($(filter release profiled counting,$(VARIANT)),)
$(error VARIANT '$(VARIANT)' is none of release profiled counting debug sanitized fuzz coverage gcc clang gcc-O0 ...)
endif

# What users run is optimised as a whole (an eighth faster), and more than the others (a twelfth); fat objects still
# link without that, so that tests link fast and the library serves any compiler.  On x86-64 gcc zeroes structures of
# some hundred bytes with an instruction that takes longer to begin than the plain stores take (a sixteenth).
# Tests are not: they compile in half of the time.
ifneq ($(filter release profiled counting,$(VARIANT)),)
OPT := -O3
TEST_FLAGS := -O1
ifneq ($(findstring Free Software Foundation,$(shell $(CC) --version 2>/dev/null)),)
LTO_COMPILE := -flto=auto -ffat-lto-objects
LTO_LINK := -flto=auto
LTO_NONE := -fno-lto
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
OPT += -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign
endif
endif
endif

# What users run reads files of strangers: an overflow that a test missed ends the program instead of running on
# (docs/security.md; tests/cli/hardened.sh).
ifneq ($(filter release profiled counting,$(VARIANT)),)
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong
HARDEN_LINK := -Wl,-z,relro,-z,now
endif

# A job runs through some 30 KB of code once, so what counts is that the ways taken fit the cache: short runs of the
# variant `counting` count them for `profiled`, what is installed and measured where gcc compiles.  What no run came to
# is compiled as in release.  gcc then warns of values that cannot occur; the other variants judge the code.
ifeq ($(VARIANT),counting)
WERROR :=
INSTRUMENT := -fprofile-generate
# What is counted are the ways through one file, before it is optimised with others: linking like that tells no more.
LTO_COMPILE :=
LTO_LINK :=
LTO_NONE :=
else ifeq ($(VARIANT),profiled)
WERROR :=
INSTRUMENT := -fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-error=coverage-mismatch
endif
# Where the counts are.  gcc knows functions again by that name too, so both variants have it.
COUNTS := build/counts
SHIPPED = $(if $(filter-out file,$(origin VARIANT)),$(VARIANT),$(if \
    $(findstring Free Software Foundation,$(shell $(CC) --version 2>/dev/null)),profiled,release))

# ---- Flags ---------------------------------------------------------------------------------------

LIBRARIES := gsl jansson libzstd hwloc libxxhash sqlite3
LIBRARIES_SCHED := jansson libxxhash
VERSION := $(shell cat VERSION)

CPPFLAGS := -D_GNU_SOURCE -I.
# -ffp-contract=off: every compiler and level computes the same.  -fPIC: the same objects make the shared
# library; -fno-semantic-interposition lets calls within a file stay direct and be inlined all the same.
CFLAGS = -std=gnu11 $(OPT) -g -fPIC -fno-semantic-interposition -ffp-contract=off \
         $(WARNINGS) $(WERROR) $(HARDEN) $(INSTRUMENT)
LDFLAGS := -Wl,--as-needed $(HARDEN_LINK)
# pkg-config runs at the first use in a recipe, when `deps` has had its turn; then the answer is kept.
remember = $(eval $(1) := $(2))$($(1))
LIBRARIES_CFLAGS = $(call remember,LIBRARIES_CFLAGS,$(shell pkg-config --cflags $(LIBRARIES)))
LIBRARIES_LIBS = $(call remember,LIBRARIES_LIBS,$(shell pkg-config --libs $(LIBRARIES)) -lm -ldl)
LIBRARIES_SCHED_LIBS = $(call remember,LIBRARIES_SCHED_LIBS,$(shell pkg-config --libs $(LIBRARIES_SCHED)) -lm)
CMOCKA_LIBS = $(call remember,CMOCKA_LIBS,$(shell pkg-config --libs cmocka))

ifeq ($(V),1)
say =
else
say = @printf '  %-5s %s\n' '$(1)' '$(2)';
endif

# ---- Sources -------------------------------------------------------------------------------------

FOLDERS := base topologies workloads policies sim reports studies tools
SOURCES := $(sort $(foreach folder,$(FOLDERS),$(wildcard $(folder)/*.c)) \
             $(wildcard policies/*/*.c reports/*/*.c sim/*/*.c workloads/*/*.c studies/*/*.c))
PRESETS := $(sort $(wildcard policies/presets/*.json))
MAPS := $(sort $(wildcard workloads/maps/*.json))
SHELLS := bash zsh fish
MODELS := $(sort $(wildcard workloads/models/*.json))
SUPPORT := $(sort $(wildcard tests/support/*.c))

object = $(patsubst %.c,$(B)/objects/%.o,$(1))
EMBEDDED := $(addprefix $(B)/objects/,policies/policy_presets.o workloads/readers/trace_maps.o \
                                    workloads/load_model/load_models.o tools/commands.o tools/completions.o)
OBJECTS := $(call object,$(SOURCES)) $(EMBEDDED)
MAIN := $(B)/objects/tools/main.o
PROGRAM := $(if $(wildcard tools/main.c),$(B)/windtunnel)

# What the scheduler library is made of: nothing here may need a file, a stream, hwloc or zstd.
SCHED_NOUNS := $(addprefix base/,mem error text buffer time names bits hash json reason) \
               $(addprefix topologies/,gpu_class gpu_model mig queue_table cluster) \
               $(addprefix topologies/,links transport collective training training_plan gang_place communication) \
               $(addprefix workloads/,job node_ask)
SCHED_SPLIT := $(addprefix base/,error_% text_% buffer_% json_%) \
               $(addprefix topologies/,mig_% cluster_json% gang_% communication_%) \
               workloads/job_% workloads/node_ask_% policies/%
SCHED_NOT := base/json_file workloads/job_truth%
SCHED_SOURCES := $(filter-out $(addsuffix .c,$(SCHED_NOT)),\
    $(filter $(addsuffix .c,$(SCHED_NOUNS) $(SCHED_SPLIT)),$(SOURCES)))
SCHED_OBJECTS := $(call object,$(SCHED_SOURCES)) $(B)/objects/policies/policy_presets.o
SCHED_SO := libwindtunnel_sched.so
SCHED_SONAME := $(SCHED_SO).$(firstword $(subst ., ,$(VERSION)))
SCHED_HEADERS := policies/sched.h policies/explain.h policies/wire.h policies/plugin.h

# ---- What to type --------------------------------------------------------------------------------

.PHONY: all profiled run test test-slow test-quick test-all bare bench bench-update table docs-check lint lines format \
        sanitize fuzz valgrind coverage mutants golden-update install deb clean deps help compile link objects \
        libraries test-small check-deps FORCE

all: link libraries ## Build ./windtunnel and the scheduler library (the default)

# ./windtunnel is the program that was built last; the variants for tests leave it alone.
link: $(PROGRAM)
	@[ "$$(readlink windtunnel)" = $(B)/windtunnel ] || ln -sfn $(B)/windtunnel windtunnel

profiled: ## Build ./windtunnel as it is installed: laid out by what short runs of it do, faster (gcc only)
	@$(MAKE) --no-print-directory VARIANT=profiled link

# The base is what most fleets do: kubernetes with a whole GPU for each job that requests a share of one.  kubernetes
# with shares as requested tells what comes from the shares alone.
FLAGSHIP := --scenario scenarios/h100-500x8.json --policy kubernetes-whole=kubernetes --policy kubernetes \
            --policy fifo --policy windtunnel --side kubernetes-whole:policy.sharing=whole --seeds 3 --no-why

run: link ## Run the main scenario, two weeks on 4,000 GPUs (ARGS='...' adds arguments); compare policies on it
	./windtunnel run scenarios/h100-500x8.json --out out/h100-500x8 $(ARGS)
	./windtunnel compare $(FLAGSHIP) --out out/flagship >/dev/null

deps: ## Install the Debian packages that building, testing and linting need
	@tools/deps build run test oracle lint lines clang valgrind package extra bare

help: ## List the targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

format: ## Lay out all C files with clang-format
	clang-format -i $(filter %.c %.h,$(shell tools/lint/files))

clean: ## Remove what was built (records under out/ stay)
	rm -rf build windtunnel

# The packages that the goals need are checked before anything is compiled.  Only the goals named here install
# what is missing; any other only says so.
# `make test` needs no packages but those of TEST_GROUPS, and its tests find no other commands (tests/run --packages);
# tests that need the others are among the SLOW ones.
TEST_GROUPS := start build run test
SLOW_GROUPS := $(TEST_GROUPS) oracle lint valgrind package extra
TESTING := compile test test-slow test-quick test-all test-small valgrind-unit golden-update
INSTALLING := run profiled deb deb-files bench bench-run bench-update bench-rewrite table docs-check $(TESTING)
goals = $(filter $(1),$(MAKECMDGOALS))
PACKAGES := build $(if $(call goals,$(INSTALLING)),run) $(if $(call goals,$(TESTING)),test) \
            $(if $(call goals,test-slow test-all),$(SLOW_GROUPS)) $(if $(call goals,test-all),bare) \
            $(if $(call goals,lint lint-run),lint) $(if $(call goals,lines),lines) \
            $(if $(call goals,deb deb-files),package) \
            $(if $(call goals,valgrind-unit bench bench-run bench-update bench-rewrite),valgrind)

check-deps:
	@tools/deps $(if $(call goals,$(INSTALLING)),,--check) $(PACKAGES)

# ---- Building ------------------------------------------------------------------------------------

objects: $(OBJECTS)

# A stamp is rewritten only when its text changes, so that new flags or a vanished source rebuild what they touch.
stamp = @mkdir -p $(@D); printf '%s\n' '$(1)' > $@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/flags: FORCE | check-deps
	$(call stamp,$(CC) $(CPPFLAGS) $(CFLAGS) $(TEST_FLAGS) $(LTO_COMPILE) $(LIBRARIES_CFLAGS) $(LDFLAGS))

$(B)/sources: FORCE
	$(call stamp,$(SOURCES) / $(SCHED_SOURCES) / $(SUPPORT))

ifeq ($(VARIANT),profiled)
build/counting/windtunnel: FORCE | check-deps
	@$(MAKE) --no-print-directory VARIANT=counting $@

$(COUNTS)/done: build/counting/windtunnel tools/count_ways
	$(call say,count,$(COUNTS)) tools/count_ways $< $(COUNTS)
	@touch $@

$(OBJECTS): $(COUNTS)/done
endif

$(B)/objects/%.o: %.c $(B)/flags | check-deps
	@mkdir -p $(@D)
	$(call say,cc,$<) $(CC) $(CPPFLAGS) $(if $(filter tools/%,$<),-DWINDTUNNEL_VERSION='"$(VERSION)"') \
	    $(LIBRARIES_CFLAGS) $(CFLAGS) $(if $(filter tests/%,$<),$(TEST_FLAGS) -U_FORTIFY_SOURCE,$(LTO_COMPILE)) \
	    $(if $(filter counting profiled,$(VARIANT)),-dumpdir $(COUNTS)/$(*D)/) -MMD -MP -c -o $@ $<

$(call object,$(filter tools/%,$(SOURCES))): VERSION
# Named, so that make does not delete them as intermediate files.
$(call object,$(wildcard tests/*/*.c)):

$(B)/generated/policy_presets.c: embedded = policies/config/presets.h policy_preset_texts $(PRESETS)
$(B)/generated/trace_maps.c: embedded = workloads/readers/column_map.h column_map_texts $(MAPS)
$(B)/generated/load_models.c: embedded = workloads/load_model/load_model.h load_model_texts $(MODELS)
$(B)/generated/completions.c: embedded = tools/verbs.h tool_completion_texts $(SHELLS:%=tools/completions/%)
$(B)/generated/%.c: FORCE tools/embed
	@mkdir -p $(@D)
	@tools/embed $(embedded) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/generated/commands.c: FORCE tools/embed_commands
	@mkdir -p $(@D)
	@tools/embed_commands tools/commands.txt > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(EMBEDDED): $(B)/flags | check-deps
	@mkdir -p $(@D)
	$(call say,cc,$@) $(CC) $(CPPFLAGS) $(CFLAGS) $(LTO_COMPILE) -MMD -MP -c -o $@ $(filter %.c,$^)
$(B)/objects/policies/policy_presets.o: $(B)/generated/policy_presets.c
$(B)/objects/workloads/readers/trace_maps.o: $(B)/generated/trace_maps.c
$(B)/objects/workloads/load_model/load_models.o: $(B)/generated/load_models.c
$(B)/objects/tools/commands.o: $(B)/generated/commands.c
$(B)/objects/tools/completions.o: $(B)/generated/completions.c

# Everything but main, for the program and the tests.
$(B)/libwindtunnel.a: $(filter-out $(MAIN),$(OBJECTS)) $(B)/sources
	@rm -f $@
	$(call say,ar,$@) ar rcs $@ $(filter %.o,$^)

# Plug-ins may call the functions that tools/plugin_symbols names, and those alone.
$(B)/windtunnel: $(MAIN) $(B)/libwindtunnel.a tools/plugin_symbols
	$(call say,link,$@) $(CC) $(CFLAGS) $(LTO_LINK) $(LDFLAGS) -Wl,--dynamic-list=tools/plugin_symbols \
	    -o $@ $(filter-out tools/plugin_symbols,$^) $(LIBRARIES_LIBS)

build/windtunnel.1: $(B)/windtunnel
	$(call say,man,$@) $< help --man > $@

# ---- The scheduler library -----------------------------------------------------------------------

libraries: $(B)/libwindtunnel_sched.a $(B)/$(SCHED_SO)

$(B)/libwindtunnel_sched.a: $(SCHED_OBJECTS) $(B)/sources
	@rm -f $@
	$(call say,ar,$@) ar rcs $@ $(filter %.o,$^)

# -z defs: whatever the policies need must be in the library or in the few it links.
$(B)/$(SCHED_SO).$(VERSION): $(SCHED_OBJECTS) $(B)/sources
	$(call say,link,$@) $(CC) $(CFLAGS) $(LTO_NONE) $(LDFLAGS) -shared -Wl,-soname,$(SCHED_SONAME) -Wl,-z,defs \
	    -Wl,-Bsymbolic-functions -o $@ $(filter %.o,$^) $(LIBRARIES_SCHED_LIBS)

$(B)/$(SCHED_SO): $(B)/$(SCHED_SO).$(VERSION)
	@ln -sf $(SCHED_SO).$(VERSION) $(B)/$(SCHED_SONAME)
	@ln -sf $(SCHED_SONAME) $@

PREFIX ?= /usr/local
LIBDIR ?= lib
ZSH_FUNCTIONS ?= share/zsh/site-functions
INSTALLED := $(DESTDIR)$(PREFIX)

# The program finds these from where it stands (tools/installed.h); documents keep their folders, so that links between
# them hold. The traces of scenarios/openb.json are not ours to install.
DATA := $(wildcard $(filter-out scenarios/openb.json,$(wildcard scenarios/*.json)) scenarios/*.csv \
                   scenarios/sweeps/*.json topologies/*.json topologies/*.xml workloads/samples/* \
                   workloads/models/*.json)
DOCUMENTS := README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE topologies/README.md workloads/README.md \
             $(wildcard docs/*.md) $(sort $(shell find docs/examples -type f ! -name '*.o' ! -name '*.so'))

install: ## Install program, library, headers, scenarios and documents (DESTDIR=, PREFIX=; VARIANT=release: sooner)
	@$(MAKE) --no-print-directory VARIANT=$(SHIPPED) install-files

.PHONY: install-files
install-files: all build/windtunnel.1
	install -d $(INSTALLED)/bin $(INSTALLED)/$(LIBDIR)/pkgconfig $(INSTALLED)/share/man/man1
	install -m 755 $(B)/windtunnel $(INSTALLED)/bin/
	sed 's|/usr/local/share|$(PREFIX)/share|' build/windtunnel.1 > $(INSTALLED)/share/man/man1/windtunnel.1
	chmod 644 $(INSTALLED)/share/man/man1/windtunnel.1
	install -D -m 644 tools/completions/bash $(INSTALLED)/share/bash-completion/completions/windtunnel
	install -D -m 644 tools/completions/zsh $(INSTALLED)/$(ZSH_FUNCTIONS)/_windtunnel
	install -D -m 644 tools/completions/fish $(INSTALLED)/share/fish/vendor_completions.d/windtunnel.fish
	set -e; for file in $(DATA); do install -D -m 644 $$file $(INSTALLED)/share/windtunnel/$$file; done
	set -e; for file in $(DOCUMENTS); do install -D -m 644 $$file $(INSTALLED)/share/doc/windtunnel/$$file; done
	install -m 644 $(B)/libwindtunnel_sched.a $(B)/$(SCHED_SO).$(VERSION) $(INSTALLED)/$(LIBDIR)/
	cp -P $(B)/$(SCHED_SONAME) $(B)/$(SCHED_SO) $(INSTALLED)/$(LIBDIR)/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' tools/windtunnel_sched.pc.in \
	    > $(INSTALLED)/$(LIBDIR)/pkgconfig/windtunnel_sched.pc
	chmod 644 $(INSTALLED)/$(LIBDIR)/pkgconfig/windtunnel_sched.pc
	set -e; for header in $$($(CC) $(CPPFLAGS) $(LIBRARIES_CFLAGS) -MM $(SCHED_HEADERS) | \
	    tr -s ' \\' '\n\n' | grep '\.h$$'); do \
	    install -D -m 644 $$header $(INSTALLED)/include/windtunnel/$$header; done

deb: ## Build Debian packages of what `make install` installs: build/deb/*.deb (VARIANT=release: sooner)
	@$(MAKE) --no-print-directory VARIANT=$(SHIPPED) deb-files

DEB := build/deb
.PHONY: deb-files
deb-files: all build/windtunnel.1
	@tools/make_deb $(DEB) $(VERSION) VARIANT=$(VARIANT) CC='$(CC)'

# ---- Tests ---------------------------------------------------------------------------------------

ONLY ?=
KINDS_QUICK := unit golden fault
KINDS := unit property analytic conformance golden determinism fault library cli
only = $(if $(ONLY),$(foreach path,$(1),$(if $(findstring $(ONLY),$(path)),$(path))),$(1))
# tests/library and tests/cli hold programs and scripts of any name, the others test_*.
programs = $(patsubst tests/%.c,$(B)/tests/%,$(call only,$(sort $(foreach kind,$(1),\
    $(wildcard tests/$(kind)/test_*.c)) $(if $(filter library,$(1)),$(wildcard tests/library/*.c)))))
scripts = $(call only,$(sort $(foreach kind,$(1),$(wildcard tests/$(kind)/test_*.sh)) \
    $(if $(filter cli,$(1)),$(wildcard tests/cli/*.sh))))
tests = $(call programs,$(1)) $(call scripts,$(1))
# What takes longest, and what needs packages that building and running do not, stands back from `make test`, unless
# ONLY names it: `make test-slow` (in CI) and `make test-all` run it. tests/cli/determinism.sh is in both; there the
# builds of DETERMINISM are made first, here it takes those that are there.
SLOW := $(wildcard $(addprefix tests/,analytic/test_mmc.c analytic/test_sizing.c analytic/test_statistics_oracle.sh \
    $(addprefix cli/,bench.sh completion_shells.sh deb.sh lint_selftest.sh near_linear.sh table_costs.sh \
    policy_check_process.sh sacct_slurm.sh schema.sh sweep_slurm.sh) \
    $(addprefix property/test_,easy_oracle.c fifo_oracle.c guarantees.c presets.c)))
DETERMINISM = gcc-O0 $(if $(shell command -v clang),clang) $(filter profiled,$(SHIPPED))
DETERMINISM_TEST := tests/cli/determinism.sh
not_slow = $(if $(ONLY),$(1),$(filter-out $(SLOW) $(SLOW:tests/%.c=$(B)/tests/%),$(1)))
slow_programs = $(patsubst tests/%.c,$(B)/tests/%,$(call only,$(filter %.c,$(SLOW))))
slow_scripts = $(call only,$(filter %.sh,$(SLOW)) $(DETERMINISM_TEST))

TEST_TIMEOUT_S ?= $(if $(filter full,$(SIZE)),3600,1200)
# The daemons of Slurm are not among the packages that `make deps` installs; where they are, two tests run with them.
test test-quick golden-update: COMMANDS_OF = $(if $(ONLY),$(SLOW_GROUPS),$(TEST_GROUPS))
COMMANDS_OF = $(SLOW_GROUPS) slurm
RUN_TESTS = WINDTUNNEL_TEST_SIZE=$(SIZE) WINDTUNNEL=$(B)/windtunnel WINDTUNNEL_BUILD=$(B) CC='$(CC)' OPT='$(OPT)' \
            tests/run --timeout $(TEST_TIMEOUT_S) --logs $(B)/logs --packages '$(COMMANDS_OF)'

# An archive, so that a test takes what it uses alone: one that plays the scheduler itself must not meet the true one.
$(B)/libtest_support.a: $(call object,$(SUPPORT)) $(B)/sources
	@rm -f $@
	$(call say,ar,$@) ar rcs $@ $(filter %.o,$^)

$(B)/tests/%: $(B)/objects/tests/%.o $(B)/libtest_support.a $(B)/libwindtunnel.a
	@mkdir -p $(@D)
	$(call say,link,$@) $(CC) $(CFLAGS) $(LTO_NONE) $(LDFLAGS) -o $@ $^ $(LIBRARIES_LIBS) $(CMOCKA_LIBS)

# For figures that users may expect: optimised as a whole, which takes a minute of CPU time for each.
$(B)/whole/%: $(B)/objects/tests/%.o $(B)/libtest_support.a $(B)/libwindtunnel.a
	@mkdir -p $(@D)
	$(call say,link,$@) $(CC) $(CFLAGS) $(LTO_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES_LIBS) $(CMOCKA_LIBS)

# These prove that the scheduler library stands alone: nothing else is linked.
$(B)/tests/library/%: $(B)/objects/tests/library/%.o $(B)/libwindtunnel_sched.a
	@mkdir -p $(@D)
	$(call say,link,$@) $(CC) $(CFLAGS) $(LTO_NONE) $(LDFLAGS) -o $@ $^ $(LIBRARIES_SCHED_LIBS) $(CMOCKA_LIBS)

test test-slow test-quick test-small golden-update sanitize valgrind coverage: SIZE ?= small
test-all bench-run: SIZE ?= full

# tests/cli/hardened.sh looks at the shared library.
test test-all: $(if $(filter tests/cli/hardened.sh,$(call scripts,cli)),libraries)

test: link $(call not_slow,$(call programs,$(KINDS))) ## Run all but the slowest tests, small (ONLY=part of a path)
	@$(RUN_TESTS) $(if $(ONLY),,--note 'left out: the $(words $(SLOW)) slowest tests; make test-slow runs them') \
	    $(call not_slow,$(call tests,$(KINDS)))

test-slow: link determinism-builds $(slow_programs) ## Run the tests that `make test` leaves out, and compare builds
	@$(RUN_TESTS) $(slow_programs) $(slow_scripts)

# One after another, and before the time of the test counts.
.PHONY: determinism-builds
determinism-builds: link
	@set -e; for variant in $(DETERMINISM); do \
	    $(MAKE) --no-print-directory VARIANT=$$variant build/$$variant/windtunnel; done

test-quick: link $(call programs,$(KINDS_QUICK)) ## Run the unit, golden and fault tests
	@$(RUN_TESTS) $(call tests,$(KINDS_QUICK))

test-all: link determinism-builds $(call programs,$(KINDS) bench) ## Run all tests, full sizes; sanitize; bare if root
	@if [ "$$(id -u)" -eq 0 ]; then tools/bare; fi
	@$(MAKE) --no-print-directory sanitize
	@$(RUN_TESTS) $(if $(filter 0,$(shell id -u)),,--note 'left out: make bare, which needs root') \
	    $(call tests,$(KINDS) bench)

bare: ## Run the README's commands on a bare Debian in a folder (root, debootstrap; half an hour)
	@tools/deps bare
	@tools/bare

# Under the sanitizers these would take a third of the time, for code that other tests run under them, too, or for none:
# some run no program of the build, and determinism.sh compares the sanitized one where it is (`make test-slow`).
LONG_WHEN_WATCHED := analytic/test_mmc analytic/test_sizing analytic/test_statistics_oracle.sh \
    analytic/test_kaufman_roberts \
    $(addprefix cli/,compare.sh decide.sh determinism.sh lint_selftest.sh sacct_slurm.sh schema.sh \
    sweep_killed.sh sweep_slurm.sh) \
    $(addprefix property/test_,easy_oracle fifo_oracle guarantees presets work_conserved)

# As `test`, but ./windtunnel keeps pointing where it did (tests take the program's path from WINDTUNNEL).
# SAMPLE=N: the tests of what changed and one in N of the others (tests/sample).
SAMPLE ?=
ifneq ($(call goals,test-small),)
SMALL_TESTS := $(filter-out $(if $(filter sanitized,$(VARIANT)),$(addprefix %tests/,$(LONG_WHEN_WATCHED))), \
    $(call tests,$(KINDS)))
SMALL_TESTS := $(if $(SAMPLE),$(shell tests/sample $(SAMPLE) $(SMALL_TESTS)),$(SMALL_TESTS))
endif
test-small: $(PROGRAM) $(filter $(B)/%,$(SMALL_TESTS))
	@$(RUN_TESTS) $(SMALL_TESTS)

sanitize: ## Run the tests with AddressSanitizer and UndefinedBehaviorSanitizer (SAMPLE=8: of what changed, and an 8th)
	@$(MAKE) --no-print-directory VARIANT=sanitized test-small

# libFuzzer's own main drives these.
$(B)/tests/fuzz/%: $(B)/objects/tests/fuzz/%.o $(B)/libtest_support.a $(B)/libwindtunnel.a
	@mkdir -p $(@D)
	$(call say,link,$@) $(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBRARIES_LIBS) $(CMOCKA_LIBS)

FUZZ_S ?= 60
fuzz: ## Run each libFuzzer program (needs clang) for FUZZ_S=60 seconds on inputs of build/fuzz/inputs (ONLY=)
	@$(MAKE) --no-print-directory VARIANT=fuzz fuzz-run

FUZZERS := $(patsubst tests/%.c,$(B)/tests/%,$(call only,$(sort $(wildcard tests/fuzz/fuzz_*.c))))
.PHONY: fuzz-run
fuzz-run: $(FUZZERS) $(B)/windtunnel
	@set -e; for fuzzer in $(FUZZERS); do echo "== $$fuzzer"; \
	    inputs=$(B)/inputs/$$(basename $$fuzzer); mkdir -p $$inputs; \
	    WINDTUNNEL=$(B)/windtunnel tests/fuzz/starts $$fuzzer $$inputs; \
	    $$fuzzer -max_total_time=$(FUZZ_S) -max_len=16384 -len_control=0 -print_final_stats=1 -dict=$$inputs.words \
	        -artifact_prefix=$$inputs- $$inputs; done

valgrind: ## Run the unit tests under valgrind
	@$(MAKE) --no-print-directory VARIANT=debug valgrind-unit

.PHONY: valgrind-unit
valgrind-unit: SIZE = small
valgrind-unit: $(call programs,unit)
	@$(RUN_TESTS) --wrap 'valgrind --quiet --error-exitcode=99 --leak-check=full' $(call programs,unit)

coverage: ## Run the tests with coverage and print the share of lines run, by file
	@$(MAKE) --no-print-directory VARIANT=coverage test-small
	@tools/coverage build/coverage/objects $(SOURCES)

# `mutants` breaks policies/ and sees whether the cases or a program that knows a header of policies/ notices, by itself
# or through what helps it to a scheduler.
MUTANT_TESTS := $(sort $(shell grep -lE '"(policies/|tests/support/(sched|quota|honest|random|run|wire))' \
    $(wildcard $(addsuffix /test_*.c,$(addprefix tests/,golden library property unit)))))

mutants: ## Break the policies one spot at a time, see that tests notice (ARGS='--sample 200', '--file FILE.c', ...)
	@$(MAKE) --no-print-directory VARIANT=gcc-O1 mutants-run

# Variables start with a known pattern, so that a dropped assignment does the same on every machine; what is not
# defined, such as an index out of bounds, is a death.
.PHONY: mutants-run
mutants-run: $(OBJECTS) $(call object,$(MUTANT_TESTS) $(SUPPORT))
	@MUTATE_COMPILE='$(CC) $(CPPFLAGS) $(LIBRARIES_CFLAGS) $(filter-out -g $(WARNINGS) $(WERROR),$(CFLAGS)) -w \
	    -ftrivial-auto-var-init=pattern -fsanitize=undefined -fsanitize-undefined-trap-on-error' \
	    MUTATE_LINK='$(CC) $(LDFLAGS)' \
	    MUTATE_LIBS='$(LIBRARIES_LIBS) $(CMOCKA_LIBS)' MUTATE_OBJECTS='$(filter-out $(MAIN),$(OBJECTS))' \
	    tools/mutate --objects $(B)/objects $(ARGS) $(MUTANT_TESTS)

golden-update: link $(call programs,golden) ## Rewrite the expected texts of the golden tests from what is printed now
	@WINDTUNNEL_GOLDEN_UPDATE=1 $(RUN_TESTS) $(call tests,golden)

BENCH_PROGRAMS := $(patsubst tests/%.c,$(B)/$(if $(filter small,$(SIZE)),tests,whole)/%,\
    $(call only,$(sort $(wildcard tests/bench/bench_*.c))))
BENCH_SCRIPTS := $(call only,$(sort $(wildcard tests/bench/bench_*.sh)))
# Everything there is to compile; programs of tests are linked where they run.
compile: $(PROGRAM) libraries $(call object,$(SUPPORT) \
    $(foreach kind,$(KINDS) bench,$(wildcard tests/$(kind)/test_*.c)) $(wildcard tests/library/*.c tests/bench/*.c))

table: link ## Make a table of runs side by side (NAME=backfill ARGS='--seeds 1,2'); without NAME, list them
	@WINDTUNNEL=$(B)/windtunnel tools/table $(NAME) $(ARGS)

docs-check: link ## See that the documents' figures are what their commands print (SAMPLE=8; ARGS='--update README.md')
	@WINDTUNNEL=$(B)/windtunnel tools/docs_check $(if $(SAMPLE),--sample $(SAMPLE)) $(ARGS)

bench: ## Count instructions per job, fail where they grew; print times (SIZE=small: short; VARIANT=release)
	@$(MAKE) --no-print-directory VARIANT=$(SHIPPED) bench-run

bench-update: ## Count again and rewrite the figures that `make bench` holds (tests/bench/rows.txt)
	@$(MAKE) --no-print-directory VARIANT=$(SHIPPED) bench-rewrite

.PHONY: bench-run bench-rewrite
bench-run: link $(BENCH_PROGRAMS)
	@export WINDTUNNEL_TEST_SIZE=$(SIZE) WINDTUNNEL=$(B)/windtunnel; failed=0; \
	$(if $(filter small,$(SIZE)),echo 'bench programs are linked as tests are: slower than ./windtunnel';) \
	for bench in $(BENCH_SCRIPTS) $(BENCH_PROGRAMS); do echo "== $$bench"; $$bench || failed=1; done; exit $$failed

bench-rewrite: link
	@WINDTUNNEL=$(B)/windtunnel tests/bench/bench_instructions.sh --update

# Without VARIANT a build of gcc that is there, the newest; if there is none, the one that takes least.
LINTED = $(or $(if $(filter-out file,$(origin VARIANT)),$(VARIANT)),$(patsubst build/%/windtunnel,%,$(firstword \
    $(shell ls -t build/release/windtunnel build/debug/windtunnel build/gcc*/windtunnel 2>/dev/null))),debug)

lint: ## Check layers, the scheduler's isolation, headers, layout, sizes and texts
	@$(MAKE) --no-print-directory VARIANT=$(LINTED) lint-run

.PHONY: lint-run
lint-run: objects $(B)/$(SCHED_SO)
	@# Objects of sources that moved away say nothing of the tree as it is.
	@printf '%s\n' $(OBJECTS) | sort > $(B)/objects.now; \
	    find $(B)/objects -name '*.o' ! -path '*/objects/tests/*' | sort | \
	    comm -23 - $(B)/objects.now | xargs -r rm -f
	@CC='$(CC)' tools/lint/run $(B)/objects $(B)/$(SCHED_SO)

lines: | check-deps ## Count lines of C without comments and blanks, by folder and room (ARGS='HEAD': as committed)
	@tools/lines $(ARGS)

-include $(patsubst %.o,%.d,$(OBJECTS)) $(wildcard $(B)/objects/tests/*/*.d)
