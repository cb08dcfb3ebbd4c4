"""The commands that keep bytes, on a state with damage."""

import json
from io import BytesIO

import pytest

from frepo_core.domain.roles import Role
from frepo_core.services.files import NewFile
from frepo_core.services.intake import Incoming


@pytest.fixture
def database_url(console):
    """The database of the console."""
    return f"sqlite:///{console.database}"


@pytest.fixture
def damaged(services, make_token):
    """Store 2,000 bytes, and damage them; return their key."""
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    file = services.files.add(NewFile(name="a.bin"), Incoming(stream=BytesIO(bytes(2000))), by=by).file
    services.storages.get("local").path(file.blob.key).write_bytes(bytes(1000))
    return file.blob.key


def test_damage_ends_with_1_and_is_named(console, damaged):
    done = console.run("storage:verify", "-f", "json")

    report = json.loads(done.stdout)
    assert (done.returncode, report["checked"], report["size"]) == (1, 1, 2000)
    assert damaged in json.dumps(report["damaged"])


def test_a_table_is_for_people(console, damaged):
    assert "2.00kB" in console.run("storage:verify").stdout


@pytest.mark.parametrize("command", ["storage:migrate --to local --from", "storage:rebuild-index --dry-run --storage"])
def test_a_storage_that_is_not_installed_is_called_what_the_option_calls_it(console, damaged, command):
    said = console.refusal(*command.split(), "barrel")

    assert "'barrel'" in said and "local" in said
    assert "FS_ADAPTER" not in said
