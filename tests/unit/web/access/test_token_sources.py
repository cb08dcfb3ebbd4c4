"""HTTP API, 1.1: where the token is read from, and what happens without a good one."""

import logging
import time
from collections.abc import Callable

import pytest

from frepo_core.domain.roles import Role
from support.client import Client, with_settings

NO_TOKEN = {
    "status": "No access: a valid token is needed",
    "error_code": 403,
    "http_code": 403,
    "exit_code": 403,
}
UNKNOWN = "4ee5d382-1e2e-4203-be2b-55d90c2d2b1d"


@pytest.fixture
def token(make_token: Callable[..., str]) -> str:
    return make_token()


def test_the_token_is_read_from_a_header_or_the_query(anonymous, token):
    for spelling in ["X-Auth-Token", "x-auth-token", "token", "Token"]:
        assert anonymous.get("/version", headers={spelling: token}).status_int == 200, spelling
    for scheme in ["Bearer", "bearer", "BEARER"]:
        assert anonymous.get("/version", headers={"Authorization": f"{scheme} {token}"}).status_int == 200, scheme
    assert anonymous.get("/version", {"_token": token}).status_int == 200
    assert anonymous.get("/version", headers={"X-Auth-Token": token.upper()}).status_int == 200


def test_what_is_no_valid_token_is_refused_without_a_reason(anonymous, token, holder):
    for credentials in ["{}", "Basic {}", "Token {}", "Bearer"]:
        answer = anonymous.get("/version", headers={"Authorization": credentials.format(token)})
        assert answer.json == NO_TOKEN, credentials

    for bad in [
        UNKNOWN,
        "1",
        "null",
        "00000000-0000-0000-0000-000000000000",
        "a" * 10_000,
        "../../etc/passwd",
        "' OR 1=1 --",
        "\N{SNOWMAN}",
        "\0",
        "86fd6dd0-e578-11f1-bbaa-02fc00000001",
    ]:
        assert anonymous.get("/version", {"_token": bad}).json == NO_TOKEN, bad

    assert anonymous.get("/version", {"_token": token.replace("-", "")}).json == NO_TOKEN
    assert holder(Role.ADMINISTRATOR, expires="2001-01-01").get("/version").json == NO_TOKEN


def test_the_first_place_in_the_documented_order_is_used(anonymous, token):
    for in_query in ["", UNKNOWN]:
        headers = {"X-Auth-Token": token, "token": token, "Authorization": f"Bearer {token}"}
        assert anonymous.get("/version", {"_token": in_query}, headers=headers).status_int == 403, in_query

    for headers in [
        {"X-Auth-Token": UNKNOWN, "token": "{}"},
        {"X-Auth-Token": UNKNOWN, "Authorization": "Bearer {}"},
        {"token": UNKNOWN, "Authorization": "Bearer {}"},
    ]:
        answer = anonymous.get("/version", headers={name: value.format(token) for name, value in headers.items()})
        assert answer.status_int == 403, headers


def test_the_token_is_not_read_from_a_form(anonymous, uploader):
    assert anonymous.send_form(("_token", uploader.token), ("file", "a.txt", b"hello")).status_int == 403


def test_a_bad_token_is_refused_on_public_endpoints(app):
    for path in ["/version", "/repository/file/none.txt", "/public/download/none.txt"]:
        assert Client(app, UNKNOWN).get(path).status_int == 403, path


def test_an_empty_token_is_ignored_on_public_endpoints(anonymous):
    assert anonymous.get("/", {"_token": ""}).status_int == 200


def test_a_query_that_is_not_utf8_is_a_bad_request(anonymous):
    assert anonymous.get("/version?_token=%ff").json["error_code"] == 400


def test_the_log_names_a_refused_token_by_its_fingerprint_only(app, make_token, caplog):
    token = make_token(expires="2001-01-01")
    caplog.set_level(logging.DEBUG)
    Client(app, token).get("/version")

    assert token not in caplog.text
    assert "it has expired" in caplog.text


def test_a_token_works_from_the_addresses_and_networks_on_its_list(holder):
    for address in ["203.0.113.7", "::ffff:203.0.113.7"]:
        answer = holder(ip_addresses=["203.0.113.7"]).get("/version", environ={"REMOTE_ADDR": address})
        assert answer.status_int == 200, address

    for address in ["203.0.113.8", "::1", "", "203.0.113.70"]:
        answer = holder(ip_addresses=["203.0.113.7"]).get("/version", environ={"REMOTE_ADDR": address})
        assert answer.json == NO_TOKEN, address

    for address in ["10.1.255.3", "2001:db8::5"]:
        caller = holder(ip_addresses=["10.1.0.0/16", "2001:db8::/32"])
        assert caller.get("/version", environ={"REMOTE_ADDR": address}).status_int == 200, address

    headers = {"X-Forwarded-For": "203.0.113.7"}
    answer = holder(ip_addresses=["203.0.113.7"]).get("/version", headers=headers, environ={"REMOTE_ADDR": "10.0.0.1"})
    assert answer.status_int == 403


def test_a_token_works_with_the_user_agents_on_its_list(holder):
    for agent, status in [("curl/8", 200), ("curl/9", 403), ("", 403)]:
        answer = holder(user_agents=["curl/8", "wget"]).get("/version", headers={"User-Agent": agent})
        assert answer.status_int == status

    caller = holder(user_agents=["a*"])
    statuses = [caller.get("/version", headers={"User-Agent": "a" * size}).status_int for size in (2_000, 2_001)]
    assert [200, 403] == statuses


def test_a_rule_for_user_agents_with_many_stars_is_answered_at_once(holder):
    caller = holder(user_agents=["*a*a*a*a*a*b"])
    started = time.thread_time()
    statuses = [caller.get("/version", headers={"User-Agent": "a" * size}).status_int for size in (1_000, 2_000, 8_000)]

    assert [403, 403, 403] == statuses
    assert time.thread_time() - started < 2


@with_settings(trusted_proxies="10.0.0.0/8")
def test_the_client_is_the_first_untrusted_address_from_the_right(holder):
    for forwarded in [
        "203.0.113.7",
        "1.2.3.4, 203.0.113.7",
        "203.0.113.7, 10.9.9.9",
        " 203.0.113.7 ,10.2.2.2",
        "203.0.113.7:4711",
    ]:
        caller = holder(ip_addresses=["203.0.113.7"])
        answer = caller.get("/version", headers={"X-Forwarded-For": forwarded}, environ={"REMOTE_ADDR": "10.0.0.1"})
        assert answer.status_int == 200, forwarded

    for forwarded in ["203.0.113.7, 1.2.3.4", "203.0.113.7, nonsense", "203.0.113.7, 1.2.3.4, 10.1.1.1"]:
        caller = holder(ip_addresses=["203.0.113.7"])
        answer = caller.get("/version", headers={"X-Forwarded-For": forwarded}, environ={"REMOTE_ADDR": "10.0.0.1"})
        assert answer.status_int == 403, forwarded


def test_links_have_the_host_of_the_request(uploader):
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
    answer = uploader.upload(headers=headers)
    assert answer.json["url"] == f"http://localhost:80/repository/file/{answer.json['filename']}"

    answer = uploader.upload(headers={"Host": "nas.local:8080"})
    assert answer.json["url"] == f"http://nas.local:8080/repository/file/{answer.json['filename']}"
    for host in ["[::1]:6543", "nas", "NAS_2.local.", "192.0.2.1:80"]:
        assert uploader.upload(headers={"Host": host}).json["url"].startswith(f"http://{host}/")


@with_settings(app__domain="files.example:8443")
def test_links_use_the_configured_domain(uploader):
    answer = uploader.upload()

    assert answer.json["url"] == f"http://files.example:8443/repository/file/{answer.json['filename']}"


def test_an_invalid_host_is_refused_before_anything_is_stored(uploader, tmp_path):
    for host in ["a/b", "a b", 'a">', "evil.example/?x=", "user@nas", "nas:port", "[::1", "żółw", "a,b"]:
        answer = uploader.upload(headers={"Host": host.encode().decode("latin-1")})

        assert (answer.status_int, answer.json["error_code"]) == (400, 400), host
        assert not any(path.is_file() for path in (tmp_path / "storage").rglob("*")), host


def test_no_link_carries_the_token_or_the_password(app, anonymous, uploader):
    assert "?" not in anonymous.upload(_token=uploader.token, password="a secret-5ecre7").json["url"]
