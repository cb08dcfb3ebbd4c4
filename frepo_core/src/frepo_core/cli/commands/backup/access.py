"""Commands for the list of tokens that may use a collection."""

import argparse

from ...base import FrepoCommand


class AccessCommand(FrepoCommand):
    """A command about a collection and tokens."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("id", help="the id of the collection")
        parser.add_argument("token", nargs="+", help="the fingerprint of a token, or its id")
        return parser


class Grant(AccessCommand):
    """Allow tokens to use a collection. What each may do there, its roles say."""

    examples = ("frepo backup:grant 1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001 3f9c2a71d0be",)

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Put the tokens on the list. Nothing changes if one of them does not exist."""
        services = self.services()
        collection = services.collections.get(arguments.id)
        tokens = [services.collection_access.find_token(name) for name in arguments.token]
        for token in tokens:
            _, is_new = services.collection_access.grant(collection.id, token.fingerprint)
            said = "may use" if is_new else "was allowed already to use"
            self.say(f"Token {token.fingerprint} {said} the collection {collection.id}")


class Revoke(AccessCommand):
    """Take tokens off the list of a collection. The tokens themselves stay: auth:revoke deletes them."""

    examples = ("frepo backup:revoke 1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001 3f9c2a71d0be",)

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Take the tokens off the list. Nothing changes if one of them does not exist."""
        services = self.services()
        collection = services.collections.get(arguments.id)
        tokens = [services.collection_access.find_token(name) for name in arguments.token]
        for token in tokens:
            _, was_listed = services.collection_access.revoke(collection.id, token.fingerprint)
            said = "may no longer use" if was_listed else "was not on the list of"
            self.say(f"Token {token.fingerprint} {said} the collection {collection.id}")
