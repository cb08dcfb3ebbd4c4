"""Signs reports with the key of the installation, which is derived from its secrets (RFC 5869)."""

import hmac
import json
from typing import Any, Self, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from frepo_core.settings import Settings

from .models import Report

_LABEL = "frepo report signature"
AnyReport = TypeVar("AnyReport", bound=Report)


class ReportKey:
    """The key of the installation. `public` is what others need to verify its reports, in hex."""

    def __init__(self, secret: str, phrase: str) -> None:
        extracted = hmac.digest(b"", json.dumps([secret, phrase]).encode(), "sha256")  # HKDF-Extract without a salt
        seed = hmac.digest(extracted, f"{_LABEL}\x01".encode(), "sha256")  # HKDF-Expand, the first block
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._private.public_key().public_bytes_raw().hex()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the key of the secrets in force."""
        return cls(settings.app_secret.get_secret_value(), settings.enc_token_phrase.get_secret_value())

    def sign(self, report: AnyReport) -> AnyReport:
        """Return the report with the public key and its signature."""
        named = report.model_copy(update={"key": self.public})
        signature = self._private.sign(signed_bytes(named.model_dump(mode="json"))).hex()
        return named.model_copy(update={"signature": signature})


def signed_bytes(report: dict[str, Any]) -> bytes:
    """Return what the signature is about: all members but itself, as JSON with sorted names, without spaces."""
    signed = {name: value for name, value in report.items() if name != "signature"}
    return json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()
