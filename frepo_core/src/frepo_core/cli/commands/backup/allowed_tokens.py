"""Commands for the list of tokens that may use a collection."""

import argparse

from ...outcomes import ActionsCommand, Outcome


class AccessCommand(ActionsCommand):
    """A command about a collection and tokens."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("token", nargs="+", help="the fingerprint of a token, or its id")

    def change(self, arguments: argparse.Namespace, *, listed: bool, changed: str, unchanged: str) -> Outcome:
        """Change the list for each token, if all exist. Return a line and a record for each."""
        services = self.services()
        collection = services.collections.find(arguments.id).id
        change_one = services.token_lists.grant if listed else services.token_lists.revoke
        lines, records = [], []
        for token in [services.token_lists.find_token(name).fingerprint for name in arguments.token]:
            is_changed = change_one(collection, token)[1]
            lines.append(f"Token {token} {changed if is_changed else unchanged} the collection {collection}")
            records.append({"collection": collection, "token": token, "listed": listed, "changed": is_changed})
        return Outcome(text="\n".join(lines), records=records)


class Grant(AccessCommand):
    """Allow tokens to use a collection. What each may do there, its roles say."""

    examples = (
        "frepo backup:grant shop.sql 3f9c2a71d0be",
        "frepo backup:grant shop.sql 3f9c2a71d0be -f json",
    )

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Put the tokens on the list. Nothing changes if one of them does not exist."""
        return self.change(arguments, listed=True, changed="may use", unchanged="was allowed already to use")


class Revoke(AccessCommand):
    """Take tokens off the list of a collection. The tokens themselves stay: auth:revoke deletes them."""

    examples = ("frepo backup:revoke shop.sql 3f9c2a71d0be",)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Take the tokens off the list. Nothing changes if one of them does not exist."""
        return self.change(arguments, listed=False, changed="may no longer use", unchanged="was not on the list of")
