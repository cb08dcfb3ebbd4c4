"""Who may write to a storage cannot choose what a recovery makes: catalogues and parts of the journal carry a MAC."""

import gzip
import json
import shutil
import subprocess
import sys
from datetime import timedelta
from io import BytesIO

import pytest

from frepo_core import assemble
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.journal_files import JournalWriter
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.recovery.sources import RecoveryError
from frepo_core.services.upkeep.journal.keys import JournalKey
from support.paths import ROOT


@pytest.fixture
def written(services, storage, keys, make_collection):
    """A catalogue, and three parts with a collection each. Return the paths by what they are, and the collections."""
    services.feature(RecoveryServices).journal.write_catalogue()
    collections = []
    for _ in range(3):
        collections.append(make_collection(9))
        services.feature(RecoveryServices).journal.write_changes()
    return [storage.path(key) for key in keys()], collections


def write_anew(path, change):
    """Write a catalogue or a part as somebody does who knows the format, but not the secrets."""
    file, target = JournalFile(path), BytesIO()
    about = {"frepo", "format", "about"}
    writer = JournalWriter(target, file.head["frepo"], {k: v for k, v in file.head.items() if k not in about})
    for name, key, values in file.objects():
        writer.add(name, key, [change(name, one) for one in values])
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(target.getvalue())


def make_administrator(name, values):
    return values | ({"roles": ["security.administrator"]} if name == "token" else {})


def problems(found):
    return [problem.partition(":")[0] for problem in found.source.problems]


def test_what_was_written_is_verified(written, recover):
    found = recover()

    assert () == found.source.problems
    assert all(found.services.collections.get(one) for one in written[1])


def test_a_forged_catalogue_is_refused_and_named(written, recover):
    (catalogue, *_), collections = written
    write_anew(catalogue, make_administrator)

    with pytest.raises(RecoveryError, match="can be verified.*--unverified"):
        recover()

    found = recover(unverified=True)
    assert ["Nothing is verified"] == problems(found)
    assert found.services.collections.get(collections[0])


def key_of(path):
    return "/".join(path.parts[-2:])


def test_the_one_before_a_forged_catalogue_is_used(services, written, storage, keys, make_collection, recover):
    services.feature(RecoveryServices).journal.write_catalogue()
    newest = max((storage.path(key) for key in keys() if key.startswith("catalogue")), key=lambda path: path.name)
    write_anew(newest, make_administrator)

    found = recover()

    assert [f"{key_of(newest)} cannot be verified"] == problems(found)
    assert all(found.services.collections.get(one) for one in written[1])


@pytest.mark.parametrize("attack", ["forged", "of another number", "stripped"])
def test_a_part_that_cannot_be_verified_is_passed_over_and_named(written, recover, attack):
    (_, _, second, third), collections = written
    second.chmod(0o600)
    if attack == "forged":
        write_anew(second, make_administrator)
    elif attack == "of another number":
        second.write_bytes(third.read_bytes())
    else:
        lines = gzip.decompress(second.read_bytes()).splitlines(keepends=True)
        second.write_bytes(gzip.compress(b"".join(lines[:-1])))

    found = recover()

    assert [f"{key_of(second)} cannot be verified"] == problems(found)
    assert all(found.services.collections.get(one) for one in (collections[0], collections[2]))


def test_an_older_catalogue_in_the_place_of_a_newer_one_is_refused(services, written, storage, keys, recover):
    (catalogue, *_), _ = written
    name = JournalKey(epoch=9, number=9, made_at=JournalKey.parse(key_of(catalogue)).made_at)
    shutil.copy(catalogue, catalogue.parent.parent / name.text)

    found = recover()

    assert key_of(catalogue) == found.source.catalogue.text
    assert [f"{name.text} cannot be verified"] == problems(found)


def test_files_from_before_there_were_seals_are_read_unverified(written, recover):
    paths, collections = written
    for path in paths:
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        path.chmod(0o600)
        path.write_bytes(gzip.compress(b"".join(lines[:-1])))

    with pytest.raises(RecoveryError, match="it has no seal"):
        recover()

    found = recover(unverified=True)
    assert ["Nothing is verified"] == problems(found)
    assert all(found.services.collections.get(one) for one in collections)


def test_a_part_that_is_missing_is_named(written, recover):
    (_, _, second, third), _ = written
    second.unlink()

    assert [f"Before {key_of(third)}, a part is missing"] == problems(recover())


def test_after_a_change_of_the_secrets_a_new_catalogue_begins(services, ini, plugins, written, storage, keys, recover):
    other = assemble(ini | {"app.secret": "b" * 64}, {}, plugins)
    with_other = other.feature(RecoveryServices).journal.write_changes()
    assert ["local"] == list(with_other.needing)
    other.feature(RecoveryServices).journal.write_catalogue()
    assert [] == list(other.feature(RecoveryServices).journal.write_changes().needing)
    other.database.engine.dispose()

    found = recover(**{"app.secret": "b" * 64})

    assert found.source.catalogue.text == max(key for key in keys() if key.startswith("catalogue"))
    assert () == found.source.problems
    assert all(found.services.collections.get(one) for one in written[1])


def test_a_catalogue_of_other_secrets_says_which_it_needs(written, recover):
    with pytest.raises(RecoveryError, match="is not the phrase of the old machine.*--secrets FILE"):
        recover(**{"app.secret": "b" * 64})


def test_a_merge_refuses_what_cannot_be_verified(services, written):
    (catalogue, *_), _ = written
    write_anew(catalogue, make_administrator)
    at = services.database.now() + timedelta(minutes=1)

    with (
        services.feature(RecoveryServices).merge("local", lambda text: None, at=at) as merging,
        pytest.raises(RecoveryError, match="--unverified"),
    ):
        merging.find()
    with services.feature(RecoveryServices).merge("local", lambda text: None, at=at, unverified=True) as merging:
        assert merging.find().problems


@pytest.mark.parametrize("form", ["lines", "json"])
def test_the_script_verifies_with_the_secrets(services, written, make_collection, push, tmp_path, form):
    (catalogue, _, second, _), _ = written
    settings = services.settings
    safe = {
        "app.secret": settings.app_secret.get_secret_value(),
        "enc.token_phrase": settings.enc_token_phrase.get_secret_value(),
    }
    text = json.dumps(safe) if form == "json" else "".join(f"{name} = {value}\n" for name, value in safe.items())
    (tmp_path / "safe.txt").write_text(text)

    def run(*more):
        arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", "--list", *more]
        return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert "cannot be" not in run("--secrets", tmp_path / "safe.txt").stderr
    write_anew(second, make_administrator)
    assert f"{second} cannot be used: it cannot be verified" in run("--secrets", tmp_path / "safe.txt").stderr
    assert "cannot be" not in run().stderr
    write_anew(catalogue, make_administrator)
    assert "no whole catalogue" in run("--secrets", tmp_path / "safe.txt").stderr


def test_the_script_names_a_part_that_is_missing_or_in_the_place_of_another(written, tmp_path):
    (_, first, second, third), _ = written

    def run():
        arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", "--list"]
        return subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60).stderr

    assert "missing" not in run()
    second.unlink()
    assert f"Before {third}, a part is missing: what changed in it alone is lost" in run()
    shutil.copy(first, second)
    assert f"Before {second}, a part is missing" in run()
