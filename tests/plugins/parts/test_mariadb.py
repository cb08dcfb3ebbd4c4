"""One table out of real dumps of mariadb-dump and sqlite3, loaded into an empty database."""

import sqlite3

import pytest
from sqlalchemy import make_url, text

from support.dumps.mariadb import _connect
from support.dumps.programs import run

FILL = r"""
CREATE SEQUENCE numbers START WITH 100;
CREATE TABLE customers (id integer PRIMARY KEY AUTO_INCREMENT, name varchar(60) UNIQUE);
CREATE TABLE `odd ``name``; --` (id integer PRIMARY KEY DEFAULT (nextval(`numbers`)), words text, bytes blob);
CREATE TABLE orders (id integer PRIMARY KEY AUTO_INCREMENT, customer integer, words text,
    FOREIGN KEY (customer) REFERENCES customers (id), KEY words (words(20)));
CREATE TABLE empty (id integer);
INSERT INTO customers (name) SELECT CONCAT('name', seq) FROM seq_1_to_20;
INSERT INTO orders SELECT seq, seq % 20 + 1, CONCAT('it''s; "x"\\),(\n-- ', seq) FROM seq_1_to_9000;
INSERT INTO `odd ``name``; --` (words, bytes) SELECT REPEAT('ä\\', seq), UNHEX('0027225C3B0A') FROM seq_1_to_300;
CREATE VIEW large AS SELECT * FROM orders WHERE id > 1000;
CREATE TRIGGER noted BEFORE INSERT ON orders FOR EACH ROW SET NEW.words = CONCAT(NEW.words, ';');
"""
DUMPS = {
    "usual": [],
    "single": ["--single-transaction", "--routines", "--events", "--skip-extended-insert"],
    "bare": ["--skip-comments", "--hex-blob", "--complete-insert"],
    "several": ["--databases"],
}
TABLES = {"orders": 9000, "odd `name`; --": 300, "customers": 20, "empty": 0}


class Server:
    """A MariaDB with a database `shop`, and what loads into another one."""

    def __init__(self, url):
        self.url = make_url(url)
        self.where = ["--no-defaults", "--protocol=tcp", "-h", str(self.url.host), "-P", str(self.url.port)]
        self.where += ["-u", str(self.url.username), f"--password={self.url.password}", "--skip-ssl"]

    def dump(self, *options):
        databases = ["shop", "shop2"] if "--databases" in options else ["shop"]
        return run("mariadb-dump", *self.where, *options, *databases)

    def load(self, sql, database="other"):
        self.make(database)
        run("mariadb", *self.where, database, data=sql)

    def make(self, database):
        run("mariadb", *self.where, data=f"CREATE OR REPLACE DATABASE {database} CHARACTER SET utf8mb4".encode())

    def rows(self, database, table):
        name = table.replace("`", "``")
        with _connect(self.url.set(database=database).render_as_string(hide_password=False)) as connection:
            return sorted(map(repr, connection.execute(text(f"SELECT * FROM `{name}`"))))


@pytest.fixture(scope="module")
def server(mariadb_server):
    server = Server(mariadb_server.emptied())
    server.load(FILL.encode(), "shop")
    server.load(b"CREATE TABLE orders (id integer); INSERT INTO orders VALUES (5), (6);", "shop2")
    yield server
    run("mariadb", *server.where, data=b"DROP DATABASE shop; DROP DATABASE shop2; DROP DATABASE IF EXISTS other")


@pytest.mark.parametrize("name", DUMPS)
def test_each_table_loads_into_an_empty_database(server, listed, name):
    found = listed(server.dump(*DUMPS[name]))

    assert "" == found.reason
    prefix = "shop/" if name == "several" else ""
    assert TABLES == {one: found.parts[prefix + one].rows for one in TABLES}
    for table in TABLES:
        server.load(found.extract(prefix + table))

        assert server.rows("shop", table) == server.rows("other", table)
    if name == "several":
        server.load(found.extract("shop2/orders"))
        assert ["(5,)", "(6,)"] == server.rows("other", "orders")


def test_a_table_brings_no_trigger_and_no_other_table(server, listed):
    sql = listed(server.dump()).extract("orders")

    assert b"`shop`" not in listed(server.dump()).extract("odd `name`; --")  # it loads where no shop is
    assert b"DELIMITER" not in sql
    assert b"TRIGGER" not in sql
    assert b"CREATE TABLE `customers`" not in sql


def test_a_cut_dump_is_not_listed(server, listed):
    dump = server.dump()

    assert "cut off" in listed(dump[: len(dump) // 2]).reason
    assert "cut off" in listed(dump[: dump.rindex(b";\n/*!40103 SET TIME_ZONE")] + b";\n").reason


SQLITE = r"""
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE "odd ""name""; --" (id INTEGER PRIMARY KEY AUTOINCREMENT, words TEXT, bytes BLOB, n REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, words TEXT CHECK (words <> ';'));
CREATE INDEX by_words ON orders (words);
CREATE TABLE empty (id INTEGER);
CREATE TABLE log (words TEXT);
CREATE TRIGGER noted AFTER INSERT ON orders BEGIN INSERT INTO log VALUES ('a;'); DELETE FROM log; END;
CREATE VIEW large AS SELECT * FROM orders WHERE id > 100;
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 900)
    INSERT INTO orders SELECT n, n % 20, 'it''s; ' || char(10) || 'COMMIT;' || char(10) || '.shell x' || n FROM n;
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
    INSERT INTO "odd ""name""; --" (words, bytes, n) SELECT 'ä\', x'003B27', 1e999 FROM n;
DELETE FROM "odd ""name""; --" WHERE id > 290;
CREATE VIRTUAL TABLE texts USING fts5(words);
INSERT INTO texts VALUES ('hello');
"""


@pytest.fixture(scope="module")
def sqlite_dump(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sqlite")
    run("sqlite3", "shop.db", folder=folder, data=SQLITE.encode())
    return folder, run("sqlite3", "shop.db", ".dump", folder=folder)


def rows(path, table):
    name = table.replace('"', '""')
    with sqlite3.connect(path) as connection:
        found = connection.execute(f'SELECT * FROM "{name}"').fetchall()
        counters = (
            connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchall()
            if "odd" in table
            else []
        )
    connection.close()
    return found, counters


def test_each_table_of_sqlite_loads_into_an_empty_file(sqlite_dump, listed):
    folder, dump = sqlite_dump
    found = listed(dump)

    tables = {"customers": 0, 'odd "name"; --': 290, "orders": 900, "empty": 0}
    assert "" == found.reason
    assert tables == {one: found.parts[one].rows for one in tables}
    for table in tables:
        (folder / "other.db").unlink(missing_ok=True)
        run("sqlite3", "-bail", "-safe", "other.db", folder=folder, data=found.extract(table))

        assert rows(folder / "shop.db", table) == rows(folder / "other.db", table)
        assert b"TRIGGER" not in found.extract(table)


def test_a_cut_dump_of_sqlite_is_not_listed(sqlite_dump, listed):
    _, dump = sqlite_dump

    assert "cut off" in listed(dump[: len(dump) // 2]).reason
    assert "cut off" in listed(dump[: dump.rindex(b"COMMIT;")]).reason
