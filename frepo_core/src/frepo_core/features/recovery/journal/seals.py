"""Shows that a catalogue or a part of the journal is from this service: who can write to a storage cannot make one.

The last line of a file is its seal: HMAC-SHA-256 (RFC 2104) over its key in the storage, the digest of its lines, and
the digest of the part before it. The keys are derived (RFC 5869) from `app.secret` and `enc.token_phrase`, one for
each kind of file.
"""

import hmac
import json
from typing import Any

from frepo_core.services.upkeep.journal.keys import CATALOGUE, JOURNAL, JournalKey
from frepo_core.settings import Settings

from .json_rows import Values

_ID_DIGITS = 16


class JournalSeals:
    """Makes and verifies seals. `id` names the secrets, so that a file says which it needs; it does not reveal them."""

    def __init__(self, secret: str, phrase: str) -> None:
        self._key = hmac.digest(b"", json.dumps([secret, phrase]).encode(), "sha256")  # HKDF-Extract without a salt
        self.id = self._derive("frepo journal id").hex()[:_ID_DIGITS]

    @classmethod
    def of(cls, settings: Settings) -> "JournalSeals":
        """Return those of the secrets in force."""
        return cls(settings.app_secret.get_secret_value(), settings.enc_token_phrase.get_secret_value())

    def make(self, key: JournalKey, digest: str, before: str) -> Values:
        """Return the seal of the file with this key, whose lines have this SHA-256 (hex).

        `before` is that of the part before it, empty if there is none.
        """
        return {"secrets": self.id, "before": before, "mac": self._mac(key, digest, before)}

    def find_problem(self, key: JournalKey, digest: str, seal: Any) -> str | None:
        """Return why a file with this seal is not known to be from this service, or None."""
        if self.is_of_others(seal):
            return f"its seal is of the secrets {seal['secrets']:.16}, those in force are {self.id}"
        match seal:
            case {"secrets": str(), "before": str(before), "mac": str(mac)} if (before + mac).isascii():
                is_own = hmac.compare_digest(mac, self._mac(key, digest, before))
                return None if is_own else "its seal is wrong: it was changed, or stored under another key"
        return "it has no seal"

    def is_of_others(self, seal: Any) -> bool:
        """Return whether a seal says that it was made with other secrets."""
        secrets = seal.get("secrets") if isinstance(seal, dict) else None
        return isinstance(secrets, str) and secrets != self.id

    def _mac(self, key: JournalKey, digest: str, before: str) -> str:
        label = f"frepo {CATALOGUE if key.made_at else JOURNAL}"
        return hmac.digest(self._derive(label), f"{key.text}\n{digest}\n{before}".encode(), "sha256").hex()

    def _derive(self, label: str) -> bytes:
        return hmac.digest(self._key, f"{label}\x01".encode(), "sha256")  # HKDF-Expand, the first block
