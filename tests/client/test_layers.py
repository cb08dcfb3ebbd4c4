"""What a pull undoes of the compression and encryption of a content."""

import gzip


def test_layers_without_an_end_are_not_undone(machine):
    """Each is a process; content that unpacks to itself has no last one."""
    dump = b"a dump"
    for _ in range(6):
        dump = gzip.compress(dump)
    machine.home.joinpath("six").write_bytes(dump)
    machine.home.joinpath("seven").write_bytes(gzip.compress(dump))
    for name in ("six", "seven"):
        machine.run("push", "shop.sql", name)

    machine.run("pull", "shop.sql", "v1", "-o", "restored")
    refused = machine.run("pull", "shop.sql", "v2", "-o", "none", check=2)

    assert b"a dump" == machine.home.joinpath("restored").read_bytes()
    assert "more than 6 times" in refused.stderr.decode()
    assert not machine.home.joinpath("none").exists()
