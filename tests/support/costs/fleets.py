"""A run of `frepo apply` in this process, for a number of hosts."""

from collections.abc import Sequence

from frepo_core.domain.identity import new_uuid4
from frepo_core.features.fleet.feature import FleetServices
from frepo_core.features.fleet.fleet_file import FleetFile
from frepo_core.services.composition.container import Services

ROLES = ["collections.upload_to_allowed_collections", "collections.list_versions_for_allowed_collections"]


def apply_hosts(services: Services, names: Sequence[str]) -> int:
    """Make a collection and a token for each name that has none; return how many lines the table has."""
    data = {
        "frepo_fleet": 1,
        "tokens": {name: {"roles": ROLES} for name in names},
        "collections": {name: {"name": "db.sql", "limits": {"versions": 9}, "tokens": [name]} for name in names},
    }
    fleet = services.feature(FleetServices)
    plan = fleet.planning.plan(FleetFile.model_validate(data, context=services))
    fleet.execution.run(plan, {one.key: new_uuid4() for one in plan.new_tokens})
    return len(plan.differences)
