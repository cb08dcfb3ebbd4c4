"""The endpoints of badges: a picture of the state for a wiki or a README, and its address."""

from typing import TYPE_CHECKING

from pyramid.response import Response

from frepo_core.services.backups.collections.states import Severity
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.schemas.models import Reply

from ..badges import ALL
from ..feature import OverviewServices

if TYPE_CHECKING:
    from ..badges import Badge

LABEL = "backup"
HEIGHT = 20
# The width of a character of Verdana at 11 pixels, on average, and the space around a text.
CHARACTER, PADDING = 7, 12
# Contrast with white of at least 4.5.
COLOURS = {Severity.OK: "#0b7547", Severity.WARNING: "#855300", Severity.CRITICAL: "#bf2318"}
HEADERS = {
    "Cache-Control": "no-cache, max-age=60",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


class BadgeAddress(Reply):
    """Where the badge is: whoever has the address sees the state, and nothing else."""

    url: str


def show_address(request: FrepoRequest) -> Answer:
    """Show the address of the badge of a collection."""
    return _address(request, request.collection.id)


def show_address_of_all(request: FrepoRequest) -> Answer:
    """Show the address of the badge of all collections together."""
    return _address(request, ALL)


def _address(request: FrepoRequest, subject: str) -> Answer:
    code = request.services.feature(OverviewServices).badges.code(subject)
    return Answer(body=BadgeAddress(url=request.link(f"{V1}/badges/{subject}/{code}.svg")))


def show_badge(request: FrepoRequest) -> Response:
    """Show the state of a collection, or of all, as SVG. A wrong code is answered like a collection that is gone."""
    found = request.services.feature(OverviewServices).badges.show(
        request.matchdict["subject"].lower(), request.matchdict["code"]
    )
    answer = Response(draw(found), content_type="image/svg+xml", charset="utf-8")
    answer.headers.update(HEADERS)
    return answer


def draw(badge: "Badge") -> str:
    """Return the SVG: what it is about on the left, the state on the right. The texts are our own words."""
    left, right = (CHARACTER * len(text) + PADDING for text in (LABEL, badge.text))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" \
aria-label="{LABEL}: {badge.text}">
<title>{LABEL}: {badge.text}</title>
<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{COLOURS[badge.severity]}"/>
<path d="M3 0h{left - 3}v{HEIGHT}h-{left - 3}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z" fill="#434b59"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left / 2:g}" y="14">{LABEL}</text>
<text x="{left + right / 2:g}" y="14">{badge.text}</text>
</g>
</svg>
"""


ENDPOINTS = [
    Endpoint(
        name="show_badge",
        method="GET",
        path=f"{V1}/badges/{{subject}}/{{code}}.svg",
        view=show_badge,
        summary="The state of a collection, or of all, as a picture",
        permission=None,
        ignores_token=True,
        answers={200: None},
        media="image/svg+xml",
    ),
    Endpoint(
        name="show_badge_address",
        method="GET",
        path=f"{V1}/collections/{{collection}}/badge",
        view=show_address,
        summary="The address of the badge of a collection",
        permission="collection.fetch",
        answers={200: BadgeAddress},
    ),
    Endpoint(
        name="show_badge_address_of_all",
        method="GET",
        path=f"{V1}/badge",
        view=show_address_of_all,
        summary="The address of the badge of all collections",
        permission="metrics.view",
        answers={200: BadgeAddress},
    ),
]
