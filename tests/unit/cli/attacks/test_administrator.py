"""Each operation of both APIs, and each command, is tried against a locked version: one that is new is tried, too."""

import re
import sys
from collections import defaultdict
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest

from frepo_core.services.composition import assembly
from support.logs.log_recorder import MARK
from support.scale import IS_BIG
from support.siege.all_requests import command_lines, requests_of

DAYS = range(1, 7) if IS_BIG else (3, 6)
V1 = "/api/v1"
DOCUMENTS = ("/api/v1/openapi.json", "/api/doc.json")


def targets_of(place, owner):
    """Return what the attacker finds with his token: the values of the parameters of paths."""
    path = f"{V1}/collections/{place.locked}/versions"
    files = [item["file_name"] for item in owner.get(path).json["items"]]
    jobs = [item["name"] for item in owner.get(f"{V1}/jobs").json["items"]]
    tokens = [item["fingerprint"] for item in owner.get(f"{V1}/tokens").json["items"]]
    opened = owner.call("POST", f"{V1}/uploads", headers={"Tus-Resumable": "1.0.0", "Upload-Length": "5"})
    return {
        "collection": [place.locked, place.other],
        "selector": ["v2", "v1", "latest"],
        "version": ["v2", "latest"],
        "number": ["1"],
        "deleted": [place.locked, place.other],
        "name": files,
        "job": jobs,
        "type": ["file"],
        "file": files,
        "fileName": files,
        "password": [MARK],
        "fingerprint": tokens[:2],
        "token": tokens[:1],
        "alias": ["a"],
        "upload": [opened.headers.get("Location", "a").rpartition("/")[2]],
        "enrolment": ["a"],
    }


def chosen(operation, requests):
    """Return the requests of the short form: all that are about a collection, and some of the others."""
    requests = list(requests)
    few = not IS_BIG and "{collection}" not in operation
    return requests[:: max(1, len(requests) // 5)] if few else requests


@pytest.mark.costly
def test_no_operation_of_the_api_destroys_a_locked_version_or_a_second_copy(place):
    """He has a week, and then also the keys of the first storage. What he deleted is in the copies for the delay."""
    statuses = defaultdict(set)
    for path in DOCUMENTS:
        targets = targets_of(place, place.client())
        for operation, requests in requests_of(place.client().get(path).json, targets):
            prepare(place, operation, targets)
            attacker = place.client()
            for one in chosen(operation, requests):
                statuses[operation].add(attacker.call(one.method, one.url, **one.more).status_int)
            if IS_BIG or re.search("DELETE|{collection}$|version", operation):
                place.assert_intact(operation)
    for day in DAYS:
        place.pass_days(1 if IS_BIG else 3)
        place.run_jobs()
        place.assert_intact(f"day {day}")
        place.assert_copies(place.other_copies, f"day {day}")
    place.rob_first_storage()
    for day in (1, 2):
        place.pass_days(1)
        place.run_jobs()
        place.assert_copies(place.copies, f"day {day} after the theft")
    place.assert_intact("the end")

    assert [] == [
        operation
        for operation, found in statuses.items()
        if re.match("DELETE /api/v1/.*(collection|deleted)", operation) and not {200, 204} & found
    ]


def prepare(place, operation, targets):
    """Give a collection that the attacker may destroy, and let the limits of the locked one refuse no upload."""
    if operation.startswith("DELETE ") or "{deleted}" in operation:
        if "{deleted}" in operation:
            targets["deleted"] = [place.locked, place.other]
            assert 204 == place.client().delete(f"{V1}/collections/{place.other}", {"versions": "trash"}).status_int
        place.make_other()
        targets["collection"][1:] = [place.other]
    if re.match("P.*{collection}", operation):
        place.change(place.locked, {"limits": {"versions": 2, "version_size": 0, "total_size": 0}})


# The worker runs until it is stopped. The others remove nothing: the long form shows it.
SHORT = re.compile("backup:.*(collection|edit|lock|pin|trash|upload|version)$|storage:|recover|jobs:run")


def test_no_command_destroys_a_locked_version(place, monkeypatch):
    """The operator of the host may do more than a token of the API, but no command ends a lock."""
    monkeypatch.setattr(assembly, "assemble", lambda *_, features: place.services)  # faster than one for each command
    values, statuses = values_of(place), set()
    for entry in sorted(entry_points(group="frepo.commands"), key=lambda entry: entry.name):
        if entry.name == "worker" or not (IS_BIG or SHORT.match(entry.name)):
            continue
        parser = entry.load()(SimpleNamespace(services=None, stdout=sys.stdout), None).get_parser("frepo")
        for arguments in command_lines(parser, values):
            done = place.console.run(entry.name, *arguments)
            statuses.add((entry.name, done.returncode))
            assert "Traceback" not in done.stderr, (entry.name, arguments, done.stderr)
        place.assert_readable(entry.name)

    assert {("storage:promote", 0), ("storage:sweep", 0), ("storage:migrate", 0), ("jobs:run", 0)} <= statuses


def values_of(place):
    targets = targets_of(place, place.client())
    return {
        "": ["a"],
        "password": [MARK],
        "id": [place.locked],
        "version": ["v2"],
        "name": targets["file"],
        "file": targets["file"],
        "storage": ["local", "offsite"],
        "from": ["local", "offsite"],
        "to": ["archive", "offsite", "local"],
        "time": ["0s", "1s"],
        "grace": ["1h"],
        "job": targets["job"] if IS_BIG else ["sweep"],
        "yes-delete": ["1000"],
        "older-than": ["0s"],
        "fingerprint": targets["fingerprint"],
        "token": targets["fingerprint"],
        "max-backups-count": ["1"],
    }
