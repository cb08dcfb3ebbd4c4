"""Dumps that are encrypted with a key that the service does not have, by the real programs."""

import os
import shutil
import subprocess
import tempfile

import pytest

from .test_content_checks import POSTGRESQL

HALF = POSTGRESQL[: len(POSTGRESQL) // 2]


@pytest.fixture
def gnupg():
    """The folder of gpg's keys. Its path is short, because a socket is in it."""
    folder = tempfile.mkdtemp(prefix="gnupg-")
    yield folder
    subprocess.run(["gpgconf", "--homedir", folder, "--kill", "all"], check=True)
    shutil.rmtree(folder)


@pytest.fixture
def configure(machine):
    """Write a configuration whose job runs `cat dump`, compresses and encrypts."""

    def write(recipients, compress="zstd"):
        machine.home.joinpath("client.toml").write_text(f"""
            [defaults]
            compress = "{compress}"
            encrypt = {recipients}
            identity = ["{machine.home}/key"]
            [job.shop]
            collection = "shop.sql"
            command = ["cat", "dump"]
            [job.hidden]
            collection = "shop.sql"
            command = ["sh", "-c", "true; cat dump"]
        """)

    return write


def make_age_key(path):
    """Make a key of age; return its recipient."""
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    return subprocess.run(["age-keygen", "-y", str(path)], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.costly
def test_each_recipient_of_age_can_restore(machine, configure):
    recipients = [make_age_key(machine.home / name) for name in ("key", "other-key")]
    machine.home.joinpath("dump").write_bytes(POSTGRESQL)
    configure(recipients)

    machine.run("--config", "client.toml", "run", "shop")

    restored = machine.run("--config", "client.toml", "pull", "shop.sql", "--into", "--", "cat")
    assert POSTGRESQL == restored.stdout
    machine.run("pull", "shop.sql", "--identity", "other-key", "-o", "restored.sql")
    assert POSTGRESQL == machine.home.joinpath("restored.sql").read_bytes()
    machine.run("pull", "shop.sql", "--raw", "-o", "raw")
    assert machine.home.joinpath("raw").read_bytes().startswith(b"age-encryption.org/v1")
    done = machine.run("pull", "shop.sql", "-o", "restored.sql", check=2)
    assert b"name the file with your key: --identity FILE" in done.stderr


@pytest.mark.costly
def test_gpg_encrypts_and_decrypts(machine, configure, gnupg):
    environment = {"GNUPGHOME": gnupg}
    words = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "shop@example.org", "rsa2048", "encr"]
    subprocess.run(words, check=True, capture_output=True, env=os.environ | environment)
    machine.home.joinpath("dump").write_bytes(POSTGRESQL)
    configure(["shop@example.org"], "gzip")

    machine.run("--config", "client.toml", "run", "shop", **environment)

    restored = machine.run("pull", "shop.sql", "--into", "--", "cat", **environment)
    assert POSTGRESQL == restored.stdout
    assert "complete" == machine.versions()[0]["verdict"]


@pytest.mark.costly
def test_the_check_before_the_encryption_decides_about_the_version(machine, configure):
    """The service sees only what age has made."""
    configure([make_age_key(machine.home / "key")])
    found = []
    for dump, status in ((POSTGRESQL, 0), (HALF, 12)):
        machine.home.joinpath("dump").write_bytes(dump)
        machine.run("--config", "client.toml", "run", "hidden", check=status)
        found.append((machine.versions()[0]["verdict"], machine.runs()[0]["exit_statuses"]))

    assert [("complete", []), ("broken", [])] == found
    state = machine.state()
    assert ("failed", 1) == (state["state"], state["newest_good"]["number"])
    assert state["state_reason"].startswith(
        "The client has checked the content before its encryption: The dump of pg_d"
    )


@pytest.mark.costly
def test_a_command_that_has_written_nothing_is_found_before_the_encryption(machine, configure):
    configure([make_age_key(machine.home / "key")])
    machine.home.joinpath("dump").touch()

    done = machine.run("--config", "client.toml", "run", "shop", check=20)

    assert b"The command has written nothing: cat dump\n" in done.stderr
    assert ([], "failed") == (machine.versions(), machine.state()["state"])


@pytest.mark.costly
def test_push_sends_no_file_that_should_be_encrypted(machine, configure):
    recipient = make_age_key(machine.home / "key")
    configure([recipient])
    machine.home.joinpath("dump").write_bytes(POSTGRESQL)

    done = machine.run("--config", "client.toml", "push", "shop.sql", "dump", check=2)

    assert b"dump is not encrypted, and [defaults] has encrypt" in done.stderr
    words = ["age", "--encrypt", "--recipient", recipient, "--output", "dump.age", "dump"]
    subprocess.run(words, check=True, cwd=machine.home)
    machine.run("--config", "client.toml", "push", "shop.sql", "dump.age")
    assert [1] == [version["number"] for version in machine.versions()]


def test_an_encryption_that_fails_stores_nothing(machine, configure):
    configure(["age1wrong"])
    machine.home.joinpath("dump").write_bytes(POSTGRESQL)

    machine.run("--config", "client.toml", "run", "shop", check=20)

    assert [] == machine.versions()
    assert 1 == machine.runs()[0]["exit_statuses"][2]
