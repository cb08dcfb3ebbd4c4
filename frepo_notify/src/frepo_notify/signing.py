"""Signs webhooks as Standard Webhooks asks, so that a receiver can check who sent them and when."""

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"
# The specification asks for 24 to 64 bytes.
SHORTEST, LONGEST = 24, 64


class Signer:
    """Signs messages with a secret `whsec_<base64>`. Raises `ValueError` if the secret is not valid."""

    def __init__(self, secret: str) -> None:
        try:
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not secret.startswith(PREFIX) or not SHORTEST <= len(key) <= LONGEST:
            raise ValueError(
                f"the secret must be {PREFIX} and {SHORTEST} to {LONGEST} random bytes in base64. "
                f'Make one with: echo "{PREFIX}$(openssl rand -base64 32)"'
            )
        self._key = key

    def headers(self, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
        """Return the headers of a message: id, time (Unix, seconds) and signature (HMAC-SHA256, version `v1`)."""
        signed = b".".join([message_id.encode(), str(timestamp).encode(), body])
        signature = base64.b64encode(hmac.digest(self._key, signed, hashlib.sha256)).decode()
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": f"v1,{signature}",
        }
