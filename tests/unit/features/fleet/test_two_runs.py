"""Two runs of `frepo apply` at once: a key has one thing, whichever of them was first."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import select

from frepo_core.db.models import Collection, Token
from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.roles import Role
from frepo_core.errors import FieldsError, FrepoError
from frepo_core.features.fleet.feature import FleetServices
from frepo_core.features.fleet.fleet_file import FleetFile
from frepo_core.services.access.tokens import NewToken

ROLES = ["collections.upload_to_allowed_collections"]


@pytest.fixture
def fleet(services):
    return services.feature(FleetServices)


def file_of(services, collection_id):
    data = {
        "frepo_fleet": 1,
        "tokens": {"db1": {"roles": ROLES}},
        "collections": {"shop": {"id": collection_id, "name": "shop.sql", "tokens": ["db1"]}},
    }
    return FleetFile.model_validate(data, context=services)


def keys(services, model):
    with services.database.reading() as session:
        return sorted(session.scalars(select(model.fleet_key).where(model.fleet_key.is_not(None))))


def test_the_second_of_two_runs_makes_no_second_thing_of_a_key(services, fleet):
    plans = [fleet.planning.plan(file_of(services, new_uuid4())) for _ in range(2)]
    secrets = [{"db1": new_uuid4()} for _ in range(2)]

    fleet.execution.run(plans[0], secrets[0])
    with pytest.raises(FieldsError) as refused:
        fleet.execution.run(plans[1], secrets[1])

    text = "the key 'db1' was given to another token meanwhile: run the command again"
    assert {"key": [text]} == refused.value.fields
    assert ([["db1"], ["shop"]]) == [keys(services, Token), keys(services, Collection)]
    assert services.tokens.look_up(secrets[0]["db1"])


def test_a_key_is_given_once_if_many_ask_at_the_same_time(services, fleet):
    fleet.planning.read()
    many = 6
    start = Barrier(many)

    def make(number):
        start.wait()
        try:
            services.tokens.generate(NewToken(roles=[Role.UPLOAD_VERSIONS], expires="never", fleet_key="db1"))
        except FrepoError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(many) as threads:
        said = list(threads.map(make, range(many)))

    assert 1 == said.count("")
    assert ["db1"] == keys(services, Token)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_collection_has_its_key_alone(services, fleet, is_new, make_collection):
    first, second = (fleet.planning.plan(file_of(services, one)) for one in (new_uuid4(), new_uuid4()))
    fleet.execution.run(first, {"db1": new_uuid4()})
    other = make_collection(5)
    [step] = second.collections
    if not is_new:
        [step] = [type(step)(key="shop", id=other, is_adopted=True)]

    with pytest.raises(FieldsError) as refused:
        fleet.execution._make_collection(step, {})

    assert "'shop' was given to another collection" in str(refused.value.fields)
    assert ["shop"] == keys(services, Collection)


def test_a_key_of_a_token_that_has_ended_is_given_again(services):
    services.tokens.generate(NewToken(roles=[Role.UPLOAD_VERSIONS], expires="-1 minute", fleet_key="db1"))

    services.tokens.generate(NewToken(roles=[Role.UPLOAD_VERSIONS], expires="never", fleet_key="db1"))

    assert ["db1", "db1"] == keys(services, Token)
