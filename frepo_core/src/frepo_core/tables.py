"""Tables of a plug-in's own, for plug-ins that import SQLAlchemy. `Store` of `frepo_core.plugins` uses them."""

from frepo_core.db import utc_now
from frepo_core.db.plugin_tables import PluginTables
from frepo_core.db.types import RowId, UtcDateTime, exact

__all__ = ["PluginTables", "RowId", "UtcDateTime", "exact", "utc_now"]
