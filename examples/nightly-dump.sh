#!/usr/bin/env bash
# The main use case against a running service, with curl: upload four nightly dumps of a database to a collection
# that keeps three, download two versions, restore them and compare each row.
#
#   make serve                                          # in another terminal
#   examples/nightly-dump.sh "$(cat var/admin-token)"   # or ADMIN_TOKEN=...
#
# FREPO_URL  the service, http://127.0.0.1:6543 by default
# SIZE_MB    size of a dump before it is compressed, 300 by default
# PYTHON     python3 by default; its sqlite3 module is the database
set -euo pipefail

URL=${FREPO_URL:-http://127.0.0.1:6543}
SIZE_MB=${SIZE_MB:-300}
PYTHON=${PYTHON:-python3}
ADMIN=${1:-${ADMIN_TOKEN:-}}
[ -n "$ADMIN" ] || { echo "Usage: $0 ADMIN_TOKEN (or set ADMIN_TOKEN); \`make serve\` keeps it in var/admin-token" >&2; exit 1; }

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

say() { printf '%4s s  %s\n' "$SECONDS" "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
# The service's answer to a refused request contains the reason and the remedy.
refused() { [ -s "$1" ] && fail "the service answered: $(cat "$1")" || fail "the service did not answer"; }
sha() { sha256sum | cut -d ' ' -f 1; }

# curl reads the token from a file, because all users of the machine can read the arguments of a process.
(umask 077; echo "X-Auth-Token: $ADMIN" >admin.header; : >token.header)
api() {
    rm -f reply
    curl --fail-with-body -sS -H @"$1" -H 'Content-Type: application/json' -o reply "${@:3}" "$URL$2" || refused reply
    cat reply
}
field() { "$PYTHON" -c 'import functools, json, sys; print(functools.reduce(lambda o, k: o[k], sys.argv[1].split("."), json.load(sys.stdin)))' "$1"; }

# fill NIGHT: insert rows of text that compresses about as well as real data; each night adds rows
fill() {
    "$PYTHON" - "$SIZE_MB" "$1" <<'PYTHON'
import random, sqlite3, sys
size, night = int(sys.argv[1]) * 1_000_000, int(sys.argv[2])
database, chance = sqlite3.connect("shop.db"), random.Random(night)
database.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, night INTEGER, customer TEXT, note TEXT)")
words = ["dump", "night", "o'clock", "grün", "backup", "restore", "\n", "tape", "disk", "row"]
share = size if night == 1 else size // 100
rows = ((night, f"{chance.getrandbits(64):016x}", " ".join(chance.choices(words, k=40))) for _ in range(share // 275))
with database:
    database.executemany("INSERT INTO orders (night, customer, note) VALUES (?, ?, ?)", rows)
PYTHON
}
dump() { "$PYTHON" -c 'import sqlite3; [print(line) for line in sqlite3.connect("shop.db").iterdump()]'; }
restore() { "$PYTHON" -c 'import sqlite3, sys
database, statement = sqlite3.connect(sys.argv[1], isolation_level=None), ""
for line in sys.stdin:
    statement += line
    if sqlite3.complete_statement(statement):
        database.execute(statement)
        statement = ""
assert not statement.strip(), "the dump ends within a statement"' "$1"; }
rows() { "$PYTHON" -c 'import hashlib, sqlite3, sys
digest = hashlib.sha256()
for row in sqlite3.connect(sys.argv[1]).execute("SELECT * FROM orders ORDER BY id"): digest.update(repr(row).encode())
print(digest.hexdigest())' "$1"; }

say "Making a token that may only upload to, and list, the collections that list it"
ROLES='["collections.upload_to_allowed_collections","collections.list_versions_for_allowed_collections"]'
MADE=$(api admin.header /auth/token/generate -d "{\"roles\":$ROLES,\"expires\":\"+1 day\"}")
TOKEN=$(field tokenId <<<"$MADE")
echo "X-Auth-Token: $TOKEN" >token.header

say "Making a collection of three versions, and putting the token on its list"
MADE=$(api admin.header /repository/collection -d '{"filename":"shop.sql.gz","maxBackupsCount":3,"description":"nightly dump of the shop"}')
COLLECTION=$(field collection.id <<<"$MADE")
api admin.header "/repository/collection/$COLLECTION/token" -d "{\"token\":\"$TOKEN\"}" >/dev/null
BACKUP=/repository/collection/$COLLECTION/backup

for night in 1 2 3 4; do
    fill "$night"
    rows shop.db >"rows-$night"
    # -T - sends the output of the pipe while it is written, as a chunked body. -X POST, because -T alone sends a PUT.
    # Never with --retry: a second attempt would begin in the middle of the dump, and would be stored.
    dump | tee >(wc -c >"size-$night") | gzip -1 | tee >(sha >"sha-$night") \
        | curl --fail-with-body -sS -H @token.header -X POST -T - "$URL$BACKUP" >"answer-$night" || refused "answer-$night"
    until [ -s "size-$night" ] && [ -s "sha-$night" ]; do sleep 0.1; done  # bash does not wait for >(...)
    say "Night $night: $(cat "size-$night") bytes of SQL are version $(field version.version <"answer-$night"), $(field version.size <"answer-$night") bytes compressed"
    [ "$(field version.sha256 <"answer-$night")" = "$(cat "sha-$night")" ] || fail "the service stored something else"
done

status=$(curl -sS -o /dev/null -w '%{http_code}' -H @token.header "$URL$BACKUP/v1")
[ "$status" = 404 ] || fail "v1 should have rotated out, but answers $status"
LISTED=$(api token.header "$BACKUP" | "$PYTHON" -c 'import json, sys; print(*json.load(sys.stdin)["versions"])')
[ "$LISTED" = "2 3 4" ] || fail "versions 2 3 4 should be there, but there are: $LISTED"
say "v1 has rotated out (404); there are versions $LISTED"

# fetch VERSION HALF: interrupt a download after HALF bytes, then resume it
fetch() {
    local link status
    link=$(api token.header "$BACKUP/$1?redirect=false")
    link=$(field url <<<"$link")
    # Here `-f`, not `--fail-with-body`: an error must not be written into the file that is downloaded.
    curl -fsS "$link" 2>/dev/null | head -c "$2" >"$1.sql.gz" || true
    [ "$(wc -c <"$1.sql.gz")" = "$2" ] || fail "the first part of $1 has not arrived"
    status=$(curl -fsS -C - -o "$1.sql.gz" -w '%{http_code}' "$link")
    [ "$status" = 206 ] || fail "resuming should be answered with 206, but was with $status"
    say "$1: broken off after $2 bytes, resumed to $(wc -c <"$1.sql.gz")"
}

for pair in latest:4 v2:2; do
    version=${pair%:*} night=${pair#*:}
    fetch "$version" $(($(field version.size <"answer-$night") / 2))
    [ "$(sha <"$version.sql.gz")" = "$(cat "sha-$night")" ] || fail "$version is not what night $night sent"
    gunzip <"$version.sql.gz" | restore "$version.db"
    [ "$(rows "$version.db")" = "$(cat "rows-$night")" ] || fail "$version restores to other rows than night $night had"
    say "$version restored: each row is as it was in night $night"
done
say "Done"
