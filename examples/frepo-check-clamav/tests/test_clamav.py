"""The check keeps the contract of upload checks, against a small server that speaks clamd's protocol."""

import socketserver
import threading

import pytest

from frepo_check_clamav import ClamavSettings, frepo_upload_checks
from frepo_core.testing import UploadCheckContract, make_context

BAD = b"a content with EVIL in it" + b"." * 100_000


class Clamd(socketserver.StreamRequestHandler):
    """Finds contents that contain EVIL; it fails if they contain FAIL."""

    def handle(self):
        assert b"zINSTREAM\0" == self.rfile.read(10)
        content = b""
        while length := int.from_bytes(self.rfile.read(4), "big"):
            content += self.rfile.read(length)
        if b"FAIL" in content:
            answer = b"INSTREAM size limit exceeded. ERROR"
        else:
            answer = b"stream: Eicar-Test FOUND" if b"EVIL" in content else b"stream: OK"
        self.wfile.write(answer + b"\0")


@pytest.fixture
def address():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Clamd) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class TestContract(UploadCheckContract):
    @pytest.fixture
    def check(self):
        return frepo_upload_checks()[0]

    @pytest.fixture
    def context(self, address):
        return make_context(ClamavSettings(address=address, max_size=200_000))

    @pytest.fixture
    def good(self):
        return b"a dump"

    @pytest.fixture
    def broken(self):
        return BAD

    @pytest.fixture
    def unknown(self):
        return b"." * 200_001


class TestService:
    @pytest.fixture
    def frepo_service_settings(self, address):
        return {"clamav.address": address, "clamav.on_finding": "refuse"}

    def test_malware_is_refused(self, frepo_service):
        answer = frepo_service.push(frepo_service.make_collection(), BAD)

        assert (400, 4017) == (answer.status, answer.json["error_code"])
        assert {"check": "clamav", "message": "ClamAV found Eicar-Test"} == answer.json["context"]

    def test_an_error_of_clamd_refuses_nothing(self, frepo_service):
        collection = frepo_service.make_collection()

        answer = frepo_service.push(collection, b"FAIL")

        assert (200, "not checked") == (answer.status, frepo_service.checks(collection, 1)["clamav"][0])
        assert "clamd answered 'INSTREAM size limit exceeded. ERROR'" in frepo_service.log
        assert "frepo-check-clamav" in frepo_service.log


class TestEndpoint:
    @pytest.fixture
    def frepo_service_settings(self, address):
        return {"clamav.address": address, "clamav.max_size": "200000"}

    @pytest.mark.parametrize(("content", "found"), [(b"a dump", None), (BAD, "Eicar-Test")])
    def test_a_content_is_scanned_and_not_stored(self, frepo_service, content, found):
        answer = frepo_service.request("POST", "/clamav/scan", content)

        assert (200, {"found": found}) == (answer.status, answer.json)
        assert [] == frepo_service.request("GET", "/api/v1/files").json["items"]

    def test_a_large_content_is_refused(self, frepo_service):
        assert 413 == frepo_service.request("POST", "/clamav/scan", b"." * 200_001).status


def test_an_endpoint_says_that_the_daemon_is_down(frepo_service):
    answer = frepo_service.request("POST", "/clamav/scan", b"a dump")

    assert (503, "60") == (answer.status, answer.headers["retry-after"])


def test_a_daemon_that_is_down_refuses_nothing(frepo_service):
    collection = frepo_service.make_collection()

    answer = frepo_service.push(collection, b"a dump")

    assert (200, "not checked") == (answer.status, frepo_service.checks(collection, 1)["clamav"][0])


@pytest.fixture
def frepo_service_settings():
    return {"clamav.address": "127.0.0.1:1"}
