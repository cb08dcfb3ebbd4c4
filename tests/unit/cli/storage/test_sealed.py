"""A sealed storage as an operator has it: keys, rotation, a wrong key, damage, a second copy, and a lost database."""

import hashlib
import os
import stat

import pytest

CONTENT = b"INSERT INTO patients VALUES (1, 'Ada');\n" * 20_000


@pytest.fixture
def key_file(console):
    path = console.folder / "sealed.keys"
    console.answer("sealed:new-key", str(path))
    return path


@pytest.fixture
def sealed(console, key_file):
    """The console with a sealed storage over the folder."""
    console.environment |= {"FS_ADAPTER": "sealed", "FS_SEALED_OVER": "local", "FS_SEALED_KEY_FILE": str(key_file)}
    return console


@pytest.fixture
def upload(sealed):
    def upload(content=CONTENT):
        (sealed.folder / "dump.sql").write_bytes(content)
        return sealed.answer("file:upload", "dump.sql", "-f", "value", "-c", "name")

    return upload


def objects(console, folder="storage"):
    return {path: path.read_bytes() for path in (console.folder / folder).rglob("*") if path.is_file()}


def download(console, name):
    path = console.folder / "restored"
    path.unlink(missing_ok=True)
    console.answer("file:download", name, "--output", str(path))
    return path.read_bytes()


def test_a_new_key_is_printed_once_and_is_for_its_owner_alone(console, key_file):
    key = key_file.read_text().strip()

    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert "exists. With --add, a new key is put before" in console.refusal("sealed:new-key", str(key_file))
    said = console.answer("sealed:new-key", str(key_file), "--add")
    new, old = key_file.read_text().split()
    assert (old, said.count(new), said.count(old)) == (key, 1, 0)


def test_what_is_stored_shows_neither_content_nor_digest(sealed, upload):
    name = upload()

    digest = hashlib.sha256(CONTENT).hexdigest()
    assert download(sealed, name) == CONTENT
    for path, data in objects(sealed).items():
        assert digest[:16] not in str(path)
        assert b"INSERT" not in data
        assert b"database" not in data  # the mark is sealed, too


def test_a_storage_with_another_key_is_refused(sealed, upload, key_file):
    name = upload()
    key_file.write_text(f"{os.urandom(32).hex()}\n")

    said = sealed.refusal("file:download", name, "--output", "restored")

    assert f"The keys in {key_file}" in said
    assert "are not those of the sealed storage" in said
    assert "are not those of the sealed storage" in sealed.refusal("storage:adopt", "--yes")


def test_a_key_file_that_is_missing_says_what_to_do(sealed, upload, key_file):
    upload()
    key_file.unlink()

    said = sealed.refusal("file:upload", "dump.sql")

    assert f"frepo sealed:new-key {key_file}" in said
    assert "Else write your key into it" in said


def test_a_flipped_bit_is_found_by_the_verification(sealed, upload):
    upload()
    [largest] = [path for path, data in objects(sealed).items() if len(data) > len(CONTENT)]
    data = bytearray(largest.read_bytes())
    data[300_000] ^= 1
    largest.chmod(0o600)
    largest.write_bytes(data)

    done = sealed.run("storage:verify")

    assert done.returncode == 1
    assert "Segment 1 of a sealed object is damaged" in done.stdout + done.stderr


def test_a_rotation_encrypts_anew_and_needs_the_old_key_no_more(sealed, upload, key_file):
    name = upload()
    before = objects(sealed)
    sealed.answer("sealed:new-key", str(key_file), "--add")
    assert download(sealed, name) == CONTENT

    said = sealed.answer("sealed:rotate", "sealed")
    again = sealed.answer("sealed:rotate", "sealed")

    assert (said.split()[0], again.split()[0]) == (str(len(before)), "0")
    assert not before.keys() & objects(sealed).keys()
    key_file.write_text(key_file.read_text().split()[0])
    assert download(sealed, name) == CONTENT


def test_a_rotation_that_was_killed_goes_on(sealed, upload, key_file):
    name = upload()
    before = objects(sealed)
    sealed.answer("sealed:new-key", str(key_file), "--add")
    sealed.answer("sealed:rotate", "sealed")
    for path, data in before.items():  # as if it had ended before it deleted them
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

    assert download(sealed, name) == CONTENT
    assert sealed.answer("sealed:rotate", "sealed").split()[0] == str(len(before))

    assert not before.keys() & objects(sealed).keys()
    assert download(sealed, name) == CONTENT


def test_a_second_copy_is_sealed_and_repairs_the_first(console, key_file):
    console.environment |= {
        "STORAGES": "vault offsite",
        "STORAGE_OFFSITE_ADAPTER": "local",
        "STORAGE_OFFSITE_DIRECTORY": str(console.folder / "offsite"),
        "STORAGE_VAULT_ADAPTER": "sealed",
        "STORAGE_VAULT_OVER": "offsite",
        "STORAGE_VAULT_KEY_FILE": str(key_file),
        "MIRROR": "vault",
    }
    (console.folder / "dump.sql").write_bytes(CONTENT)
    name = console.answer("file:upload", "dump.sql", "-f", "value", "-c", "name")
    console.answer("storage:mirror")

    [first] = [path for path, data in objects(console).items() if data == CONTENT]
    assert not any(b"INSERT" in data for data in objects(console, "offsite").values())
    first.unlink()

    console.run("file:download", name, "--output", "restored")  # it says that the bytes in the first one are missing

    assert (console.folder / "restored").read_bytes() == CONTENT


def test_a_lost_database_is_read_back_from_a_sealed_storage(sealed, key_file):
    (sealed.folder / "dump.sql").write_bytes(CONTENT)
    collection = sealed.answer("backup:create-collection", "-f", "dump.sql")
    sealed.answer("backup:upload", collection, "dump.sql")
    sealed.answer("jobs:run", "catalogue")
    sealed.database.unlink()

    sealed.answer("recover", "--from", "sealed", "--yes")

    sealed.answer("backup:download", collection, "latest", "--output", "restored")
    assert (sealed.folder / "restored").read_bytes() == CONTENT
