"""Restore tests: the version is streamed into the command, whose end is recorded as a check."""

import gzip
import os
import threading
import time

import pytest

from frepo_core.domain.sizes import readable_size
from frepo_core.errors import ConfigurationError, FieldsError, NotFoundError
from frepo_core.testing import Fail

DUMP = os.urandom(3 << 20)


def test_a_version_that_the_command_accepts_is_good(services, collection, push, restore, recorded, events):
    push(collection, gzip.compress(DUMP))

    result = restore("gunzip -t")

    size = services.versions.find(collection, "v1").file.blob.size
    assert ("good", size, f"the command ended with exit status 0 after all {readable_size(size)}") == (
        result.outcome,
        result.size,
        result.message,
    )
    assert {1: "good"} == recorded()
    ((actor, number, data),) = events()
    assert actor.startswith("console:")
    assert (1, {"check": "restore", "outcome": "good", "message": result.message}) == (number, data)


def test_a_cut_version_is_broken_and_the_message_is_the_commands(collection, push, restore, recorded):
    push(collection, gzip.compress(DUMP)[:-1000])

    result = restore("gunzip -t")

    assert ("broken", {1: "broken"}) == (result.outcome, recorded())
    assert result.message.startswith("the command ended with exit status 1: ")
    assert "unexpected end of file" in result.message


def test_the_reason_is_the_first_line_with_an_error(collection, push, restore, script):
    """`psql` goes on after an error, and a line about where it was follows each."""
    push(collection, b"a dump")
    error, where = 'psql:<stdin>:3: ERROR:  relation "a" does not exist', "CONTEXT:  COPY a, line 1"
    printed = [error, where, *["psql:<stdin>:4: ERROR:  syntax error", where] * 100]

    result = restore(script(f"import sys; sys.stdin.read(); print({chr(10).join(printed)!r}); sys.exit(3)"))

    assert f"the command ended with exit status 3: {error}" == result.message
    assert error not in result.output


def test_the_command_gets_exactly_the_bytes_and_says_what_it_did(services, collection, push, restore, script):
    push(collection, DUMP)

    result = restore(script("import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"))

    (check,) = services.version_checks.of_collection(collection)
    assert services.versions.find(collection, "v1").file.blob.digest == result.output == check.details["output"]
    assert (len(DUMP), len(DUMP)) == (check.details["size"], check.details["read"])


def test_the_arguments_of_the_command_are_not_recorded(services, collection, push, restore):
    push(collection, b"x")
    restore("/bin/sh -c 'cat # 5ecre7'")

    (check,) = services.version_checks.of_collection(collection)
    assert "sh" == check.details["command"]


def test_another_version_can_be_tested(collection, push, restore, recorded):
    for number in range(3):
        push(collection, b"dump %d" % number)

    assert "dump 1" == restore("cat", "v2").output
    assert {2: "good"} == recorded()


def test_a_command_that_ends_before_it_has_read_all_proves_nothing(collection, push, restore):
    for content in [b"small", DUMP]:
        push(collection, content)

        result = restore("true")

        assert ("not checked", 0) == (result.outcome, result.size), content
        assert f"it has read only 0 bytes, and left {readable_size(len(content))}" in result.message


def test_a_command_that_reads_a_part_and_fails_is_a_failure(collection, push, restore, script):
    push(collection, DUMP)

    result = restore(script("import sys; sys.stdin.buffer.read(10); sys.exit('no table of contents')"))

    assert ("broken", True) == (result.outcome, result.size < len(DUMP))
    assert "no table of contents" in result.message


def test_a_command_that_hangs_is_killed_with_its_children(collection, push, restore, recorded, tmp_path):
    push(collection, DUMP)
    started = time.monotonic()

    result = restore(f"sh -c 'sleep 600 & echo $! > {tmp_path}/child; sleep 600'", seconds=1)

    assert time.monotonic() - started < 60
    assert ("not checked", "the command did not end within 1s and was killed") == (result.outcome, result.message)
    assert {1: "not checked"} == recorded()
    assert has_ended(int((tmp_path / "child").read_text()))


def has_ended(process):
    """Return whether a process ends within half a minute; one that nobody waits for stays as a zombie."""
    for _ in range(300):
        try:
            with open(f"/proc/{process}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


def test_a_command_that_is_killed_proves_nothing(collection, push, restore, script):
    push(collection, DUMP)

    result = restore(script("import os; os.kill(os.getpid(), 9)"))

    assert ("not checked", "the command was killed by SIGKILL") == (result.outcome, result.message)


def test_a_command_can_say_that_it_does_not_know_this_kind_of_content(collection, push, restore):
    push(collection, b"content")

    result = restore("sh -c 'cat > /dev/null; exit 77'")

    assert ("not checked", True) == (result.outcome, result.is_skipped)


def test_a_command_can_say_that_it_cannot_test_now(collection, push, restore):
    push(collection, b"content")

    result = restore("sh -c 'echo no connection; exit 75'")

    assert ("not checked", False) == (result.outcome, result.is_skipped)
    assert "the command cannot test now (exit status 75): no connection" == result.message


def test_endless_output_is_limited_and_does_not_block_the_command(collection, push, restore, script):
    push(collection, DUMP)

    result = restore(
        script("import sys; sys.stdout.write('x' * 5_000_000 + ' end'); sys.stdout.flush(); sys.stdin.buffer.read()")
    )

    assert ("good", len(DUMP)) == (result.outcome, result.size)
    assert len(result.output) <= 1000


def test_secrets_in_the_output_and_in_the_command_are_masked(services, collection, push, restore):
    push(collection, b"content")

    restore("sh -c 'cat; echo password=hunter2'")

    (check,) = services.version_checks.of_collection(collection)
    assert "hunter2" not in str(check)
    assert "password=***" in check.details["output"]


def test_the_command_gets_what_it_tests_and_none_of_the_services_secrets(collection, push, restore, monkeypatch):
    monkeypatch.setenv("ENC_TOKEN_PHRASE", "phrase-5ecre7")
    push(collection, b"content")

    output = restore("sh -c 'cat > copy; env; pwd; ls'").output.splitlines()

    assert f"FREPO_COLLECTION={collection}" in output
    assert {"FREPO_VERSION=1", "FREPO_FILE_NAME=dump.sql", "FREPO_SIZE=7"} <= set(output)
    assert [] == [line for line in output if "PHRASE" in line]
    assert "copy" == output[-1]
    assert not os.path.exists(output[-2]), "its folder is deleted afterwards"


def test_wrong_bytes_prove_nothing_and_the_command_never_gets_the_last_of_them(
    services, collection, push, restore, recorded, tmp_path
):
    """They condemn no version: damage belongs to the blob, and another disk may be mounted."""
    added = push(collection, DUMP).version
    path = services.backends.get("local").path(added.file.blob.key)
    path.write_bytes(DUMP[:-1] + bytes([DUMP[-1] ^ 1]))

    result = restore(f"sh -c 'cat > {tmp_path}/got'")

    assert ("not checked", {1: "not checked"}) == (result.outcome, recorded())
    assert result.message.startswith("the storage returned other bytes than were uploaded")
    assert "frepo storage:verify" in result.message
    assert (tmp_path / "got").stat().st_size < len(DUMP)


def test_a_command_that_fails_because_of_wrong_bytes_proves_nothing(services, collection, push, restore):
    """It may find the damage before it has read all: the rest is compared, too."""
    added = push(collection, DUMP).version
    path = services.backends.get("local").path(added.file.blob.key)
    path.write_bytes(b"other" + DUMP[5:])

    result = restore("sh -c 'head -c 1000 > /dev/null; exit 1'")

    assert "not checked" == result.outcome
    assert result.message.startswith("the storage returned other bytes than were uploaded")


def test_missing_bytes_prove_nothing(services, collection, push, restore, recorded):
    added = push(collection, DUMP).version
    services.backends.get("local").path(added.file.blob.key).unlink()

    result = restore("cat")

    assert ("not checked", {1: "not checked"}) == (result.outcome, recorded())
    assert result.message.startswith("the bytes are missing in the storage")
    assert "frepo storage:verify" in result.message


def test_an_unmounted_disk_proves_nothing(services, collection, push, restore, recorded):
    added = push(collection, DUMP).version
    folder = services.backends.get("local").path(added.file.blob.key).parents[1]
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()

    result = restore("cat")

    assert ("not checked", {1: "not checked"}) == (result.outcome, recorded())
    assert "is its disk mounted?" in result.message


def test_a_storage_that_fails_proves_nothing(collection, push, restore, wrap, recorded):
    push(collection, DUMP)
    wrap(Fail("open"))

    assert "not checked" == restore("cat").outcome
    assert {1: "not checked"} == recorded()


def test_a_program_that_is_not_there_proves_nothing_and_the_message_says_what_to_do(
    collection, push, restore, recorded, tmp_path
):
    push(collection, b"content")
    plain = tmp_path / "plain"
    plain.write_text("echo")
    for command, status, said in [
        ("no-such-program -x", None, "the command 'no-such-program' cannot be started: No such file or directory"),
        (str(plain), None, "cannot be started: Permission denied"),
        ("sh -c 'cat | no-such-program'", 127, "(exit status 127): install it"),
        (f"sh -c 'cat > /dev/null; {plain}'", 126, "(exit status 126): check its rights"),
    ]:
        result = restore(command)

        assert ("not checked", status) == (result.outcome, result.status), command
        assert said in result.message
        assert {1: "not checked"} == recorded()


def test_what_cannot_be_run_is_refused_and_records_nothing(collection, push, restore, recorded):
    push(collection, b"content")

    with pytest.raises(FieldsError):
        restore("cat 'open quote")
    with pytest.raises(ConfigurationError, match="restore_tests.command"):
        restore("")
    with pytest.raises(NotFoundError):
        restore("cat", "v9")
    assert {} == recorded()


def test_no_more_of_a_version_is_in_memory_or_on_disk_than_a_piece(collection, push, restore, monkeypatch):
    """The content is read as fast as the command reads: after a megabyte, this one reads no more."""
    push(collection, DUMP)
    read = []
    original = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: read.append(original(fd, data)) or read[-1])

    restore("sh -c 'head -c 1000000 > /dev/null; sleep 1'")

    assert sum(read) < 2_000_000


def test_two_tests_at_once_do_not_disturb_each_other(collection, push, restore):
    push(collection, DUMP)
    results = []
    threads = [threading.Thread(target=lambda: results.append(restore("cat").size)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(DUMP)] * 2 == results
