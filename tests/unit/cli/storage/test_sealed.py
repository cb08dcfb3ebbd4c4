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


def test_a_key_file_that_cannot_be_written_is_named_with_the_user(console):
    path = console.folder / "missing/vault.keys"

    said = console.refusal("sealed:new-key", str(path))

    assert f"{path} cannot be written by the user {os.getuid()}, as which this command runs: No such file" in said


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
    assert f"Else enter the key from your safe: `frepo sealed:new-key {key_file} --enter`" in said


def test_the_key_from_the_safe_is_entered(console, key_file):
    key = key_file.read_text()
    key_file.unlink()

    said = console.answer("sealed:new-key", str(key_file), "--enter", stdin=key)

    assert (key_file.read_text(), stat.S_IMODE(key_file.stat().st_mode)) == (key, 0o600)
    assert key.strip() not in said
    key_file.unlink()
    assert "This is not a key" in console.refusal("sealed:new-key", str(key_file), "--enter", stdin=key[:-2])
    assert [] == list(key_file.parent.glob("*sealed.keys*"))


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


def test_blobs_that_no_key_can_read_are_a_finding_of_the_doctor(sealed, upload, key_file):
    upload()
    old = key_file.read_text()
    sealed.answer("sealed:new-key", str(key_file), "--add")
    (sealed.folder / "other.sql").write_bytes(b"a dump with the new key")
    sealed.answer("file:upload", "other.sql")
    assert "cannot be read with the keys" not in sealed.run("doctor").stdout

    key_file.write_text(key_file.read_text().removesuffix(old))  # before `sealed:rotate`

    said = sealed.run("doctor").stdout
    assert "of the sealed storage cannot be read with the keys in" in " ".join(said.split())
    assert f"The keys in {key_file}" not in sealed.run("doctor").stderr


@pytest.mark.costly
def test_the_keys_are_in_no_output_log_or_error(sealed, upload, key_file):
    sealed.answer("sealed:new-key", str(key_file), "--add")
    keys = key_file.read_text().split()
    key_file.chmod(0o644)  # a finding of the doctor
    name = upload()
    commands = [
        ("doctor",),
        ("doctor", "-f", "json"),
        ("plugins",),
        ("plugins", "sealed"),
        ("storage:usage",),
        ("storage:verify",),
        ("jobs:run", "catalogue"),
        ("sealed:rotate", "sealed"),
        ("file:download", name, "--output", "restored", "--debug"),
        ("status",),
    ]

    def said(*command):
        done = sealed.run(*command, LOG_LEVEL="DEBUG")
        return done.stdout + done.stderr

    outputs = {command: said(*command) for command in commands}
    key_file.write_text(f"{keys[0]}\n{keys[1][:-1]}\n")  # a key that is too short
    outputs["a wrong file"] = said("file:download", name, "--debug")
    key_file.write_text(f"{'f' * 64}\n")
    outputs["a wrong key"] = said("file:download", name, "--debug")

    assert all(outputs.values())
    assert "64 hex digits" in outputs["a wrong file"]
    parts = {part for key in keys for part in (key[:20], key.upper()[:20], str(bytes.fromhex(key))[2:12])}
    assert [] == [(command, part) for command, text in outputs.items() for part in parts if part in text]
    kept = [path for path in sealed.folder.rglob("*") if path.is_file() and path != key_file]
    assert [] == [path for path in kept for key in keys if key[:20].encode() in path.read_bytes()]
    assert [] == [path for path in kept for key in keys if bytes.fromhex(key) in path.read_bytes()]


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
    # The process ends when it is noted, not before: here, the next test would get the thread.
    assert console.rows("SELECT 1 FROM event WHERE kind = 'blob.fell_back'")


@pytest.fixture
def lost(sealed):
    """Lose the database after its catalogue was stored; return a collection of it."""
    (sealed.folder / "dump.sql").write_bytes(CONTENT)
    collection = sealed.answer("backup:create-collection", "-f", "dump.sql")
    sealed.answer("backup:upload", collection, "dump.sql")
    sealed.answer("jobs:run", "catalogue")
    sealed.database.unlink()
    return collection


@pytest.mark.costly
def test_a_lost_database_is_read_back_from_a_sealed_storage(sealed, lost):
    sealed.answer("recover", "--from", "sealed", "--yes")

    sealed.answer("backup:download", lost, "latest", "--output", "restored")
    assert (sealed.folder / "restored").read_bytes() == CONTENT


@pytest.mark.costly
def test_a_recovery_asks_for_the_key_from_the_safe(sealed, lost, key_file):
    key = key_file.read_text()
    key_file.unlink()

    sealed.answer("recover", "--from", "sealed", "--yes", stdin=key)

    assert (key, 0o600) == (key_file.read_text(), stat.S_IMODE(key_file.stat().st_mode))
    sealed.answer("backup:download", lost, "latest", "--output", "restored")
    assert (sealed.folder / "restored").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("typed", "said"),
    [(f"{'ab' * 32}\n", "are not those of the sealed storage"), ("no key\n", "This is not a key"), ("", "is missing")],
)
def test_a_recovery_writes_no_file_for_a_wrong_key(sealed, lost, key_file, typed, said):
    key_file.unlink()

    assert said in sealed.refusal("recover", "--from", "sealed", "--yes", stdin=typed)
    assert not key_file.exists()
