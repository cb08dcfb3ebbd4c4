"""Validates settings: fills a model from the ini file and the environment, and says what is wrong with which name."""

import difflib
from collections.abc import Collection, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from frepo_core.errors import ConfigurationError

# Keys of what is stored and of links: without the line end that a variable of theirs has had, tokens would be void.
_EXACT = frozenset({"app.secret", "enc.token_phrase", "anti_hotlink.key", "anti_hotlink.secret_method"})
AnySettings = TypeVar("AnySettings", bound=BaseModel)


def environment_name(name: str) -> str:
    """Return the environment variable of a setting: `fs.local.directory` becomes `FS_LOCAL_DIRECTORY`."""
    return name.upper().replace(".", "_")


def fill_model(
    model: type[AnySettings],
    ini: Mapping[str, str],
    names: set[str],
    environment: Mapping[str, str],
    prefix: str,
) -> AnySettings:
    """Return the model filled with the settings `names`, without their prefix. Raises `ConfigurationError`.

    Blanks and line ends around a value, such as that of a variable that was read from a file, are not part of it.
    """
    for name in ini:
        if name not in names:
            raise unknown_setting(name, names)
    given = {name: value for name, value in ini.items() if value != ""}
    given |= {name: environment[environment_name(name)] for name in names if environment.get(environment_name(name))}
    texts = {name: value if name in _EXACT else value.strip() for name, value in given.items()}
    values = {name.removeprefix(prefix): text for name, text in texts.items() if text}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, prefix)) from None


def _explain(error: ValidationError, prefix: str) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        # A validator for several settings reports no name.
        name = prefix + str(problem["loc"][0] if problem["loc"] else "*")
        text = "is required but not set" if problem["type"] == "missing" else problem["msg"]
        lines.append(f"Setting {name} ({environment_name(name)}): {text}")
    return "\n".join(lines)


def unknown_setting(name: str, known: Collection[str]) -> ConfigurationError:
    """Return the error about a name that is not known."""
    near = difflib.get_close_matches(name.lower(), sorted(known), n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "docs/settings.md lists all."
    return ConfigurationError(f"Unknown setting {name!r} ({environment_name(name)}). {hint}")
