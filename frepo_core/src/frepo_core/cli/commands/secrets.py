"""The command that accepts a changed token phrase."""

import argparse

from ..base import FrepoCommand


class AcceptNewPhrase(FrepoCommand):
    """Accept an ENC_TOKEN_PHRASE that was changed on purpose; all existing tokens become invalid."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Store the check value of the phrase that is set now."""
        from frepo_core.db import migrations
        from frepo_core.services.access import token_phrase

        services = self.assemble()
        settings, database = services.settings, services.database
        migrations.make_ready(database.engine, upgrades=settings.database_auto_upgrade)
        tokens = token_phrase.accept(database, settings.enc_token_phrase.get_secret_value())
        if tokens is None:
            self.say("The phrase is the accepted one already, nothing was changed")
        else:
            self.say(f"The phrase is accepted. Of the {tokens} tokens, those stored with another phrase are invalid")
