"""Bodies of PATCH: JSON Merge Patch (RFC 7396) as pydantic models."""

from typing import Any

from pydantic import Field

from ..schemas.models import Form

MEDIA = "application/merge-patch+json"


def unset() -> Any:
    """Declare a field that may be missing, and that cannot be null: `name: FileName = unset()`.

    A field that null resets is declared `grace: Duration | None = unset()`.
    """
    return Field(default_factory=lambda: None)


class Patch(Form):
    """The fields of a resource that can be changed. A missing field keeps its value, also in an inner object."""

    def changes(self) -> dict[str, Any]:
        """Return the fields that the client has sent. An inner patch is a dict of its own, null is None."""
        sent = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        return {name: value.changes() if isinstance(value, Patch) else value for name, value in sent.items()}
