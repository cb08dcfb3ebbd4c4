"""The base of all errors, and those that any request can meet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from frepo_core.error_explanations import NEUTRAL, FieldNames, explain, explain_fields


class FrepoError(Exception):
    """Base of all errors. `number` is in docs/errors.md; `explanation` is a sentence, such as that for `code_name`.

    `frepo` and `/api/v1` show `sentence` in place of a message that old clients compare. `frepo` also shows
    `remedy`, such as which command lists the objects that exist.
    `is_logged` says that a line of the log has who was refused what, and why.
    `others` are further errors of the same request. `/api/v1` answers all of them, the first API only this one.
    """

    number: ClassVar[int] = 500
    is_logged = False

    def __init__(
        self,
        message: str,
        *,
        context: Mapping[str, Any] | None = None,
        explanation: str | None = None,
        code_name: str | None = None,
        sentence: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.context = dict(context) if context else None
        self._explanation = explanation
        self._code_name = code_name
        self.sentence = sentence
        self.remedy = remedy
        self.others: tuple[FrepoError, ...] = ()

    @property
    def explanation(self) -> str | None:
        """The sentence with the names of fields in `/api/v1`; None without one."""
        return self.explain(NEUTRAL)

    def explain(self, names: FieldNames) -> str | None:
        """Return the sentence with the names of fields of an interface; None without one."""
        return self._explanation or (explain(self._code_name, self.context, names) if self._code_name else None)


def raise_all(problems: Iterable[FrepoError]) -> None:
    """Raise the first of the errors, with the rest as its `others`. Do nothing if there are none."""
    found = [each for one in problems for each in (one, *one.others)]
    if found:
        found[0].others = tuple(found[1:])
        raise found[0]


class ConfigurationError(FrepoError):
    """A setting, a plug-in or the environment prevents the start or a request. The message says what to change."""

    number = 7016106


class MissingSecretError(ConfigurationError):
    """A secret is missing that a person has in a safe, such as the key of a storage. `frepo recover` asks for it.

    `what` names it in the question. `enter` gets what the person has typed, and puts it where the settings expect it.
    It raises `ConfigurationError`, and changes nothing, if that is not the secret.
    """

    def __init__(self, message: str, *, what: str, enter: Callable[[str], None]) -> None:
        super().__init__(message)
        self.what = what
        self.enter = enter


class PluginError(FrepoError):
    """A plug-in violated its contract. The message names the package."""


class EndpointError(FrepoError):
    """An endpoint of a plug-in refuses a request, with an HTTP status of its own from 400 to 599.

    The number of the error is its status. `headers` are added to the answer, such as Retry-After.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, context=context)
        self.status = self.number = status  # type: ignore[misc]  # each error has its own
        self.headers = dict(headers or {})


class InvalidAnswerError(PluginError):
    """A strategy chose versions that do not exist, one of them twice, or not enough of them."""


class AccessDeniedError(FrepoError):
    """The token is missing, invalid, or lacks a role."""

    number = 403


class WrongPasswordError(AccessDeniedError):
    """The password of a file is missing or wrong, and the token does not replace it."""


class TooManyAttemptsError(FrepoError):
    """A client tried too many wrong passwords, or too much at a time; `retry_after` is in seconds."""

    number = 4290

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EnrolmentCodeError(FrepoError):
    """The one-time code is wrong, was used or revoked, or has expired."""

    number = 4100


class TokenReplacedError(FrepoError):
    """A token cannot replace itself, because another one has replaced it, and is in use."""

    number = 4101


class TooManyPreviewsError(TooManyAttemptsError):
    """A token, or all of a process, have as many previews running as they may."""

    number = 4292


class TooManyExportsError(TooManyAttemptsError):
    """A process makes or sends as many exports as it may."""

    number = 4293


class NotFoundError(FrepoError):
    """The named object does not exist."""

    number = 404
    FILE = "File not found in the storage"


class FieldsError(FrepoError):
    """Some fields are invalid. `fields` maps names to messages: the names in `/api/v1`, which the first API translates.

    What the first API itself finds wrong has its names: `form.<field>`, or `form` for the whole body.
    """

    number = 400
    FORM = "Form validation error"

    def __init__(
        self,
        fields: Mapping[str, Sequence[str]],
        message: str = "Validation error",
        *,
        explanation: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, explanation=explanation, remedy=remedy)
        self.fields = {name: list(texts) for name, texts in fields.items()}

    def explain(self, names: FieldNames) -> str | None:
        """Return the sentences about the fields; None if no text has one."""
        return self._explanation or explain_fields(self.fields, names)


class IdInUseError(FieldsError):
    """The id that was chosen for a new object is that of another one."""


class MalformedRequestError(FrepoError):
    """The request cannot be parsed: invalid JSON or multipart, a wrong charset, or a wrong length."""

    number = 400


class BodyEndedError(MalformedRequestError):
    """The body ended after `received` bytes, before the size that was announced: its client has gone."""

    def __init__(self, received: int) -> None:
        super().__init__("The body ended early")
        self.received = received
