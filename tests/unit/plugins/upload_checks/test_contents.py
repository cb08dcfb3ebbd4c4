"""What an upload check sees, and what is stored."""

import pytest

from frepo_core.plugins import CheckResult

GOOD = CheckResult(outcome="good")


def test_a_check_sees_the_content_the_collection_and_its_settings(root, collection, painter):
    seen = []
    painter.act = lambda content, context: (seen.append((content.collection.id, context.settings.on_finding)), GOOD)[1]

    answer = root.push(collection, b"a dump")

    ((_, mime, size, sha256, data),) = painter.seen
    assert 200 == answer.status_int
    assert (b"a dump", 6, "text/plain", 64) == (data, size, mime, len(sha256))
    assert [(collection, "mark")] == seen


def test_a_file_has_no_collection(root, painter):
    seen = []
    painter.act = lambda content, context: (seen.append((content.collection, content.file_name)), GOOD)[1]

    root.upload(b"a picture", fileName="a.txt")

    assert [(None, "a.txt")] == seen


@pytest.mark.parametrize("size", [10, 3 << 20])
def test_the_content_is_stored_whole_whatever_a_check_reads(root, collection, painter, size):
    content = b"0123456789" * (size // 10)

    def read_parts(checked, context):
        one, other = checked.open(), checked.open()
        one.seek(5)
        other.seek(-1, 2)
        assert (content[5:8], content[-1:], 5 + 3) == (one.read(3), other.read(), one.tell())
        one.close()
        return GOOD

    painter.act = read_parts
    root.push(collection, content)

    assert content == root.get(f"/repository/collection/{collection}/backup/latest").follow().body


def test_a_thread_that_a_check_left_behind_cannot_read_on(root, collection, painter):
    kept = []
    painter.act = lambda content, context: (kept.append(content.open()), GOOD)[1]
    root.push(collection, b"a dump")

    with pytest.raises(ValueError, match="The check has returned"):
        kept[0].read()


def test_no_transaction_is_open_while_a_check_runs(root, collection, painter, services):
    checked_out = []
    painter.act = lambda content, context: (checked_out.append(services.database.engine.pool.checkedout()), GOOD)[1]

    root.push(collection, b"a dump")

    assert [0] == checked_out


class TestOff:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"acme.on_finding": "off"}

    def test_the_check_is_not_run(self, root, collection, painter):
        root.push(collection, b"a dump")

        assert [] == painter.seen
