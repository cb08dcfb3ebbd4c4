"""The endpoints that every resource with an ETag has: read it, change it, delete it (RFC 9110, 8.8.3 and 13.1.1)."""

from functools import partial

from ..base.endpoint import Endpoint
from .entity_tags import IF_MATCH

show_endpoint = partial(Endpoint, method="GET", has_etag=True)
edit_endpoint = partial(Endpoint, method="PATCH", writes=True, headers=(IF_MATCH,), has_etag=True)
delete_endpoint = partial(Endpoint, method="DELETE", writes=True, headers=(IF_MATCH,), answers={204: None})
