"""tuspy, the client of tus in Python, against a real service."""

import hashlib
import io
import random
import time

import pytest
from tusclient.client import TusClient
from tusclient.exceptions import TusUploadFailed

from support.reliability.faulty_proxy import FaultyProxy
from support.tus.wire_client import digests as digests_of
from support.wire import Client

CONTENT = random.Random(35).randbytes(3 << 20)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def collection(client):
    return client.collection()


@pytest.fixture
def make_uploader(service, collection):
    """Return an uploader of tuspy for the content."""

    def make_uploader(url=service.url, content=CONTENT, **options):
        client = TusClient(f"{url}/api/v1/uploads", headers={"Authorization": f"Bearer {service.admin}"})
        options = {"metadata": {"collection": collection}, "retries": 5, "retry_delay": 0.1} | options
        return client.uploader(file_stream=io.BytesIO(content), **options)

    return make_uploader


@pytest.fixture
def digests(client, collection):
    """Return the digests of the collection's versions."""
    return lambda: digests_of(client, collection)


@pytest.mark.parametrize("options", [{}, {"chunk_size": 1 << 20}, {"chunk_size": 1000_000, "upload_checksum": True}])
def test_tuspy_uploads_a_version(make_uploader, digests, options):
    make_uploader(**options).upload()

    assert [DIGEST] == digests()


@pytest.mark.own_server
@pytest.mark.parametrize("options", [{}, {"chunk_size": 1 << 20}])
def test_tuspy_continues_after_a_cut_connection(service, make_uploader, digests, options):
    with FaultyProxy(service.address) as proxy:
        uploader = make_uploader(proxy.url, **options)
        uploader.set_url(uploader.create_url())
        uploader.url = uploader.url.replace(service.url, proxy.url)
        uploader.offset = 0
        proxy.arm("cut", "up", 1_500_000)
        uploader.upload()

    assert [DIGEST] == digests()


@pytest.mark.own_server
def test_what_a_cut_request_has_sent_is_not_sent_again(service, make_uploader, digests):
    """One PATCH for everything: what has arrived stays."""
    with FaultyProxy(service.address) as proxy:
        uploader = make_uploader(proxy.url, retries=0)
        uploader.set_url(uploader.create_url().replace(service.url, proxy.url))
        uploader.offset = 0
        proxy.arm("cut", "up", 2_000_000)
        with pytest.raises(TusUploadFailed):
            uploader.upload()
        deadline = time.monotonic() + 30
        while uploader.get_offset() < 1_500_000 and time.monotonic() < deadline:
            time.sleep(0.05)  # the service notices that the connection is gone
        uploader.offset = uploader.get_offset()
        uploader.upload()

    assert [DIGEST] == digests()


def test_a_service_that_was_killed_keeps_what_it_has_acknowledged(start_service):
    service = start_service()
    client = Client(service)
    collection = client.collection()
    tus = TusClient(f"{service.url}/api/v1/uploads", headers={"Authorization": f"Bearer {service.admin}"})
    uploader = tus.uploader(
        file_stream=io.BytesIO(CONTENT), chunk_size=1 << 20, metadata={"collection": collection}, retries=5
    )
    uploader.upload(stop_at=2 << 20)
    service.stop(9)
    service.start()

    assert 2 << 20 == uploader.get_offset()
    uploader.upload()
    assert [DIGEST] == digests_of(client, collection)
