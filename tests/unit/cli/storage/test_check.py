"""`storage:check`, and the same figures in `doctor`."""

import json


def check(console):
    done = console.run("storage:check", "-f", "json")
    return done.returncode, {row.pop("Storage"): row for row in json.loads(done.stdout)}


def fires(console):
    rows = json.loads(console.run("doctor", "-f", "json").stdout)
    return [row["What was found"] for row in rows if "A fire of" in row["What was found"]]


def test_what_only_one_storage_has_is_what_its_fire_costs(mirrored):
    status, rows = check(mirrored)

    assert 0 == status
    worth = {"State": "ok", "Promises": 1, "Size": 5, "Decodes": 1, "Lacks": 0, "Read": 0}
    assert worth | {"Only here": 1, "Only here size": 5, "Versions": 0, "Files": 1, "Trash": 0} == rows["local"]
    assert (1, 0, 1, 0) == tuple(rows["offsite"][name] for name in ("Promises", "Decodes", "Lacks", "Only here"))
    assert [
        "A fire of the storage 'local' would cost 1 content (5 bytes; 1 files)",
        "A fire of the storage 'offsite' would cost nothing: the others can decode all contents",
    ] == fires(mirrored)


def test_what_no_storage_can_decode_is_a_problem(mirrored):
    mirrored.answer("storage:mirror")
    for folder in ("storage", "offsite"):
        for path in (mirrored.folder / folder).glob("2c/*"):
            path.unlink()
    mirrored.run("storage:verify")

    status, rows = check(mirrored)

    assert (1, 1, 1) == (status, rows[None]["Only here"], rows[None]["Files"])
    rows = json.loads(mirrored.run("doctor", "-f", "json").stdout)
    assert "No storage can decode 1 content (5 bytes; 1 files)" in [row["What was found"] for row in rows]


def test_a_wrong_time_is_refused(mirrored):
    assert "read-within" in mirrored.refusal("storage:check", "--read-within", "soon")
