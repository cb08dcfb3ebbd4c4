"""What tokens create without an end in sight costs other requests nothing: they read no more rows of it than before."""

from contextlib import contextmanager

import pytest
from sqlalchemy import event

from frepo_core.domain.identity import new_uuid4

FEW, MORE = 15, 60


@contextmanager
def counted(services):
    """Yield a dictionary with the numbers of statements and of rows that are read."""
    found = {"statements": 0, "rows": 0}
    engine = services.database.engine

    def note(*_):
        found["statements"] += 1

    def watch(connection, record, proxy):
        def count(cursor, row):
            found["rows"] += 1
            return row

        connection.row_factory = count

    def forget(connection, record):
        connection.row_factory = None

    hooks = (("before_cursor_execute", note), ("checkout", watch), ("checkin", forget))
    for name, hook in hooks:
        event.listen(engine, name, hook)
    yield found
    for name, hook in hooks:
        event.remove(engine, name, hook)


@pytest.fixture
def site(root, make_collection):
    """A collection, and functions that make one more of what a token can create, by the name of it."""
    collection = make_collection(strategy="alert_when_backup_limit_reached")
    path = f"/api/v1/collections/{collection}"

    def answer(method, path, json=None, expected=(200, 201, 202, 204), **more):
        found = root.call(method, path, json=json, **more)
        assert found.status_int in expected, found.text
        return found

    made = {
        "versions": lambda n: answer("POST", f"{path}/versions", body=b"version %d" % n),
        "idempotency keys": lambda n: answer(
            "POST", f"{path}/versions", body=b"keyed %d" % n, headers={"Idempotency-Key": f"key-{n}"}
        ),
        "files": lambda n: answer("POST", f"/api/v1/files?name=f{n}.txt", body=b"file %d" % n),
        "runs": lambda n: answer("POST", f"{path}/runs", {"outcome": "failed", "error_output": f"night {n}"}),
        "events": lambda n: answer("PATCH", path, {"description": f"changed {n}"}),
        "tokens": lambda n: answer("POST", "/api/v1/tokens", {"roles": ["upload.all"], "name": f"host{n}"}),
        "codes": lambda n: answer("POST", "/api/v1/enrolments", {"name": f"host{n}", "collections": [collection]}),
        "collections": lambda n: answer("POST", "/api/v1/collections", {"name": f"c{n}.sql"}),
        "deleted versions": lambda n: answer(
            "DELETE", f"{path}/versions/v{answer('POST', f'{path}/versions', body=b'gone %d' % n).json['number']}"
        ),
    }
    return collection, made


def use(root, collection, turn):
    """Send the requests of a night."""
    path = f"/api/v1/collections/{collection}"
    for method, target, more in (
        ("POST", f"{path}/versions", {"body": b"night %d" % turn, "headers": {"Idempotency-Key": new_uuid4()}}),
        ("POST", f"{path}/runs", {"json": {"outcome": "ok"}}),
        ("GET", path, {}),
        ("GET", f"{path}/versions?limit=5", {}),
        ("POST", f"/api/v1/files?name=night{turn}.txt", {"body": b"file of night %d" % turn}),
        ("GET", "/api/v1/collections?limit=5", {}),
        ("GET", "/api/v1/tokens?limit=5", {}),
        ("GET", "/api/v1/events?limit=5", {}),
    ):
        found = root.call(method, target, **more)
        assert found.status_int < 300, (method, target, found.text)


KINDS = [
    "versions",
    "idempotency keys",
    "files",
    "runs",
    "events",
    "tokens",
    "codes",
    "collections",
    "deleted versions",
]


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
def test_many_of_a_kind_cost_other_requests_no_rows(services, root, site, kind):
    collection, made = site
    costs = []
    for turn, numbers in enumerate((range(FEW), range(FEW, MORE))):
        for number in numbers:
            made[kind](number)
        use(root, collection, 2 * turn)
        with counted(services) as found:
            use(root, collection, 2 * turn + 1)
        costs.append(found)

    assert costs[1]["statements"] <= costs[0]["statements"] + 2
    assert costs[1]["rows"] <= costs[0]["rows"] + 10


@pytest.mark.parametrize("send", ["versions of many collections", "files with passwords"])
def test_one_content_under_one_name_costs_no_more_for_the_fiftieth(services, root, make_collection, send):
    costs = []
    for turn in range(50):
        collection = make_collection()
        with counted(services) as found:
            if send == "files with passwords":
                answer = root.upload(b"hello", password=f"password-5ecre7-{turn}")
            else:
                answer = root.push(collection, b"hello")
        costs.append(found["statements"])
        assert 200 == answer.status_int

    assert costs[-1] <= costs[9] + 1
