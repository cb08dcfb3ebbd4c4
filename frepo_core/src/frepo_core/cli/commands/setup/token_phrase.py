"""The command that accepts a changed token phrase."""

import argparse

from ...base import FrepoCommand


class AcceptNewPhrase(FrepoCommand):
    """Accept an ENC_TOKEN_PHRASE that was changed on purpose; all existing tokens become invalid.

    frepo refuses to start with another phrase than the one that its tokens are stored with. If the phrase was changed
    by mistake, set the former one instead: nothing is lost then. After this command, create new tokens with
    auth:create-token. To undo it, set the former phrase and run the command again.
    """

    examples = ("frepo secrets:accept-new-phrase",)

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
