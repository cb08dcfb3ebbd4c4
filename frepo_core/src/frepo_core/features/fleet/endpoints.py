"""The endpoint with the JSON schema of fleet files, for editors."""

from typing import Any

from pydantic import RootModel

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest

from .fleet_file import FleetFile


class JsonSchema(RootModel[dict[str, Any]]):
    """A JSON schema."""


def schema() -> dict[str, Any]:
    """Return the JSON schema of a fleet file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **FleetFile.model_json_schema()}


def show_schema(request: FrepoRequest) -> Answer:
    """Return the JSON schema of the files of `frepo apply`, for editors."""
    return Answer(body=JsonSchema(schema()))


ENDPOINTS = [
    Endpoint(
        name="show_fleet_schema",
        method="GET",
        path=f"{V1}/fleet/schema",
        view=show_schema,
        summary="The JSON schema of fleet files",
        permission="token",
        answers={200: JsonSchema},
    ),
]
