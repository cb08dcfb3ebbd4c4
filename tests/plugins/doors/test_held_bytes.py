"""What a plug-in holds of unfinished uploads ends nothing in the trash."""

import pytest


@pytest.mark.costly
def test_the_bytes_of_a_plugin_count_as_those_of_unfinished_uploads(running, service):
    held = running._services.ingest.held
    before = held.total().storing

    service.count_held_bytes(lambda: 5_000)
    service.count_held_bytes(lambda: 7_000)  # once for each plug-in

    assert before + 7_000 == held.total().storing


def test_a_plugin_that_cannot_say_is_named(running, service):
    service.count_held_bytes(lambda: 1 // 0)

    assert 0 == running._services.ingest.held.total().storing
    assert "the bytes that the plug-in 'acme' holds are not known" in running.log
