"""The built-in job that verifies the stored bytes."""

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import LeaseLost
from frepo_core.testing import Fail, FaultyStorage


class TestVerify:
    def test_damage_is_marked_and_an_event(self, services, run, add, path_of, events):
        file = add(b"content")
        add(b"sound")
        path_of(file).write_bytes(b"CONTENT")

        summary = run("verify")

        assert (2, 12, 1) == (summary["checked"], summary["size"], summary["damaged"])
        assert [f"local {file.blob.key}: its content is not what was stored"] == summary["examples"]
        assert services.files.find(file.stored_name).blob.is_damaged
        assert [("blob.damaged", "system:verify")] == events()

    def test_a_run_that_was_interrupted_is_continued(self, services, run, add, at_each_piece):
        for number in range(5):
            add(b"%d" % number)
        seen = []

        def check():
            seen.append(1)
            if len(seen) == 4:
                raise LeaseLost

        run.check = check
        with pytest.raises(LeaseLost):
            run("verify")

        run.check = lambda: None
        assert 2 == run("verify")["checked"]

    def test_a_blob_that_cannot_be_read_fails_the_job_after_the_others_were_checked(self, services, run, add, backend):
        first = add(b"one")
        add(b"two")

        class BadSector(FaultyStorage):
            def open(self, key, start=0, length=None):
                content = super().open(key, start, length)
                bad = Fail("open", after=0, error=lambda: OSError(5, "bad"))
                return bad.wrap(content) if key == first.blob.key else content

        services.backends._built["local"] = BadSector(backend)

        with pytest.raises(StorageUnavailable, match=f"1 of 2 blobs could not be read.*{first.blob.key}"):
            run("verify")

        services.backends._built["local"] = backend
        assert not services.files.find(first.stored_name).blob.is_damaged
        assert 1 == run("verify")["checked"]

    def test_progress_is_reported(self, run, add):
        add(b"content")

        run("verify")

        assert ["1 of 1 blobs, 7 bytes"] == run.notes
