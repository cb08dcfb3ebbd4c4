"""Reads the secrets of the old machine from the file of a safe, and puts them in force."""

import getpass
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO, TypeVar

from frepo_core.errors import FieldsError, FrepoError, MissingSecretError
from frepo_core.settings import SECRETS, environment_name, replace_secrets


def use_secrets(path: str, ini: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Put the secrets in force for this process; outside production, also write them to app.secrets_file.

    Raises `FieldsError` if the file does not have them, or if a setting has another value.
    """
    found = _read(path)
    missing = []
    for name in SECRETS:
        variable = environment_name(name)
        given = os.environ.get(variable) or ini.get(name)
        if given and given != found[name]:
            problem = f"{name} ({variable}) has another value in the settings. Replace it by that of the file"
            raise FieldsError({"--secrets": [problem]})
        if not given:
            missing.append(name)
            os.environ[variable] = found[name]
    file = os.environ.get("APP_SECRETS_FILE") or ini.get("app.secrets_file")
    if not missing:
        return
    if file and (os.environ.get("APP_ENV") or ini.get("app.env")) != "prod":
        replace_secrets(Path(file), found)
        say(f"The secrets were written to {file}")
    else:
        say(f"Before you start the service, set {' and '.join(missing)} as in {path}")


def _read(path: str) -> dict[str, str]:
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise FieldsError({"--secrets": [f"{path} cannot be read: {error}"]}) from error
    if text.lstrip().startswith("{"):  # a copy of app.secrets_file
        try:
            values = json.loads(text)
        except ValueError as error:
            raise FieldsError({"--secrets": [f"{path} is not valid JSON: {error}"]}) from error
    else:
        lines = (line.partition("=") for line in text.splitlines())
        values = {name.strip(): value.strip().strip("'\"") for name, _, value in lines}
        # A copy of /etc/frepo/environment has the names of the environment.
        values |= {name: values[variable] for name in SECRETS if (variable := environment_name(name)) in values}
    if lacking := [name for name in SECRETS if not isinstance(values.get(name), str) or not values[name]]:
        problem = f"{path} has no line `{lacking[0]} = ...`, as `frepo install` prints it"
        raise FieldsError({"--secrets": [problem]})
    return {name: values[name] for name in SECRETS}


Result = TypeVar("Result")


def with_secrets(build: Callable[[], Result], stdin: TextIO) -> Result:
    """Return `build()`; as long as that lacks a secret, ask for it. Raises what `build` does if there is no answer."""
    while True:
        try:
            return build()
        except FrepoError as error:
            missing = _missing_in(error)
            text = _ask(missing.what, stdin) if missing else ""
            if not missing or not text:
                raise
        missing.enter(text)


def _missing_in(error: BaseException | None) -> MissingSecretError | None:
    """Return the error of a storage, which was wrapped to say what it is about."""
    while error is not None and not isinstance(error, MissingSecretError):
        error = error.__cause__
    return error


def _ask(what: str, stdin: TextIO) -> str:
    """Return a line that a terminal does not show; empty if there is none."""
    return (getpass.getpass(f"{what}: ") if stdin.isatty() else stdin.readline()).strip()
