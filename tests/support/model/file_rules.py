"""Rules of the model for files in the flat namespace, and for the tokens that upload them."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError, FrepoError, TooBigError
from support.reliability.invariants import assert_unchanged
from support.reliability.world import World, clear

# Few and small contents, so that they repeat and limits are reached.
contents = st.builds(lambda letter, size: letter * size, st.sampled_from([b"a", b"b", b"c"]), st.integers(1, 12))


class FileRules(RuleBasedStateMachine):
    """Requests for files against the services, and the same against dictionaries."""

    world: World
    names = Bundle("names")
    tokens = Bundle("tokens")

    def __init__(self) -> None:
        super().__init__()
        clear(self.world)
        self.world = World(self.world.services)
        self.files: dict[str, bytes] = {}
        self.valid: dict[str, int] = {}
        self.once: set[str] = set()

    def refused(self, error: type[FrepoError], call, *arguments, **more) -> None:
        """Check that a call is refused and changes nothing."""
        before = self.world.snapshot()
        with pytest.raises(error):
            call(*arguments, **more)
        assert_unchanged(before, self.world.snapshot())

    @rule(target=names, content=contents, name=st.sampled_from(["a.txt", "b.txt"]))
    def upload(self, content, name):
        known = [stored for stored, other in self.files.items() if other == content]
        stored = self.world.upload(content, name)
        assert [stored] == (known or [stored]), "a known content got another name"
        self.files[stored] = content
        self.world.ledger.removed.discard(stored)
        return stored

    @rule(name=names)
    def remove(self, name):
        if name not in self.files:
            self.refused(FrepoError, self.world.services.files.delete, name, "", by=self.world.admin)
            return
        self.world.remove(name)
        del self.files[name]

    @rule(target=tokens, largest=st.integers(0, 6), once=st.booleans())
    def make_token(self, largest, once):
        roles = [Role.UPLOAD_ALL, *([Role.UPLOAD_ONCE] if once else [])]
        token = self.world.token(*roles, max_file_size=largest)
        self.valid[token] = largest
        self.once |= {token} if once else set()
        return token

    @rule(token=tokens)
    def revoke(self, token):
        if token not in self.valid:
            self.refused(FrepoError, self.world.services.tokens.revoke, token, by=self.world.admin)
            return
        self.world.services.tokens.revoke(token, by=self.world.admin)
        del self.valid[token]

    @rule(target=names, token=tokens, content=contents)
    def upload_with(self, token, content):
        if token not in self.valid:
            self.refused(AccessDeniedError, self.world.identify, token)
            return next(iter(self.files), "none")
        by, largest = self.world.identify(token), self.valid[token]
        if largest and len(content) > largest:
            self.refused(TooBigError, self.world.upload, content, by=by)
            return next(iter(self.files), "none")
        stored = self.world.upload(content, by=by)
        self.files[stored] = content
        self.world.ledger.removed.discard(stored)
        if token in self.once:
            del self.valid[token]
        return stored
