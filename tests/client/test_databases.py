"""Databases of real servers: a recipe makes a dump, and the restore has the same rows, or nothing."""

import contextlib
import subprocess
from urllib.parse import unquote, urlsplit

import pytest

from support.console.terminal import blocks
from support.dumps.programs import answers, require, run, server
from support.paths import ROOT
from support.reliability.faulty_proxy import FaultyProxy

from .test_encryption import make_age_key

ROWS = 20_000
# Texts that a dump has to quote, and that hardly compress.
POSTGRESQL_ROWS = f"""
CREATE TABLE orders (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO orders SELECT n, 'it''s "' || md5(n::text) || E'\\n' || md5((n + 1)::text)
FROM generate_series(1, {ROWS}) n;
"""
MARIADB_ROWS = f"""
CREATE TABLE orders (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO orders SELECT seq, concat('it''s "', md5(seq), '\\n', md5(seq + 1)) FROM seq_1_to_{ROWS};
"""


def ask(words, statement, environment):
    done = subprocess.run(words, input=statement, text=True, capture_output=True, env=environment, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout.strip()


@pytest.fixture
def postgresql(postgresql_server, machine):
    """Ask a database of PostgreSQL. `shop` has rows, `restored` has no table."""
    parts = urlsplit(postgresql_server.url.replace("+psycopg", ""))
    base = f"postgresql://{parts.username}@{parts.hostname}:{parts.port}"
    password = unquote(parts.password)
    machine.home.joinpath("job.env").write_text(f"PGPASSWORD='{password}'\n")
    configure(machine, f'recipe = "postgres"\ndatabase = "{base}/shop"\nenv_file = "job.env"')
    machine.secrets = {"PGPASSWORD": password}

    def query(database, statement):
        words = ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", f"{base}/{database}"]
        return ask(words, statement, machine.environment | machine.secrets)

    for name in ("shop", "restored"):
        query("postgres", f"DROP DATABASE IF EXISTS {name}")
        query("postgres", f"CREATE DATABASE {name}")
    query("shop", POSTGRESQL_ROWS)
    query.access = {"PGHOST": parts.hostname, "PGPORT": str(parts.port), "PGUSER": parts.username}
    query.restore = ["psql", "-qX", "-v", "ON_ERROR_STOP=1", "--single-transaction", f"{base}/restored"]
    return query


@pytest.fixture
def mariadb(mariadb_server, machine):
    """Ask MariaDB, whose access is in the file that its programs read. The database `shop` has rows."""
    parts = urlsplit(mariadb_server.url)
    access = f"host={parts.hostname}\nport={parts.port}\nuser={parts.username}\npassword={unquote(parts.password)}\n"
    machine.home.joinpath(".my.cnf").write_text(f"[client]\n{access}skip-ssl\n")
    configure(machine, 'recipe = "mariadb"\ndatabase = "shop"')

    def query(statement, *database):
        return ask(["mariadb", "-N", *database], statement, machine.environment)

    query("DROP DATABASE IF EXISTS shop; CREATE DATABASE shop CHARACTER SET utf8mb4")
    query(MARIADB_ROWS, "shop")
    return query


def configure(machine, job):
    recipient = make_age_key(machine.home / "key")
    machine.home.joinpath("client.toml").write_text(
        f'[defaults]\ncompress = "zstd"\nencrypt = ["{recipient}"]\nidentity = ["key"]\n'
        f'[job.shop]\ncollection = "shop.sql"\n{job}\n'
    )


def pull(machine, command, check=0):
    words = ["--config", "client.toml", "pull", "shop.sql", "--into", "--", *command]
    return machine.run(*words, check=check, **getattr(machine, "secrets", {}))


def test_postgresql_is_restored_after_a_cut_and_never_from_wrong_bytes(machine, postgresql):
    machine.run("--config", "client.toml", "run")
    assert "complete" == machine.versions()[0]["verdict"]
    tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'orders'"
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        proxy.arm("flip", "down", 200_000)
        pull(machine, postgresql.restore, check=12)
        assert "0" == postgresql("restored", tables)
        proxy.arm("cut", "down", 200_000)
        pull(machine, postgresql.restore)
        assert proxy.is_over

    rows = "SELECT count(*), md5(string_agg(name, ',' ORDER BY id)) FROM orders"
    assert postgresql("shop", rows) == postgresql("restored", rows)
    assert postgresql("restored", rows).startswith(f"{ROWS}|")


def test_a_new_host_has_a_tested_backup_after_the_two_lines_of_the_documentation(machine, postgresql):
    first, second = blocks((ROOT / "docs/client.md").read_text(), "From nothing to a tested backup of PostgreSQL")
    code = machine.call("POST", "enrolments", {"name": "db7", "collections": [machine.collection]})["code"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(machine.home), "XDG_CONFIG_HOME": str(machine.home)}
    environment |= postgresql.access | machine.secrets

    def type_in(line, **more):
        line = line.replace("https://files.example.org", machine.url)
        done = subprocess.run(
            line, shell=True, env=environment, cwd=machine.home, text=True, capture_output=True, check=False, **more
        )
        assert 0 == done.returncode, done.stderr

    type_in(first.code, input=code)
    config = machine.home / "frepo-client.toml"
    config.write_text(config.read_text().replace("# ", ""))
    type_in(second.code)
    type_in("./frepo-client verify shop.sql")

    rows = "SELECT count(*), md5(string_agg(name, ',' ORDER BY id)) FROM orders"
    assert postgresql("shop", rows) == postgresql("frepo_restore_test", rows)
    checks = machine.call("GET", f"collections/{machine.collection}/versions/v1/checks")["items"]
    assert ("restore (client)", "good") in [(check["name"], check["outcome"]) for check in checks]


@contextlib.contextmanager
def redis(folder):
    """Run a Redis with a socket, and with the data that the folder has; yield how to ask it."""
    folder.mkdir(exist_ok=True)
    client = ["redis-cli", "-s", f"{folder}/socket"]
    command = ["redis-server", "--port", "0", "--unixsocket", client[-1], "--save", "", "--dir", str(folder)]
    with server(command, folder, lambda: answers(*client, "PING", expected=b"PONG\n")):
        yield lambda *words: run(*client, *words)


@pytest.mark.costly
def test_redis_is_restored(machine):
    restored = machine.home / "restored"
    restored.mkdir()
    with redis(machine.home / "redis") as ask_redis:
        ask_redis("RPUSH", "orders", *map(str, range(500)))
        configure(machine, f'recipe = "redis"\npath = "{machine.home}/redis/socket"')
        machine.run("--config", "client.toml", "run")
    machine.run("--config", "client.toml", "pull", "shop.sql", "-o", "restored/dump.rdb")

    with redis(restored) as ask_redis:
        assert [str(number).encode() for number in range(500)] == ask_redis("LRANGE", "orders", "0", "-1").split()
    assert "complete" == machine.versions()[0]["verdict"]


def directory(folder):
    """Configure an OpenLDAP whose data are in a folder."""
    (folder / "data").mkdir(parents=True)
    (folder / "slapd.conf").write_text(
        "include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n"
        f'database mdb\nmaxsize 16777216\nsuffix "dc=example,dc=org"\ndirectory {folder}/data\n'
    )
    return f"{folder}/slapd.conf"


@pytest.mark.costly
def test_ldap_is_restored(machine):
    require("slapadd")
    config, restored = directory(machine.home / "ldap"), directory(machine.home / "restored")
    entry = "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n"
    run("slapadd", "-q", "-f", config, data=entry.encode())
    configure(machine, f'recipe = "ldap"\npath = "{config}"')
    machine.run("--config", "client.toml", "run")

    pull(machine, ["slapadd", "-q", "-f", restored])

    assert run("slapcat", "-f", config) == run("slapcat", "-f", restored)
    assert b"o: Example" in run("slapcat", "-f", restored)


@pytest.mark.costly
def test_mariadb_is_restored(machine, mariadb):
    rows = "SELECT count(*), sum(crc32(concat(id, name))) FROM shop.orders"
    before = mariadb(rows)
    machine.run("--config", "client.toml", "run")
    mariadb("DROP DATABASE shop")

    pull(machine, ["mariadb"])

    assert before == mariadb(rows)
    assert before.startswith(f"{ROWS}\t")
    assert "complete" == machine.versions()[0]["verdict"]


@pytest.mark.costly
def test_numbers_of_the_source_are_of_the_snapshot_of_the_dump(machine, postgresql):
    config = machine.home / "client.toml"
    connection = next(line for line in config.read_text().splitlines() if line.startswith("database")).split('"')[1]
    # The last question changes the source in another transaction, before the dump begins.
    config.write_text(f"""{config.read_text()}
        [job.shop.assert]
        rows = "SELECT count(*) FROM orders;"
        newest = "SELECT timestamp '2026-11-01 10:00:00.5'"
        change = '''SELECT 1;
        \\! psql -qX {connection} -c 'DELETE FROM orders WHERE id > 5' >&2'''
    """)

    machine.run("--config", "client.toml", "run")

    measured = machine.call("GET", f"collections/{machine.collection}/runs")["items"][0]["measured"]
    assert {"rows": ROWS, "newest": 1793527200.5, "change": 1} == measured
    assert "5" == postgresql("shop", "SELECT count(*) FROM orders")
    pull(machine, postgresql.restore)
    assert str(ROWS) == postgresql("restored", "SELECT count(*) FROM orders")


@pytest.mark.costly
def test_a_question_that_cannot_be_answered_is_a_failed_run(machine, postgresql):
    config = machine.home / "client.toml"
    config.write_text(config.read_text() + '\n[job.shop.assert]\nrows = "SELECT count(*) FROM order"\n')

    done = machine.run("--config", "client.toml", "run", check=20)

    assert b"[job.assert] rows: psql has answered nothing" in done.stderr
    assert "failed" == machine.call("GET", f"collections/{machine.collection}/runs")["items"][0]["outcome"]
