"""Checks the secrets, without showing one."""

from collections.abc import Iterator

from pydantic import SecretStr

from frepo_core.services.access.kept_secrets import were_made_here, were_printed
from frepo_core.services.composition.container import Services
from frepo_core.settings import Settings, environment_name

from .findings import Finding, good, warning

# 128 bits in hexadecimal digits.
SHORTEST = 32
_FEWEST_CHARACTERS = 8


def check_secrets(settings: Settings) -> Iterator[Finding]:
    """Yield a warning for each secret that can be guessed."""
    given = {
        "app.secret": settings.app_secret,
        "enc.token_phrase": settings.enc_token_phrase,
        "anti_hotlink.key": settings.anti_hotlink_key,
        "health_check.code": settings.health_check_code,
    }
    weak = [name for name, secret in given.items() if _is_weak(name, secret)]
    for name in weak:
        yield warning(
            "secrets",
            f"{name} ({environment_name(name)}) is short or has few different characters, so it can be guessed",
            _remedy(name),
        )
    if settings.app_secret.get_secret_value() == settings.enc_token_phrase.get_secret_value():
        yield warning(
            "secrets",
            "app.secret (APP_SECRET) and enc.token_phrase (ENC_TOKEN_PHRASE) are the same",
            _remedy("app.secret"),
        )
    elif not weak:
        yield good("secrets", "None of them can be guessed")


def check_safe(services: Services) -> Iterator[Finding]:
    """Yield whether the secrets that a recovery needs were printed for a safe."""
    if were_printed(services.database, services.settings):
        yield good(
            "safe",
            "app.secret and enc.token_phrase were printed for a safe. Are they still there, outside of this machine? "
            "Without them, a recovery voids all tokens",
        )
    elif not were_made_here(services.settings):  # whoever has set them keeps them
        yield good(
            "safe",
            "app.secret and enc.token_phrase are set in the environment or the ini file. Is a copy of them outside of "
            "this machine? Without them, a recovery voids all tokens",
        )
    else:
        yield warning(
            "safe",
            "app.secret and enc.token_phrase were not printed for a safe. If this machine is lost without them, all "
            "tokens are void",
            "Run `frepo install`, which prints both once, and keep them outside of this machine",
        )


def _is_weak(name: str, secret: SecretStr) -> bool:
    text = secret.get_secret_value()
    shortest = 12 if name == "health_check.code" else SHORTEST
    return bool(text) and (len(text) < shortest or len(set(text)) < _FEWEST_CHARACTERS)


def _remedy(name: str) -> str:
    if name == "enc.token_phrase":
        return (
            "A new phrase makes all tokens invalid. If you accept that: set one from `openssl rand -hex 32`, run "
            "`frepo secrets:accept-new-phrase`, and make new tokens"
        )
    return "Set one from `openssl rand -hex 32` and restart the service; links and codes of the old one end"
