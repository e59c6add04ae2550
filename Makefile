# Everything a contributor types. `make help` lists the targets; run and test
# need Go and make only.

.SHELLFLAGS := -eu -c
# What pipes and reads line by line needs more than the plain shell.
bench fuzz: SHELL := bash
bench fuzz: .SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
BIN := bin
# A pure Go build with no path of this machine in it.
BUILD := CGO_ENABLED=0 $(GO) build -trimpath
TOOL := $(GO) tool -modfile=tools/go.mod
# Folders that hold a manifest; each has its generated code beside it.
MANIFESTS := . examples/quickstart examples/agentstubs examples/deployments examples/evaluate
# Systems that must compile, besides linux/amd64 (nocgo).
PLATFORMS := linux/arm64 darwin/arm64 windows/amd64
# How much each fuzz target runs: a number of inputs, which unlike a time is the
# same on a slow machine, and does not end one in the middle.
FUZZTIME := 1000x
# The folder that retrieval measures; empty is the shared suite.
DIR :=
# What bench measures, and how often.
BENCH := .
COUNT := 6

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The server knows the very worker binary that was built with it.
define BUILD_WORKSPACE
$(BUILD) -o $(BIN)/ ./cmd/capgen-worker
sum=$$({ sha256sum $(BIN)/capgen-worker || shasum -a 256 $(BIN)/capgen-worker; } 2>/dev/null | cut -c 1-64); \
$(BUILD) -ldflags "-X main.workerSHA256=$$sum" -o $(BIN)/ ./cmd/workspace
endef

.PHONY: build
build: ## Build bin/capgen, bin/workspace and its bin/capgen-worker
	$(BUILD) -o $(BIN)/ ./cmd/capgen
	@$(BUILD_WORKSPACE)

.PHONY: run
run: ## Build the reference server and run one program over this repository
	@echo "building $(BIN)/workspace; the first time this compiles every dependency" >&2
	@$(BUILD_WORKSPACE)
	@$(BIN)/workspace exec --root . examples/explore/explore.star

.PHONY: test
test: ## Run all tests, those of authz/rego, which is a module of its own, too
	$(GO) test ./...
	cd authz/rego && $(GO) vet ./... && $(GO) test ./...

# Tests that compare bytes, once more with encoding/json/jsontext as a judge.
.PHONY: jsontext
jsontext: ## Compare what canonicalizers write with encoding/json/jsontext too
	GOEXPERIMENT=jsonv2 $(GO) vet ./internal/oracle
	GOEXPERIMENT=jsonv2 $(GO) test -count=1 ./internal/oracle ./runtime/canon

# The detector lets a process wait a second at its end, and tests start thousands.
RACE := GORACE='atexit_sleep_ms=0' $(GO) test -race

.PHONY: race
race: ## Run all tests under the race detector (needs a C compiler)
	$(RACE) -timeout 20m ./...

.PHONY: fmt
fmt: ## Format the Go files
	gofmt -w $$(find . -name '*.go' -not -path './$(BIN)/*')

.PHONY: fmt-check
fmt-check: ## Fail if a Go file is not formatted
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet: ## Run go vet, and capgenvet, which looks for the mistakes of hosts
	$(GO) vet ./...
	$(BUILD) -o $(BIN)/ ./cmd/capgenvet
	$(GO) vet -vettool=$(CURDIR)/$(BIN)/capgenvet ./...

.PHONY: lint
lint: ## Run staticcheck, at the version that tools/go.mod pins
	$(TOOL) staticcheck ./...

.PHONY: generate
generate: ## Compile every manifest into Go, and write the reference of the language
	@for d in $(MANIFESTS); do (cd $$d && $(GO) run github.com/capgen/capgen/cmd/capgen generate); done
	$(GO) test -count=1 -run '^TestLanguageReference$$' ./runtime/program -update

.PHONY: check
check: ## Fail if generated code is missing, stale or edited, or lint finds something in a manifest
	@for d in $(MANIFESTS); do (cd $$d && $(GO) run github.com/capgen/capgen/cmd/capgen check && $(GO) run github.com/capgen/capgen/cmd/capgen lint --strict); done

.PHONY: nocgo
nocgo: ## Build without cgo
	CGO_ENABLED=0 $(GO) build ./...

CLIENTS := tests/clients
# What npm installed last, newer than what it should install.
INSTALLED := $(CLIENTS)/node_modules/.package-lock.json

$(INSTALLED): $(CLIENTS)/package.json $(CLIENTS)/package-lock.json
	@command -v npm >/dev/null || { echo "make clients needs Node 20 or newer, with npm"; exit 1; }
	cd $(CLIENTS) && npm install --no-save --omit=optional --prefer-offline --loglevel=error
	@touch $@

.PHONY: clients
clients: build $(INSTALLED) ## Let other makers' MCP clients use bin/workspace (needs Node 20 and npm)
	$(GO) test -count=1 -run '^TestClient$$' ./cmd/workspace -server $(CURDIR)/$(BIN)/workspace
	cd $(CLIENTS) && node --test

CONFORMANCE := tests/conformance
# The folder stands for what npm put into it last.
$(CONFORMANCE)/node_modules/.package-lock.json: $(CONFORMANCE)/package.json $(CONFORMANCE)/package-lock.json
	@[ "$$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 22 ] || { echo "make conformance needs Node 22 or newer, with npm"; exit 1; }
	cd $(CONFORMANCE) && npm install --no-save --omit=optional --prefer-offline --loglevel=error
	@touch $@

.PHONY: conformance
conformance: build $(CONFORMANCE)/node_modules/.package-lock.json ## Hold the HTTP stack to the MCP conformance suite (needs Node 22 and npm)
	$(GO) test -count=1 ./$(CONFORMANCE) -server $(CURDIR)/$(BIN)/workspace -suite 'node $(CURDIR)/$(CONFORMANCE)/node_modules/@modelcontextprotocol/conformance/dist/index.js'

# Tests of governed changes that use PostgreSQL where there is a server.
ANYWHERE := ^(TestChangeLands|TestCallIsMadeOnce|TestEndedStaysEnded|TestForgedUse|TestManyApply|TestManyLand|TestRun|TestManyStart|TestSettle|TestJobsOfOthers|TestCapacity)$$

.PHONY: postgres
postgres: ## Run the tests of stores in PostgreSQL, with a server of their own (needs its programs)
	.ci/postgres sh -c '$(GO) test -count=1 ./runtime/govern/store/postgres && $(GO) test -count=1 -run "$(ANYWHERE)" ./runtime/govern'

# Tests that need the controllers memory and pids, which a host may have elsewhere.
GROUPS := runtime/worker/cgroup runtime/worker=Cgroup runtime/govern/job/scope=^(TestGroupBounds|TestEnds|TestBothKilled|TestKeeperStopped)$$ \
	runtime/govern/job/supervise=^(TestGroupBounds|TestForkBomb|TestRuns)$$
# What confines, and so depends on the processor.
CONFINES := runtime/worker/sandbox runtime/worker runtime/worker/cgroup runtime/govern/job/confine runtime/govern/job/scope runtime/govern/job/supervise runtime/govern/job/runner

.PHONY: vm
vm: ## Hold processes to the bounds of control groups, in an emulated machine (needs apt, cpio and qemu-system-x86)
	.ci/vm amd64 $(foreach p,$(GROUPS),'$(p)')

.PHONY: vm-arm64
vm-arm64: ## Run the tests of all that confines in an emulated arm64 machine (needs apt, cpio and qemu-system-arm)
	VM_SECONDS=3600 .ci/vm arm64 $(CONFINES)

.PHONY: strace
strace: ## Kill processes before their system calls (needs Linux and strace, or is skipped)
	$(GO) test -count=1 -run '^TestKillAtSystemCalls$$' -v ./runtime/govern -strace

OAUTH := tests/oauth
$(OAUTH)/node_modules/.package-lock.json: $(OAUTH)/package.json $(OAUTH)/package-lock.json
	@command -v npm >/dev/null || { echo "make oauth needs Node 20 or newer, with npm"; exit 1; }
	cd $(OAUTH) && npm install --no-save --omit=optional --prefer-offline --loglevel=error
	@touch $@

.PHONY: oauth
oauth: $(OAUTH)/node_modules/.package-lock.json ## Let users of a real authorization server log in to a host (needs Node 20 and npm)
	$(GO) test -count=1 ./$(OAUTH) -provider $(CURDIR)/$(OAUTH)/provider.mjs

.PHONY: tokens
tokens: build ## Count the tokens that a model reads of the tools
	cd tools && $(GO) vet ./tokens && $(GO) test -count=1 -v ./tokens

.PHONY: metrics
metrics: build ## Read the metrics of bin/workspace with Prometheus' own parser
	cd tools && $(GO) vet ./metrics && $(GO) test -count=1 ./metrics

.PHONY: cross
cross: ## Build and vet for other systems
	@for p in $(PLATFORMS); do \
		echo "cross $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./...; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./...; \
	done

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@targets=$$(grep -rnoE '^func Fuzz[A-Z][A-Za-z0-9_]*' --include='*_test.go' --exclude-dir=testdata . | sort) || { echo "no fuzz target found"; exit 1; }; \
	while IFS=: read -r file _ declaration; do \
		echo "fuzz $$(dirname "$$file") $${declaration#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${declaration#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done <<<"$$targets"

# What differential generates: programs of a seed, so many of them.
SEED := 1
PROGRAMS := 10000
DIFFERENTIAL := runtime/program/testdata/differential

.PHONY: differential
differential: ## Compare PROGRAMS random programs of SEED with python3's answers, and count their constructs
	@mkdir -p $(BIN)
	python3 -B $(DIFFERENTIAL)/generate.py $(SEED) $(PROGRAMS) $(BIN)/programs.txt
	$(GO) test -count=1 -run '^TestRandomProgramsAnswerAsCPython$$' -v ./runtime/program -programs '$(abspath $(BIN))/programs.txt'

.PHONY: soak
soak: build ## Put a server under load, run every hostile program, stop and kill changes and runs at every step, compare three million values and ten thousand random programs, fuzz each target for half a minute, repeat the tests under the race detector
	$(GO) test -count=1 -timeout 10m -run '^TestLoad$$' -v ./examples/agentstubs -soak -worker $(CURDIR)/$(BIN)/capgen-worker
	$(GO) test -count=1 -run '^TestManyIdleSessions$$' -v ./runtime/mcphttp -soak
	$(GO) test -count=1 -run '^(TestHostilePrograms|TestExecutionsLeaveNothing|TestAllocationsDoNotGrowWithTheCatalog)$$' -v ./runtime -soak
	$(GO) test -count=1 -timeout 1h -run '^(TestBindingAgreesWithDecoder|TestOutputsReachPrograms|TestBoundaries)$$' -v ./codegen -soak
	$(GO) test -count=1 -v ./runtime/govern/root ./runtime/govern/change -soak
	$(GO) test -count=1 -timeout 1h -v ./runtime/govern -soak -strace
	$(GO) test -count=1 -p 1 -timeout 1h -v ./runtime/govern/job/supervise ./runtime/govern/job/runner -soak
	$(GO) test -count=10 -p 1 -timeout 1h ./runtime/govern/job/scope ./runtime/govern/job/confine
	$(GO) test -count=1 -run '^TestManyPlans$$' -v ./runtime/govern/operate -soak
	.ci/postgres $(GO) test -count=1 -timeout 1h -v ./runtime/govern/store/sqlite ./runtime/govern/store/postgres -soak
	@$(MAKE) differential
	@$(MAKE) fuzz FUZZTIME=30s
	$(RACE) -count=3 -timeout 2h ./runtime/... ./cmd/...

.PHONY: bench
bench: ## Run the benchmarks and summarize them
	@mkdir -p $(BIN)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 1h ./... | tee $(BIN)/bench.txt
	$(TOOL) benchstat $(BIN)/bench.txt

.PHONY: bench-gate
bench-gate: build ## Fail where code is slower than its control by more than its bound
	$(GO) test -run '^$$' -bench '^BenchmarkGate' -benchtime 1x ./...
	cd bench && $(BUILD) -mod=mod -o ../$(BIN)/ ./fullhost ./gate
	$(BIN)/gate $(BIN)/fullhost $(BIN)/capgen-worker $(BIN)/workspace

# How many capabilities scale generates and compiles, once for each number.
CAPABILITIES := 1000 10000

.PHONY: scale
scale: build ## Generate, compile and start a server of CAPABILITIES capabilities
	cd bench && $(GO) build -mod=mod -o ../$(BIN)/ ./scale
	$(BIN)/scale $(BIN)/capgen . $(CAPABILITIES)

.PHONY: retrieval
retrieval: ## Print how well search finds, per set of queries, in the folder DIR
	$(GO) test -count=1 -run '^TestRetrieval$$' -v ./runtime/search -dir '$(abspath $(DIR))'

.PHONY: ci
ci: fmt-check vet lint check nocgo cross run test jsontext race clients conformance oauth postgres strace vm tokens metrics fuzz ## Everything that must hold before a merge

.PHONY: clean
clean: ## Remove what builds leave behind
	rm -rf $(BIN) $(CLIENTS)/node_modules $(CONFORMANCE)/node_modules $(OAUTH)/node_modules
