"""The conventions of the mission's API."""

import json
from typing import Any

from pydantic import BaseModel
from pyramid.httpexceptions import HTTPException, HTTPMethodNotAllowed
from pyramid.response import Response

from frepo_core import errors

from ..base.dialect import Dialect
from ..base.endpoint import Endpoint
from ..base.path_headers import PathHeaders
from ..base.request import FrepoRequest
from ..schemas.validation import parse_body, parse_query
from .field_names import FIELDS, in_form


class FirstDialect(Dialect):
    """Tokens also in the query and in the header `token`; errors with the keys of the endpoint's answer."""

    token_headers = ("HTTP_X_AUTH_TOKEN", "HTTP_TOKEN")

    def token_of(self, request: FrepoRequest) -> str:
        """Return the token id. The query has precedence, even if it is empty."""
        for name, value in request.params_in_query:
            if name == "_token":
                return str(value)
        return super().token_of(request)

    def parse_query(self, endpoint: Endpoint, request: FrepoRequest) -> None:
        """Validate the query. Parameters that the model does not have are ignored."""
        if endpoint.query:
            request.parsed_query = parse_query(endpoint.query, request.params_in_query)

    def parse_body(self, model: type[BaseModel], request: FrepoRequest) -> BaseModel:
        """Validate the JSON body; an empty one is an empty object."""
        return parse_body(model, request)

    def refuse_method(self, request: FrepoRequest, path: PathHeaders) -> HTTPException:
        """Return a 405 with the methods of the path."""
        return HTTPMethodNotAllowed(headers={"Allow": path.methods})

    def answer_error(self, request: FrepoRequest, error: errors.FrepoError, message: str, status: int) -> Response:
        """Return the answer to an error, with its fields or its rule."""
        return self.answer_text(request, message, error.number, status, **_details(error, request))

    def answer_text(self, request: FrepoRequest, message: str, number: int, status: int, /, **more: Any) -> Response:
        """Return an error with the common keys, then those of the endpoint's envelope."""
        envelope = request.endpoint.envelope if request.endpoint else {}
        body = {"status": message, "error_code": number, "http_code": status, "exit_code": status, **envelope, **more}
        text = json.dumps(body, separators=(",", ":"))
        return Response(f"{text}\n".encode(), status=status, content_type="application/json")


def _details(error: errors.FrepoError, request: FrepoRequest) -> dict[str, Any]:
    details: dict[str, Any] = {"context": error.context} if error.context else {}
    if isinstance(error, errors.FieldsError):
        fields = details["fields"] = {in_form(name): texts for name, texts in error.fields.items()}
        if request.endpoint and "errors" in request.endpoint.envelope:
            details["errors"] = {name.removeprefix("form."): texts[0] for name, texts in fields.items()}
    if explanation := error.explain(FIELDS):
        details["message"] = explanation
    if isinstance(error, errors.RemoteError):
        details["message"] = error.reason
    if isinstance(error, errors.RuleError):
        field = FIELDS[error.field]
        details |= {"field": field, "errors": {field: error.text}}
    return details
