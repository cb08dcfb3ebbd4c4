"""What the tests of quarantine upload, and the rule that quarantines it."""

from typing import Any

from frepo_core.services.backups.versions.version_edits import VersionChange

GOOD, SMALL = b"a dump of a hundred rows", b"empty"
GUARDS: dict[str, Any] = {"max_shrink_percent": 50, "action": "quarantine"}
SHRANK = "new_version_shrank_too_much"
RELEASE = VersionChange(releases=True)
