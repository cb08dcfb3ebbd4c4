from io import BytesIO

import pytest

from frepo_core.services.upkeep.storage import read_index

pytestmark = pytest.mark.databases


def test_the_index_reports_contents_and_keys_without_a_row(services, backend, add):
    add(b"known")
    backend.store("ab/" + "ab" * 32 + "-" + "0" * 16, BytesIO(b"lost"), 4)
    backend.store("ab/" + "ab" * 32 + "-" + "1" * 16, BytesIO(b"lost"), 4)
    backend.store("notes.txt", BytesIO(b"other"), 5)

    report = read_index(services.database, backend, storage="local")

    assert (4, 18, 2, 1, ["notes.txt"]) == (
        report.keys,
        report.size,
        report.contents,
        report.unknown,
        report.foreign,
    )
