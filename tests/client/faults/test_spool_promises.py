"""What a spool promises: a dump that has its name survives a loss of power, and nobody takes that of another client."""

import os

from support.wire import eventually

# What Python reads before the client: it notes which files are synced, and which are renamed, in this order.
NOTES = """
import os
fsync, replace = os.fsync, os.replace
def note(*words):
    with open("notes", "a") as file:
        file.write(" ".join(words) + "\\n")
def noted_fsync(descriptor):
    note("sync", os.readlink(f"/proc/self/fd/{descriptor}"))
    fsync(descriptor)
def noted_replace(old, new):
    note("name", os.path.abspath(old), os.path.abspath(new))
    replace(old, new)
os.fsync, os.replace = noted_fsync, noted_replace
"""
JOBS = """
[defaults]
spool = "spool"
[job.slow]
collection = "shop.sql"
command = ["sh", "-ec", "head -c 20000000 /dev/urandom; touch begun; while [ ! -e go ]; do sleep 0.05; done"]
[job.fast]
collection = "shop.sql"
command = ["echo", "INSERT"]
"""


def test_a_dump_and_what_it_is_for_are_synced_before_they_get_their_names(machine):
    machine.home.joinpath("sitecustomize.py").write_text(NOTES)
    machine.home.joinpath("client.toml").write_text(JOBS)

    machine.run("--config", "client.toml", "run", "fast", PYTHONPATH=str(machine.home))

    notes = [line.split() for line in machine.home.joinpath("notes").read_text().splitlines()]
    named = [(number, words[1], words[2]) for number, words in enumerate(notes) if words[0] == "name"]
    spooled = [each for each in named if each[2].endswith((".dump", ".json")) and "/spool/" in each[2]]
    assert [".json", ".dump"] == [os.path.splitext(new)[1] for _, _, new in spooled]
    for number, old, _ in spooled:
        assert ["sync", old] in notes[:number]


def test_a_client_does_not_take_the_dump_that_another_one_writes(machine):
    machine.home.joinpath("client.toml").write_text(JOBS)
    slow = machine.start("--config", "client.toml", "run", "slow")
    assert eventually(True, machine.home.joinpath("begun").exists)
    [part] = machine.home.joinpath("spool").glob("*.part")

    machine.run("--config", "client.toml", "run", "fast")

    assert part.exists()
    machine.home.joinpath("go").touch()
    assert slow.wait(60) in {0, 11}  # 11: other content than that of the version before
    assert [20_000_000, 7] == [version["size"] for version in machine.versions()]
