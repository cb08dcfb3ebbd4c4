"""The command that prepares a new service."""

import argparse
import shlex
from typing import TYPE_CHECKING

from frepo_core.domain.permissions import is_administrator
from frepo_core.domain.roles import Role
from frepo_core.errors import ConfigurationError, FieldsError

from ...base import FrepoCommand

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

NAME = "security.admin_token"
ADMIN = "The token of security.admin_token (SECURITY_ADMIN_TOKEN)"


class Install(FrepoCommand):
    """Migrate, create the administrator's token, print the secrets once, run post_install_cmd; safe to run again."""

    examples = ("frepo install",)
    prepares_serving = True

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Run the three steps and print each result."""
        from frepo_core.services.composition.startup import make_ready

        from .upgrade import upgrade, upgrade_plugins

        if self.app.is_nested:
            raise ConfigurationError("post_install_cmd (POST_INSTALL_CMD) must not run `frepo install`")
        services = self.assemble()
        # Parsed first: an invalid line must not change anything.
        lines = [_words(line) for line in services.settings.post_install_cmd]
        upgrade(services)
        self.say(f"The database {services.database.name} is ready")
        upgrade_plugins(services, self.say)
        make_ready(services.database, services.settings, services.plugins, services.backends)
        if admin := services.settings.security_admin_token.get_secret_value():
            self.say(_make_admin(services, admin))
        self._print_secrets(services)
        for words in lines:
            self._run(words)

    def _print_secrets(self, services: "Services") -> None:
        """Print the secrets once, and again when they were changed; not those that the operator has set."""
        from frepo_core.services.access.kept_secrets import note_printed, were_made_here, were_printed

        settings = services.settings
        if were_printed(services.database, settings):
            return
        why = "If this machine is lost, `frepo recover --secrets FILE` needs them: without them, all tokens are void."
        if not were_made_here(settings):
            self.say(f"Keep app.secret and enc.token_phrase in a safe outside of this machine, too. {why}")
        else:
            self.say(
                "Keep these two lines in a safe, such as a password manager, outside of this machine. "
                f"{why} They are printed once.\n"
                f"app.secret = {settings.app_secret.get_secret_value()}\n"
                f"enc.token_phrase = {settings.enc_token_phrase.get_secret_value()}"
            )
        note_printed(services.database, settings)

    def _run(self, words: list[str]) -> None:
        """Run a command of `frepo` with the same settings, without a shell. Its arguments are not printed."""
        from ...app import FrepoApp

        self.say(f"post_install_cmd: {words[0]}")
        self.app.stdout.flush()
        ini = ["--ini", self.app.options.ini] if self.app.options.ini else []
        if FrepoApp(self.app.assemble, is_nested=True).run([*ini, *words]):
            raise ConfigurationError(f"post_install_cmd (POST_INSTALL_CMD): {words[0]} failed, see above")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"post_install_cmd (POST_INSTALL_CMD) has an invalid line: {error}") from None


def _make_admin(services: "Services", admin: str) -> str:
    from frepo_core.services.access.tokens import NewToken

    try:
        services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never", id=admin, name=NAME))
        return f"{ADMIN} was created"
    except FieldsError as error:
        if "id_already_exists_please_select_other_one" not in error.fields.get("id", []):
            raise ConfigurationError(f"{ADMIN} is not a UUIDv4; `uuidgen -r` generates one") from None
    found = services.tokens.look_up(admin)
    if not is_administrator(found) or found.expires_at:
        raise ConfigurationError(
            f"{ADMIN} exists, but it is not an administrator's token or it expires: choose another one"
        )
    return f"{ADMIN} exists already"
