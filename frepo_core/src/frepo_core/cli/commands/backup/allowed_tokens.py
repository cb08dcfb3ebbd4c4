"""Commands for the list of tokens that may use a collection."""

import argparse
from collections.abc import Sequence

from ...outcomes import ActionsCommand, Outcome


class AccessCommand(ActionsCommand):
    """A command about a collection and tokens."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("token", nargs="+", help="the fingerprint of a token, or its id")


class Grant(AccessCommand):
    """Allow tokens to use a collection. What each may do there, its roles say."""

    examples = (
        "frepo backup:grant shop.sql 3f9c2a71d0be",
        "frepo backup:grant shop.sql 3f9c2a71d0be -f json",
    )

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Put the tokens on the list. Nothing changes if one of them does not exist."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        tokens = [services.token_lists.find_token(name) for name in arguments.token]
        done = [
            (token.fingerprint, services.token_lists.grant(collection.id, token.fingerprint)[1]) for token in tokens
        ]
        return _outcome(collection.id, done, changed="may use", unchanged="was allowed already to use", listed=True)


class Revoke(AccessCommand):
    """Take tokens off the list of a collection. The tokens themselves stay: auth:revoke deletes them."""

    examples = ("frepo backup:revoke shop.sql 3f9c2a71d0be",)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Take the tokens off the list. Nothing changes if one of them does not exist."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        tokens = [services.token_lists.find_token(name) for name in arguments.token]
        done = [
            (token.fingerprint, services.token_lists.revoke(collection.id, token.fingerprint)[1]) for token in tokens
        ]
        return _outcome(
            collection.id, done, changed="may no longer use", unchanged="was not on the list of", listed=False
        )


def _outcome(
    collection: str, done: Sequence[tuple[str, bool]], *, changed: str, unchanged: str, listed: bool
) -> Outcome:
    """Return a line and a record for each token, which is given with whether the list was changed for it."""
    lines = [
        f"Token {fingerprint} {changed if is_changed else unchanged} the collection {collection}"
        for fingerprint, is_changed in done
    ]
    records = [
        {"collection": collection, "token": fingerprint, "listed": listed, "changed": is_changed}
        for fingerprint, is_changed in done
    ]
    return Outcome(text="\n".join(lines), records=records)
