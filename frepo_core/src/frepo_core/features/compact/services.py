"""The services of compact storage."""

from functools import cached_property
from typing import TYPE_CHECKING

from ..preview.services import PreviewServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .compact_space import CompactSpaces
    from .compaction import Compaction
    from .encoding_switch import EncodingSwitch


class CompactServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def spaces(self) -> "CompactSpaces":
        """Read what compact storage saves."""
        from .compact_space import CompactSpaces

        return CompactSpaces(self._core.database, self._core.backends, self._core.settings)

    @cached_property
    def switch(self) -> "EncodingSwitch":
        """Let another object take the place of the current one of a content."""
        from frepo_core.services.content.objects.supersession import KEPT_FOR

        from .encoding_switch import EncodingSwitch

        core, blobs = self._core, self._core.blobs
        return EncodingSwitch(
            core.database,
            core.backends,
            core.presence,
            core.chain_reader,
            lambda digests: blobs.collect(blobs.find_ids(digests)),
            KEPT_FOR,
        )

    @cached_property
    def compaction(self) -> "Compaction":
        """Encode, expand and forecast.

        Raises `ConfigurationError` if the setting is on and the extra is missing: a process does not start then.
        """
        from .compaction import Compaction
        from .encodings.libraries import require_libraries

        core = self._core
        if core.settings.compact:
            require_libraries()
        previews = core.feature(PreviewServices).previews
        directory, is_restoring = core.ingest.directory, lambda: core.chain_reader.is_restoring
        return Compaction(core.database, core.blobs, self.switch, previews, core.settings, directory, is_restoring)
