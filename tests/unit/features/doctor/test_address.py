"""What `frepo doctor --url` finds by a request."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from frepo_core.features.doctor.address import check_url


@pytest.fixture
def serve():
    """Start a server that answers with a document whose links begin as `link(request)` says."""
    servers = []

    def serve(link, status=200):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps({"servers": [{"url": link(self)}]}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def own_host(request):
    return f"http://{request.headers['Host']}"


def test_a_sound_proxy_is_good(serve):
    assert ["ok"] == [finding.level for finding in check_url(serve(own_host))]


def test_a_proxy_that_passes_forged_headers_on_is_a_problem(serve):
    url = serve(lambda request: f"http://{request.headers['X-Forwarded-Host']}")

    [finding] = check_url(url)

    assert (finding.level, "X-Forwarded-Host" in finding.message) == ("problem", True)


def test_links_with_another_scheme_are_a_problem(serve):
    [finding] = check_url(serve(lambda request: f"https://{request.headers['Host']}"))

    assert (finding.level, "X-Forwarded-Proto" in finding.remedy) == ("problem", True)
    assert "app.domain" not in finding.remedy  # it is a host without a scheme


def test_links_with_the_host_behind_the_proxy_are_a_problem(serve):
    url = serve(lambda request: "http://upstream:6543")

    [finding] = check_url(url)

    assert finding.level == "problem"
    assert f"app.domain (APP_DOMAIN) to {url.removeprefix('http://')}" in finding.remedy
    assert "X-Forwarded-Proto" not in finding.remedy
    assert "begin with http://upstream:6543, but clients use http://127.0.0.1:" in finding.message


def test_links_with_another_host_and_scheme_need_both(serve):
    [finding] = check_url(serve(lambda request: "https://upstream"))

    assert {"app.domain", "X-Forwarded-Proto"} == {
        name for name in ("app.domain", "X-Forwarded-Proto") if name in finding.remedy
    }


def test_another_server_is_a_problem(serve):
    [finding] = check_url(serve(own_host, status=404))

    assert (finding.level, "answers 404" in finding.message) == ("problem", True)


def test_a_server_that_does_not_answer_is_a_problem():
    [finding] = check_url("http://127.0.0.1:9")

    assert (finding.level, "does not answer" in finding.message) == ("problem", True)
