"""TRUSTED_PROXIES works with the real server, which removes forwarded headers by default."""

import json
import urllib.error
import urllib.request

import pytest

CLIENT = "203.0.113.7"


def call(service, path, headers, body=None):
    request = urllib.request.Request(service.url + path, headers=headers, data=body and json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def make_token_for_the_client(service):
    body = {"roles": ["upload.all"], "data": {"allowedIpAddresses": [CLIENT]}}
    headers = {"X-Auth-Token": service.admin, "Content-Type": "application/json"}
    status, answer = call(service, "/auth/token/generate", headers, body)
    assert status == 202, answer
    return answer["tokenId"]


@pytest.mark.parametrize(("trusted", "status"), [("127.0.0.1", 200), ("192.0.2.1", 403), ("", 403)])
def test_only_a_trusted_proxy_names_the_client(start_service, trusted, status):
    service = start_service(TRUSTED_PROXIES=trusted)
    token = make_token_for_the_client(service)

    answer = call(service, "/version", {"X-Auth-Token": token, "X-Forwarded-For": f"192.0.2.9, {CLIENT}"})

    assert status == answer[0]
