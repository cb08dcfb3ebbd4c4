"""`frepo-client run`, `check`, `status`, the configuration, and the file that servers get."""

import ast
import json
import os
import subprocess

import pytest

from frepo_client import OLDEST_PYTHON
from frepo_client.configuration.file import read_file
from frepo_client.zipapp import build
from support.console.terminal import Terminal, blocks
from support.paths import ROOT
from support.receivers.webhooks import webhook_receiver
from support.servers.disks import small_disk

SOURCES = sorted((ROOT / "frepo_client/src").glob("**/*.py"))

# What is wrong in the configuration, and what the message says.
MISTAKES = {
    '[job.a]\ncollection = "a"\nrecipe = "postgres"\ndatabase = "postgresql://a:b@c"': "database has a password",
    '[server]\nurll = "x"': "[server] has no key 'urll'; did you mean 'url'?",
    '[job.shop]\ncommand = ["true"]': "[job.shop] needs collection",
    '[job.shop]\ncollection = "a"': "[job.shop] needs either command or recipe",
    '[job.shop]\ncollection = "a"\nrecipe = "oracle"': "[job.shop] recipe 'oracle' does not exist",
    '[job.shop]\ncollection = "a"\nrecipe = "sqlite"': "[job.shop]: the recipe sqlite needs path",
    '[job.shop]\ncollection = "a"\ncommand = "pg_dump | gzip"': "[job.shop] command must be stages of words",
    '[defaults]\nretry = "often"': "[defaults] retry: 'often' is not a length of time; write it as 30s",
    '[defaults]\ncompress = "rar"\n[job.a]\ncollection = "a"\ncommand = ["true"]': "[job.a] compress 'rar'",
    "[server": "is not TOML",
}


@pytest.fixture
def configure(machine):
    """Write the configuration."""

    def write(text):
        machine.home.joinpath(".config").mkdir(exist_ok=True)
        machine.home.joinpath(".config/frepo-client.toml").write_text(text)

    return write


def test_the_zipapp_is_the_same_each_time_and_needs_no_newer_python():
    assert build() == build()
    for path in SOURCES:
        ast.parse(path.read_text(), feature_version=OLDEST_PYTHON)


@pytest.mark.costly
def test_a_wrong_configuration_names_the_key(machine, configure):
    for text, message in MISTAKES.items():
        configure(text)
        done = machine.run("run", check=2)
        assert message in done.stderr.decode()


def test_jobs_run_one_after_the_other_and_the_worst_decides(machine, configure):
    configure(f"""
        [defaults]
        metrics_file = "{machine.home}/frepo.prom"
        [job.bad]
        collection = "shop.sql"
        command = ["false"]
        [job.good]
        collection = "shop.sql"
        command = [["echo", "INSERT"], ["gzip"]]
        before = ["sh", "-c", "echo before >> log"]
        after = ["sh", "-c", "echo after >> log"]
    """)

    done = machine.run("run", check=20)

    assert "bad: false ended with 1" in done.stderr.decode()
    assert machine.home.joinpath("log").read_text() == "before\nafter\n"
    assert [version["number"] for version in machine.versions()] == [1]
    metrics = machine.home.joinpath("frepo.prom").read_text()
    assert 'frepo_client_exit_status{job="bad"} 20\nfrepo_client_exit_status{job="good"} 0\n' in metrics
    machine.run("run", "good")


BEFORE_THE_DUMP = {
    'before = ["sh", "-c", "echo no lock >&2; exit 3"]': "before: sh ended with 3: no lock",
    'env_file = "missing.env"': "env_file missing.env cannot be read: No such file or directory",
    'spool = "/dev/null/spool"': "the spool /dev/null/spool cannot be made: Not a directory",
}


@pytest.mark.costly
@pytest.mark.parametrize("line", BEFORE_THE_DUMP)
def test_a_job_that_fails_before_its_dump_is_failed_in_the_morning(machine, configure, line):
    configure(f'[job.shop]\ncollection = "shop.sql"\ncommand = ["echo", "INSERT"]\n{line}\n')
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT")

    machine.run("run", check=2 if "env_file" in line else 20)

    assert "failed" == machine.state()["state"]
    assert machine.state()["state_reason"].startswith(BEFORE_THE_DUMP[line])


def test_each_run_is_one_line_of_json_and_a_full_disk_stops_no_other_job(machine, configure):
    configure("""
        [job.bad]
        collection = "shop.sql"
        command = [["sh", "-ec", "echo gone >&2; exit 3"], ["gzip"]]
        [job.good]
        collection = "shop.sql"
        command = ["echo", "INSERT"]
        metrics_file = "/dev/full/frepo.prom"
    """)

    done = machine.run("--json", "run", check=20)

    bad, good = map(json.loads, done.stdout.splitlines())
    assert bad == {"job": "bad", "collection": "shop.sql", "error": "sh ended with 3: gone", "status": 20}
    assert (good["number"], good["verdict"]) == (1, "complete")
    assert b"metrics_file /dev/full/frepo.prom cannot be written: Not a directory" in done.stderr


@pytest.mark.costly
def test_a_job_does_not_run_twice_at_once(machine, configure):
    configure("""
        [job.slow]
        collection = "shop.sql"
        command = ["sh", "-c", "echo INSERT; touch begun; while [ ! -e end ]; do sleep 0.05; done"]
    """)
    first = machine.start("run")
    while not machine.home.joinpath("begun").exists():
        assert first.poll() is None

    done = machine.run("run")

    assert "slow: the run before has not ended; this one is skipped" in done.stderr.decode()
    machine.home.joinpath("end").touch()
    assert first.wait(30) == 0
    assert len(machine.versions()) == 1


@pytest.mark.costly
def test_a_pipe_does_not_run_twice_at_once(machine):
    wait = "echo INSERT; touch begun; while [ ! -e end ]; do sleep 0.05; done"
    first = machine.start("pipe", "shop.sql", "--", "sh", "-ec", wait)
    while not machine.home.joinpath("begun").exists():
        assert first.poll() is None

    done = machine.run("pipe", "shop.sql", "--", "touch", "started", check=20)

    assert b"another pipe to shop.sql still runs on this machine" in done.stderr
    machine.home.joinpath("end").touch()
    assert (0, False) == (first.wait(30), machine.home.joinpath("started").exists())
    assert ["ok"] == [run["outcome"] for run in machine.runs()]


@pytest.mark.costly
def test_a_full_disk_for_locks_stops_no_backup(machine, configure):
    configure('[job.shop]\ncollection = "shop.sql"\ncommand = ["echo", "INSERT"]\n')
    machine.home.joinpath("dump").write_text("INSERT")
    with small_disk(machine.home / "state", "1m,nr_inodes=2"):
        done = machine.run("run", XDG_STATE_HOME=f"{machine.home}/state")
        machine.run("push", "shop.sql", "dump", XDG_STATE_HOME=f"{machine.home}/state")

    assert b"no lock against a second run" in done.stderr
    assert 2 == len(machine.versions())


def test_what_hangs_ends_before_the_next_night(machine, configure):
    job = '[job.{}]\ncollection = "shop.sql"\ncommand = ["true"]\n'
    configure(job.format("shop") + job.format("slow") + 'timeout = "0"')
    jobs = read_file(str(machine.home / ".config/frepo-client.toml")).jobs
    configure(job.format("shop") + 'timeout = "1s"\nbefore = ["sleep", "100"]')

    machine.run("run", check=20)

    assert "before: the command did not end within its timeout of 1 s: sleep 100" == machine.state()["state_reason"]
    assert (72000, 0) == (jobs["shop"].timeout, jobs["slow"].timeout)


def test_the_begin_and_the_end_of_a_job_are_pinged(machine, configure):
    with webhook_receiver("127.0.0.1") as receiver:
        configure(f"""
            [defaults]
            ping_url = "{receiver.origin}/uuid"
            [job.bad]
            collection = "shop.sql"
            command = ["false"]
            [job.good]
            collection = "shop.sql"
            command = ["echo", "INSERT"]
        """)
        machine.run("run", check=20)

    assert ["/uuid/start", "/uuid/fail", "/uuid/start", "/uuid"] == receiver.seen


def test_check_finds_what_would_fail_at_night(machine, configure):
    configure("""
        [job.shop]
        collection = "shop.sql"
        command = ["pg_dumb", "shop"]
        [job.other]
        collection = "other.sql"
        command = ["true"]
    """)

    done = machine.run("check", check=2)

    errors = done.stderr.decode()
    assert "shop: the program pg_dumb is missing on this machine" in errors
    assert "other: the token sees no collection with the name 'other.sql'" in errors
    assert "it sees shop.sql" in done.stdout.decode()


def test_check_says_that_a_token_sees_nothing_and_what_waits(machine, configure):
    machine.call("DELETE", f"collections/{machine.collection}/access/{machine.fingerprint}")
    machine.token_file.chmod(0o644)
    machine.home.joinpath("spool").mkdir()
    machine.home.joinpath("spool/1-shop.dump").touch()
    configure(f"""
        [job.shop]
        collection = "{machine.collection}"
        command = ["true"]
        spool = "{machine.home}/spool"
    """)

    errors = machine.run("check", check=2).stderr.decode()

    assert "the token sees no collection" in errors
    assert f"every user of this machine can read {machine.token_file}: chmod 600" in errors
    assert "spool/1-shop waits in the spool" in errors


@pytest.mark.costly
def test_status_exits_as_a_nagios_plugin(machine):
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT")
    assert (
        machine.run("status", "--nagios")
        .stdout.decode()
        .startswith("FREPO OK: 1 of 1 good\nshop.sql: ok, version 1 of ")
    )
    machine.run("pipe", "shop.sql", "--", "false", check=20)

    done = machine.run("--json", "status", check=2)

    assert json.loads(done.stdout)["state"] == "failed"
    assert b"FREPO CRITICAL: 0 of 1 good; shop.sql" in machine.run("status", "--nagios", check=2).stdout
    machine.url = "http://127.0.0.1:1"
    assert b"FREPO UNKNOWN: http://127.0.0.1:1 cannot be reached" in machine.run("status", check=3, timeout=20).stdout
    assert b"FREPO UNKNOWN: which server?" in machine.run("status", check=3, FREPO_URL="").stdout


@pytest.mark.costly
@pytest.mark.parametrize("recipe", ["sqlite", "files"])
def test_recipes_make_what_their_programs_restore(machine, configure, recipe):
    subprocess.run(
        ["sqlite3", str(machine.home / "shop.db"), "CREATE TABLE a(b); INSERT INTO a VALUES (7)"], check=True
    )
    what = {"sqlite": f'path = "{machine.home}/shop.db"', "files": f'paths = ["{machine.home}/shop.db"]'}[recipe]
    configure(f'[job.shop]\ncollection = "shop.sql"\ncompress = "zstd -3"\nrecipe = "{recipe}"\n{what}\n')

    machine.run("run")
    restore = {"sqlite": ["sqlite3", "new.db"], "files": ["tar", "--extract", "--directory", "."]}[recipe]
    machine.run("pull", "shop.sql", "--into", "--", *restore)

    new = {"sqlite": "new.db", "files": str(machine.home / "shop.db").lstrip("/")}[recipe]
    found = subprocess.run(["sqlite3", str(machine.home / new), "SELECT b FROM a"], check=True, capture_output=True)
    assert found.stdout == b"7\n"


def test_retry_of_the_command_line_holds_for_jobs(machine, configure):
    configure('[job.shop]\ncollection = "shop.sql"\nretry = "1h"\ncommand = ["echo", "INSERT"]\n')
    machine.url = "http://127.0.0.1:1"

    machine.run("--retry", "0", "run", check=30, timeout=20)


@pytest.mark.costly
def test_the_commands_of_the_documentation_work(machine):
    machine.home.joinpath("bin").mkdir()
    machine.home.joinpath("bin/frepo-client").symlink_to(machine.program)
    machine.program.chmod(0o755)
    machine.call("PATCH", f"collections/{machine.collection}", {"name": "shop.sql"})
    for name in ("shop.db.sql", "site.tar.age", "site.tar"):
        collection = machine.call("POST", "collections", {"name": name})["id"]
        machine.call("PUT", f"collections/{collection}/access/{machine.fingerprint}")
    environment = machine.environment | {"PATH": f"{machine.home}/bin:{os.environ['PATH']}"}
    terminal = Terminal(machine.home, environment)
    terminal.run("""
        echo 'INSERT INTO orders VALUES (1);' > shop.sql
        sqlite3 shop.db 'CREATE TABLE orders(id); INSERT INTO orders VALUES (1)'
        mkdir site
        echo '<h1>Shop</h1>' > site/index.html
    """)
    page = (ROOT / "docs/client.md").read_text()

    for title in ("A backup and its restore", "Ten recipes"):
        for block in blocks(page, title):
            output = terminal.run(f"{{ {block.code.strip()}\n}} 2>&1")
            assert set(block.printed) <= set(output.splitlines()), output
    terminal.close()
