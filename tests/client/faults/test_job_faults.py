"""A fault of one job, whatever it is, ends no other job, and each is said and reported."""

import json

import pytest

from support.servers.disks import small_disk

# What is wrong with the first job, the exit status, and what the message says. {home} is the home of the user.
FAULTS = {
    "a byte of Latin-1 in env_file": ('env_file = "latin.env"', 2, "env_file latin.env is not in UTF-8: see line 2"),
    "a byte of 0 in env_file": ('env_file = "zero.env"', 2, "env_file zero.env has a byte of 0 in line 1"),
    "env_file is a folder": ('env_file = "{home}"', 2, "cannot be read: Is a directory"),
    "env_file is missing": ('env_file = "no.env"', 2, "env_file no.env cannot be read: No such file or directory"),
    "a wrong key": ('compres = "gzip"', 2, "has no key 'compres'; did you mean 'compress'?"),
    "half a quotation": ('compress = "zstd \'a"', 2, 'compress "zstd \'a": No closing quotation'),
    "a wrong time": ('timeout = "soon"', 2, "timeout: 'soon' is not a length of time"),
    "a byte of 0 in a word": ('before = ["echo", "\\u0000"]', 20, "echo cannot be started: embedded null byte"),
    "before is a folder": ('before = ["/"]', 20, "/ cannot be started: Permission denied"),
    "the spool is a file": ('spool = "latin.env"', 20, "the spool latin.env cannot be made: File exists"),
    "the spool is a device": ('spool = "/dev/null/spool"', 20, "the spool /dev/null/spool cannot be made"),
}
# What is wrong beside the dump, which is stored all the same.
NO_FAULTS = {
    "after fails": ('after = ["false"]', "after: false ended with 1"),
    "after is a folder": ('after = ["/"]', "/ cannot be started: Permission denied"),
    "an address that is none": ('ping_url = "http://[::1"', "ping_url could not be called"),
    "an address with a blank": ('ping_url = "http://127.0.0.1:1/a b"', "ping_url could not be called"),
    "a metrics_file in Latin-1": ('metrics_file = "latin.env"', ""),
    "a metrics_file that is a folder": ('metrics_file = "{home}"', "cannot be written: Is a directory"),
    "a metrics_file with a byte of 0": ('metrics_file = "a\\u0000b"', "cannot be written: embedded null byte"),
}
JOB = """
[job.{name}]
collection = "shop.sql"
command = {command}
{line}
"""


def write_jobs(machine, *lines, command='["echo", "UPDATE"]'):
    """Write a configuration with a job for each line, and a last one that has no fault."""
    machine.home.joinpath("latin.env").write_bytes("A=b\nPGPASSWORD=größe\n".encode("latin-1"))
    machine.home.joinpath("zero.env").write_bytes(b"A=\0b\n")
    jobs = [
        JOB.format(name=f"bad{number}", command=command, line=line.replace("{home}", str(machine.home)))
        for number, line in enumerate(lines)
    ]
    good = JOB.format(name="good", command='["echo", "INSERT"]', line="")
    machine.home.joinpath("client.toml").write_text("".join([*jobs, good]))


def test_faults_of_some_jobs_end_no_other_and_each_is_reported(machine):
    write_jobs(machine, *(line for line, _, _ in FAULTS.values()))

    done = machine.run("--config", "client.toml", "--json", "run", check=20)

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    failed = {line["job"]: line for line in lines if "job" in line}
    reported = [run["error_output"] for run in machine.runs() if run["outcome"] == "failed"]
    for number, (fault, (_, status, message)) in enumerate(FAULTS.items()):
        bad = failed[f"bad{number}"]
        assert (status, True) == (bad["status"], message in bad["error"]), fault
        assert message in done.stderr.decode(), fault
        assert any(message in output for output in reported), fault
    assert len(FAULTS) == len(failed) == len(reported)
    assert [1] == [version["number"] for version in machine.versions()]


def test_what_is_wrong_beside_a_dump_is_said_and_fails_nothing(machine):
    write_jobs(machine, *(line for line, _ in NO_FAULTS.values()))

    done = machine.run("--config", "client.toml", "run")

    for fault, (_, message) in NO_FAULTS.items():
        assert message in done.stderr.decode(), fault
    assert ["ok"] * (len(NO_FAULTS) + 1) == [run["outcome"] for run in machine.runs()]


@pytest.mark.costly
def test_a_disk_that_one_dump_has_filled_stops_no_other_job(machine):
    write_jobs(machine, 'spool = "spool"', command='["head", "-c", "4000000", "/dev/zero"]')
    with small_disk(machine.home / "spool", "1m"):
        done = machine.run("--config", "client.toml", "run", check=20)

    assert b"bad0: the dump cannot be kept in the spool: No space left on device" in done.stderr
    assert {"failed", "ok"} == {run["outcome"] for run in machine.runs()}


@pytest.mark.costly
def test_a_dump_in_the_spool_that_says_not_for_what_holds_no_other_up(machine):
    write_jobs(machine, 'spool = "spool"')
    spool = machine.home / "spool"
    spool.mkdir()
    for number, about in enumerate((b"[]", b"{}", b'{"collection": 7, "run": 8}', b"\xff", b"[" * 60000)):
        spool.joinpath(f"{number}-x.dump").write_bytes(b"INSERT")
        spool.joinpath(f"{number}-x.json").write_bytes(about)

    done = machine.run("--config", "client.toml", "run", check=40)

    assert 5 == done.stderr.count(b"could not be sent and stays there")
    assert 2 == len(machine.versions())


def test_check_names_a_job_that_is_wrong(machine):
    write_jobs(machine, "collections = 7")

    done = machine.run("--config", "client.toml", "check", check=2)

    assert b"bad0: [job.bad0] has no key 'collections'; did you mean 'collection'?" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_token_a_configuration_and_variables_may_have_a_mark(machine, encoding):
    """As the editor and the shell of Windows write them."""
    write_jobs(machine, 'env_file = "mark.env"')
    for path in (machine.token_file, machine.home / "client.toml"):
        path.write_bytes(path.read_text().encode(encoding))
    machine.home.joinpath("mark.env").write_bytes("A=b\r\n".encode(encoding))

    machine.run("--config", "client.toml", "run")

    assert 2 == len(machine.versions())


@pytest.mark.costly
def test_a_token_that_is_none_is_refused_without_showing_it(machine):
    for content in (b"\xff\xfe5\xd8", "größe-5ecre7".encode(), "größe".encode("latin-1"), b"5ecre7\0", b"\x1b5ecre7"):
        machine.token_file.write_bytes(content)

        done = machine.run("check", check=2)

        assert f"token_file {machine.token_file}".encode() in done.stderr
        assert b"5ecre7" not in done.stderr
