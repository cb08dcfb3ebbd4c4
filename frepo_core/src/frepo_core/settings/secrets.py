"""Makes the secrets of a development service once and keeps them in a file that only its owner reads."""

import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from frepo_core.errors import ConfigurationError


def read_or_make_secrets(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the secrets in the file, which is made (mode 0600) where it is missing.

    Two processes that start at once end with the same secrets: the file appears whole, and only once.
    """
    try:
        if not path.exists():
            _make(path, names)
        found = json.loads(path.read_text())
        if not all(isinstance(found[name], str) and found[name] for name in names):
            raise ValueError("a secret is empty or no text")
        return {name: found[name] for name in names}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"app.secrets_file (APP_SECRETS_FILE): {path} cannot be used: {error}. Repair or remove the file; "
            "removing it voids all tokens."
        ) from error


def _make(path: Path, names: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump({name: secrets.token_hex(32) for name in names}, file)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)
