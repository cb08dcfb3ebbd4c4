"""The client for servers that are backed up, one file at `/client/`, so that a host gets the one of this release.

It is built of the installed distribution `frepo-client`: the same sources always make the same bytes, so this is the
file that `make client` writes. A copy in this package would be the same bytes a second time, which can differ.
"""

import functools
import hashlib
from collections.abc import Sequence

from pyramid.response import Response

from frepo_client import __version__
from frepo_client.zipapp import build
from frepo_core.web import Endpoint, FrepoRequest

NAME = "frepo-client.pyz"
_VERSION = "Frepo-Client-Version"
_HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", _VERSION: __version__}

# It is built once for each process: 150 KB, in some 20 ms.
_content = functools.cache(build)


def send_client(request: FrepoRequest) -> Response:
    """Answer the client."""
    content = _content()
    answer = Response(content, content_type="application/octet-stream")
    return _finish(answer, hashlib.sha256(content).hexdigest())


def send_digest(request: FrepoRequest) -> Response:
    """Answer its SHA-256 as `sha256sum -c` reads it. A header has its version, here and in the other answer."""
    digest = hashlib.sha256(_content()).hexdigest()
    answer = Response(f"{digest}  {NAME}\n", content_type="text/plain")
    return _finish(answer, f"{digest}-sha256")


def _finish(answer: Response, tag: str) -> Response:
    answer.headers.update(_HEADERS)
    answer.etag = tag
    answer.conditional_response = True
    return answer


def endpoints() -> Sequence[Endpoint]:
    """Return the endpoints. Anybody may fetch the client: it contains no secret, and a new host has no token yet."""
    return [
        Endpoint(
            name="download_client",
            method="GET",
            path=f"/client/{NAME}",
            view=send_client,
            summary="The client for servers that are backed up",
            permission=None,
            ignores_token=True,
            answer_headers=(_VERSION,),
            answers={200: None},
            media="application/octet-stream",
        ),
        Endpoint(
            name="download_client_digest",
            method="GET",
            path=f"/client/{NAME}.sha256",
            view=send_digest,
            summary="The SHA-256 of the client",
            permission=None,
            ignores_token=True,
            answer_headers=(_VERSION,),
            answers={200: None},
            media="text/plain",
        ),
    ]
