"""A deep check that costs the process its life is an attempt: after three, it no longer holds up the others."""

import json
import signal

import pytest


@pytest.mark.costly
def test_a_version_whose_check_kills_the_process_is_suspicious_after_three_attempts(console, tmp_path):
    killer = tmp_path / "killer"
    killer.write_text("#!/bin/sh\ncase $(head -c 6) in DEADLY) kill -9 $PPID;; esac\n")
    killer.chmod(0o755)
    settings = {"INTEGRITY_COMMAND": f"name:*.own = {killer}"}
    (deadly, harmless) = (_upload(console, name, settings) for name in ("DEADLY", "harmless, and larger"))

    for _ in range(3):
        assert -signal.SIGKILL == console.run_script("jobs:run", "integrity_deep", **settings).returncode
        assert ["pending", "pending"] == [_verdict(console, one)[0] for one in (deadly, harmless)]
        console.change("DELETE FROM lease")  # the dead process has lost it after half a minute

    done = console.run_script("jobs:run", "integrity_deep", **settings)

    assert 0 == done.returncode, done.stderr
    verdict, reason = _verdict(console, deadly)
    assert "suspicious" == verdict
    assert reason.startswith("unjudged after 3 attempts: the process")
    assert "complete" == _verdict(console, harmless)[0]


def _upload(console, text, settings):
    collection = console.answer("backup:create-collection", "-f", "dump.own")
    (console.folder / "dump.own").write_text(text)
    console.answer("backup:upload", collection, str(console.folder / "dump.own"), **settings)
    return collection


def _verdict(console, collection):
    found = json.loads(console.answer("backup:versions", collection, "-f", "json"))
    return found[0]["Verdict"], console.rows(
        f"SELECT verdict_reason FROM version WHERE collection_id = '{collection}'"
    )[0][0]
