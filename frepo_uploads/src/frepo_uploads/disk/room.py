"""How much room open uploads may take, and which of them gives way to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from frepo_core.plugins import EndpointError, readable_size

from ..session import COMMITS, Upload

# Only an upload that has waited so long for a part gives way.
IDLE = timedelta(hours=1)
RETRY_SECONDS = 600
# Hosts with one token that begin at the same moment wait for each other: an upload that moves ends soon.
MOVING, SOON_SECONDS = timedelta(minutes=1), 15


@dataclass(frozen=True, kw_only=True)
class Room:
    """What all uploads may hold together (`total`, bytes), and how many one token may have open."""

    total: int
    max_open: int

    def admit(
        self, upload: Upload, others: Sequence[Upload], *, max_version: int | None, now: datetime
    ) -> list[Upload]:
        """Return the uploads that give way to a new one.

        `others` are the open ones in the same folder; those that have waited longest come first. `max_version` is the
        limit of the collection and of the token for one version in bytes. Raises `EndpointError`: 429 for too many
        uploads of the token, 507 if there is no room.
        """
        own = [each for each in others if each.owner == upload.owner]
        self._require_few(own, now)
        self._require_share(upload, own, max_version)
        return self._make_way(upload, list(others), now)

    def left(self, upload: Upload, others: Sequence[Upload], *, max_version: int | None) -> int:
        """Return how many bytes an upload of unknown length may still receive; `others` are those of `admit`."""
        own = sum(each.held for each in others if each.owner == upload.owner)
        free = min(self._share(max_version) - own, self.total - sum(each.held for each in others))
        return max(free - upload.offset, 0)

    def exceeded(self, left: int) -> EndpointError:
        """Return the error for an upload that would hold more than the `left` bytes."""
        return EndpointError(
            507,
            f"The open uploads of one token may hold {readable_size(left)} more now; upload the content in one "
            "request, or ask the operator to raise uploads.max_total",
            context={"max": left},
        )

    def _share(self, max_version: int | None) -> int:
        """Return what one token may hold in bytes."""
        return self.total // 4 if max_version is None else min(2 * max_version, self.total // 4)

    def _require_few(self, own: Sequence[Upload], now: datetime) -> None:
        if len(own) >= self.max_open:
            moves = any(each.touched_at > now - MOVING for each in own)
            raise EndpointError(
                429,
                f"The token has {len(own)} open uploads, and may have {self.max_open}: finish or end one",
                headers={"Retry-After": str(SOON_SECONDS if moves else RETRY_SECONDS)},
            )

    def _require_share(self, upload: Upload, own: Sequence[Upload], max_version: int | None) -> None:
        left = self._share(max_version) - sum(each.held for each in own)
        if upload.held > left:
            raise self.exceeded(max(left, 0))

    def _make_way(self, upload: Upload, others: list[Upload], now: datetime) -> list[Upload]:
        given_way: list[Upload] = []
        while sum(each.held for each in others) + upload.held > self.total:
            idle = self._longest_idle(upload, others, now)
            if idle is None:
                raise EndpointError(
                    507,
                    f"All open uploads may hold {readable_size(self.total)}, and hold too many for this one: try again "
                    "later",
                    headers={"Retry-After": str(RETRY_SECONDS)},
                )
            others.remove(idle)
            given_way.append(idle)
        return given_way

    def _longest_idle(self, upload: Upload, others: Sequence[Upload], now: datetime) -> Upload | None:
        """Return the upload that gives way next: of the holder of the most bytes, the one idle for longest."""
        held: dict[str, int] = {upload.owner: upload.held}
        for each in others:
            held[each.owner] = held.get(each.owner, 0) + each.held
        largest = max(held, key=lambda owner: held[owner])
        idle = [
            each
            for each in others
            if each.owner == largest and each.state not in COMMITS and each.touched_at < now - IDLE and each.held
        ]
        return min(idle, key=lambda each: each.touched_at, default=None)
