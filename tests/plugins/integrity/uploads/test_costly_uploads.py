"""Uploads that are made to be costly: each may cost a second of processor time and 64 MiB; the job checks the rest."""

import gzip

import pytest

from support.compressors import rows
from support.hostile_contents import COSTLY, XZ_96_MB, tiny_records, xz_with_window, zstd_with_window
from support.scale import IS_BIG


@pytest.fixture
def outcomes(results):
    return lambda: [outcome for _, outcome, _ in results()]


def test_what_takes_more_than_a_second_is_left_to_the_job(root, collection, outcomes):
    content = gzip.compress(tiny_records(3_000_000))
    assert len(content) < 25_000

    root.push(collection, content)

    assert ["pending"] == outcomes()


@pytest.mark.parametrize(
    "content", [xz_with_window(rows(100), XZ_96_MB), zstd_with_window(rows(100), 27)], ids=["xz", "zstd"]
)
def test_what_needs_more_memory_is_left_to_the_job(root, collection, outcomes, run_job, content):
    root.push(collection, content)

    assert ["pending"] == outcomes()
    assert {"good": 1} == run_job()


class TestLessTime:
    @pytest.fixture
    def settings(self):
        return {"integrity.inline_seconds": "0.02", "integrity.max_ratio": "1000000000", "quarantine.max": "100"}

    @pytest.mark.costly
    def test_the_job_judges_what_an_upload_has_no_time_for(self, root, collection, outcomes, run_job):
        makers = [*COSTLY.values()] if IS_BIG else [*COSTLY.values()][::4]
        for make in makers:
            root.push(collection, make())

        assert ["pending"] * len(makers) == outcomes()
        assert len(makers) == sum(run_job().values())
        assert "pending" not in outcomes()
