"""The names of the first API for the fields of errors. The services call them as `/api/v1` does."""

from frepo_core.error_explanations import FieldNames

FIELDS = FieldNames(
    {
        "content": "file",
        "expires_at": "expires",
        "guards.min_retention": "minRetention",
        "guards.min_version_size": "minVersionSize",
        "guards.max_shrink_percent": "maxShrinkPercent",
        "guards.on_suspicious": "onSuspicious",
        "limits.versions": "maxBackupsCount",
        "limits.version_size": "maxOneVersionSize",
        "limits.total_size": "maxCollectionSize",
        "name": "fileName",
        "overwrite": "fileOverwrite",
        "strategy_options": "strategyOptions",
    }
)
# Those whose errors have the path of the form in front.
_IN_FORMS = {"collection", "encoding", "mirror", "name", "storage", "strategy", "strategy_options", "token", "version"}


def in_form(name: str) -> str:
    """Return the key of a wrong field below `fields`."""
    return f"form.{FIELDS[name]}" if name.partition(".")[0] in _IN_FORMS else FIELDS[name]
