"""One real service for the whole suite; a test that needs a separate one uses `start_service`."""

import pytest

from support.wire import Client, Wire, head, traces


@pytest.fixture(scope="session")
def service(tmp_path_factory, make_service):
    # By default it checks two uploads at once. Further versions are pending then, and count in no limit for a while.
    service = make_service(tmp_path_factory.mktemp("live"), environment={"INTEGRITY_THREADS": "64"})
    service.start()
    yield service
    service.stop()


@pytest.fixture
def client(service):
    return Client(service)


@pytest.fixture
def wire(service):
    with Wire(service) as wire:
        yield wire


@pytest.fixture
def post(client):
    """Write the head of an upload: `post("a.txt", "Content-Length: 5")`."""
    return lambda name, *fields: head("POST", f"/repository/file/upload?fileName={name}", client.auth, *fields)


@pytest.fixture
def before(service):
    """The stored state before the test."""
    return traces(service)
