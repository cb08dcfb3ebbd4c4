"""Signatures of webhooks, verified with the library that Standard Webhooks publishes."""

import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from frepo_notify.masking import mask_url
from frepo_notify.signing import Signer

SECRET = f"whsec_{base64.b64encode(bytes(range(32))).decode()}"


def test_the_published_library_accepts_a_signature():
    body = '{"type":"version.added","data":{"text":"ünïcödé"}}'

    headers = Signer(SECRET).headers("7", int(time.time()), body.encode())

    assert "version.added" == Webhook(SECRET).verify(body, headers)["type"]


def test_a_change_is_noticed():
    for changed in ["webhook-id", "webhook-timestamp", "body"]:
        now = int(time.time())
        headers = Signer(SECRET).headers("7", now, b"{}")
        headers |= {"webhook-id": {"webhook-id": "8"}, "webhook-timestamp": {"webhook-timestamp": str(now + 1)}}.get(
            changed, {}
        )

        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify('{"a":1}' if changed == "body" else "{}", headers)


def test_all_parts_of_a_url_are_masked():
    for part in ["us3r", "p%40ss5", "p@ss5", "t0ken", "v4lue"]:
        url = "mailtos://us3r:p%40ss5@smtp.example.org/t0ken?key=v4lue"

        assert "failed: ***" == mask_url(f"failed: {part}", url)


def test_the_host_of_a_webhook_is_kept():
    found = mask_url(
        "https://hooks.example.org/s3cret: no route to hooks.example.org",
        "https://hooks.example.org/s3cret",
        keeps_host=True,
    )

    assert "***: no route to hooks.example.org" == found
