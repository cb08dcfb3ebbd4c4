"""What the endpoints of one path declare about headers, also for requests with a method that the path does not have."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Self

from frepo_core.domain.structs import struct

from .endpoint import Endpoint
from .request import FrepoRequest

METHOD_OVERRIDE = "X-HTTP-Method-Override"


@struct
class PathHeaders:
    """The methods of a path, and the headers that all its endpoints together declare."""

    methods: str = ""
    request_headers: tuple[str, ...] = ()
    answer_headers: tuple[str, ...] = ()
    options_headers: Mapping[str, str] = field(default_factory=dict)
    error_headers: Mapping[str, str] = field(default_factory=dict)
    overridden: frozenset[str] = frozenset()

    @classmethod
    def of(cls, methods: str, endpoints: Iterable[Endpoint]) -> Self:
        """Return those of the endpoints of a path."""
        endpoints = list(endpoints)
        overridden = frozenset(one.method for one in endpoints if one.method_override)
        read = [name for one in endpoints for name in one.headers] + ([METHOD_OVERRIDE] if overridden else [])
        return cls(
            methods=methods,
            request_headers=tuple(dict.fromkeys(read)),
            answer_headers=tuple(dict.fromkeys(name for one in endpoints for name in one.answer_headers)),
            options_headers={name: value for one in endpoints for name, value in one.options_headers.items()},
            error_headers={name: value for one in endpoints for name, value in one.error_headers.items()},
            overridden=overridden,
        )

    def override_method(self, request: FrepoRequest) -> bool:
        """Give a POST the method in X-HTTP-Method-Override. Return False if no endpoint takes that from there."""
        if self.overridden and request.method == "POST" and (name := request.headers.get(METHOD_OVERRIDE)):
            if name.upper() not in self.overridden:
                return False
            request.method = name.upper()
        return True

    def add_to_errors(self, request: FrepoRequest) -> None:
        """Add the headers for errors to the answer, if it is one and does not have them."""
        if not self.error_headers:
            return

        def add(request: FrepoRequest, response: object) -> None:
            if response.status_code >= 400:  # type: ignore[attr-defined]  # Pyramid has no types
                for name, value in self.error_headers.items():
                    response.headers.setdefault(name, value)  # type: ignore[attr-defined]

        request.add_response_callback(add)


NO_PATH = PathHeaders()
