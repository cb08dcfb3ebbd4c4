"""The endpoint that previews which versions a collection keeps."""

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import FrepoRequest
from frepo_core.web.v1.collections.collections import COLLECTION

from .feature import PreviewServices
from .models import PreviewRequest, RetentionPreview


def preview(request: FrepoRequest) -> Answer:
    """Simulate uploads, and answer which versions are kept, which are evicted and when. Nothing is changed."""
    body = request.body_as(PreviewRequest)
    plan = body.schedule.plan() if body.schedule else None
    previews = request.services.feature(PreviewServices).previews
    with previews.place(by=request.sender):
        found = previews.preview(
            request.collection.id, body.change(), plan, is_empty=body.empty, is_wanted=request.is_wanted
        )
    return Answer(body=RetentionPreview.of(found))


ENDPOINTS = [
    Endpoint(
        name="preview_retention",
        method="POST",
        path=f"{COLLECTION}/retention/preview",
        view=preview,
        summary="Preview which versions are kept",
        permission="version.list",
        body=PreviewRequest,
        answers={200: RetentionPreview},
    ),
]
