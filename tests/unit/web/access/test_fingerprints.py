"""Fingerprints: each is unique to a token, in logs and in the answers that generate or look up a token."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from frepo_core.db.models import Token
from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import fingerprint
from frepo_core.services.access.tokens import NewToken
from support.answers import CHOSEN_TOKEN


@pytest.fixture
def generate(root):
    return lambda **more: root.post("/auth/token/generate", {"roles": ["upload.all"], **more}).json


@pytest.fixture
def taken(services, make_token):
    """Give another token the fingerprint of the chosen id; return that fingerprint."""
    short = fingerprint(services.tokens.key(CHOSEN_TOKEN))
    other = services.tokens.key(make_token(Role.UPLOAD_ALL))
    rename = update(Token).where(Token.key == other).values(fingerprint=short)
    services.database.write(lambda session: session.execute(rename))
    return short


def test_the_answer_for_a_new_token_has_the_fingerprint_of_the_log(generate, anonymous, app, caplog):
    made = generate()
    caplog.clear()

    app.get(f"/repository?_token={made['tokenId']}", status=403)

    assert f"token {made['fingerprint']}: No access" in caplog.text


@pytest.mark.databases
def test_a_fingerprint_that_another_token_has_is_lengthened(root, generate, taken):
    made = generate(id=CHOSEN_TOKEN)

    assert made["fingerprint"].startswith(taken)
    assert 13 == len(made["fingerprint"])
    assert root.get(f"/auth/token/{CHOSEN_TOKEN}").json["fingerprint"] == made["fingerprint"]


def test_logs_name_a_token_by_its_lengthened_fingerprint(generate, taken, app, caplog):
    made = generate(id=CHOSEN_TOKEN)
    app.get(f"/repository?_token={CHOSEN_TOKEN}", status=403)

    assert f"token {made['fingerprint']}: No access" in caplog.text


@pytest.mark.databases
def test_tokens_generated_concurrently_get_different_fingerprints(services, monkeypatch):
    """Fingerprints of one digit make four concurrent tokens collide."""
    monkeypatch.setattr("frepo_core.services.access.token_rows.FINGERPRINT_LENGTHS", range(1, 17))
    with ThreadPoolExecutor(4) as pool:
        new = NewToken(roles=[Role.UPLOAD_ALL])
        made = [token.fingerprint for token in pool.map(lambda _: services.tokens.generate(new), range(40))]

    assert 40 == len(set(made))
