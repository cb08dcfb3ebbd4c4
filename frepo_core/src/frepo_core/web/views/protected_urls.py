"""The endpoint of protected download URLs. Its route is a setting."""

from pyramid.response import Response

from frepo_core.services.access.protected_urls import ProtectedUrls
from frepo_core.services.files.downloads import DownloadCredentials

from ..base.endpoint import Endpoint
from ..base.request import FrepoRequest
from .downloads import DownloadQuery, send

CLIENT_ADDRESS = frozenset({"http_remote_addr", "http_x_remote_addr", "server_remote_addr"})
EXPIRATION = frozenset({"expiration_time", "http_x_expiration_time"})


def download(request: FrepoRequest) -> Response:
    """Send a file if the URL has a valid access token."""
    services, path = request.services, request.matchdict
    services.protected_urls.verify(path["accessToken"], path.get("expirationTime"), lambda name: _value(request, name))
    query = request.query_as(DownloadQuery)
    key = DownloadCredentials(
        identity=request.identity,
        address=request.client_address,
        password=query.password or request.password_in_header,
    )
    return send(request, services.downloads.find(path["fileId"], key, checked=True))


def _value(request: FrepoRequest, name: str) -> str:
    """Return the request's value for a variable of the template, or an empty text."""
    if name in CLIENT_ADDRESS:
        return request.client_address
    if name in EXPIRATION:
        return str(request.matchdict.get("expirationTime", ""))
    if name == "filename":
        return str(request.matchdict["fileId"])
    kind, _, rest = name.partition("_")
    if kind == "http":
        return _as_sent(request.headers.get(rest.replace("_", "-"), ""))
    if kind == "query":
        return next((value for key, value in request.params_in_query if key == rest), "")
    if kind == "server":
        value = request.environ.get(rest.upper(), "")
        return _as_sent(value) if isinstance(value, str) else ""
    return ""


def _as_sent(value: str) -> str:
    """Decode UTF-8 from a client. WSGI decodes all bytes as Latin-1 (PEP 3333)."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def endpoints(protected_urls: ProtectedUrls) -> list[Endpoint]:
    """Return the endpoint if the protection is on. Otherwise there is no route."""
    if not protected_urls.enabled:
        return []
    return [
        Endpoint(
            name="download_protected_file",
            method="GET",
            path=protected_urls.route,
            view=download,
            summary="Download a file by a protected URL",
            permission=None,
            query=DownloadQuery,
            answers={200: None, 206: None, 302: None, 304: None},
        )
    ]
