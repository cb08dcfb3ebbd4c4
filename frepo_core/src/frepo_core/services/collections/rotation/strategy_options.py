"""The options of collections for their strategies: validated when they are set, and filled when a strategy is called."""

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from frepo_core.errors import ConfigurationError, FieldsError
from frepo_core.plugins import PluginRegistry

from ...records import CollectionRecord

FIELD = "strategyOptions"
_LONGEST_VALUE = 100


def check_options(plugins: PluginRegistry, strategy: str, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the options as they are stored, with the defaults; None for a strategy that has no options.

    Raises `FieldsError` that names each wrong field.
    """
    spec = plugins.strategies.get(strategy)
    model = spec.options if spec else None
    if model is None:
        if given:
            raise FieldsError({f"form.{FIELD}": [f"the strategy {strategy!r} has no options"]}, FieldsError.FORM)
        return None
    try:
        return model.model_validate(dict(given or {})).model_dump(mode="json")
    except ValidationError as error:
        raise FieldsError(_messages(error, strategy, model), FieldsError.FORM) from None


def load_options(plugins: PluginRegistry, collection: CollectionRecord) -> BaseModel | None:
    """Return the options of a collection; None for a strategy without options.

    Raises `ConfigurationError` if the stored ones do not fit, because the plug-in was changed.
    """
    spec = plugins.strategies.get(collection.strategy)
    if spec is None or spec.options is None:
        return None
    try:
        return spec.options.model_validate(dict(collection.strategy_options or {}))
    except ValidationError as error:
        messages = _messages(error, collection.strategy, spec.options)
        problems = "; ".join(f"{name.removeprefix('form.')}: {texts[0]}" for name, texts in messages.items())
        raise ConfigurationError(
            f"The options of the collection {collection.id} do not fit {plugins.strategy_origin(collection.strategy)}: "
            f"{problems}. Edit the options of the collection, or install the version of the package that it was made with."
        ) from None


def _messages(error: ValidationError, strategy: str, model: type[BaseModel]) -> dict[str, list[str]]:
    """Return what is wrong with each option, and what is allowed."""
    messages: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join(("form", FIELD, *map(str, problem["loc"])))
        messages.setdefault(name, []).append(_describe(problem, strategy, model))
    return messages


def _describe(problem: ErrorDetails, strategy: str, model: type[BaseModel]) -> str:
    if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
        return f"the strategy {strategy!r} has no such option; its options: {', '.join(model.model_fields)}"
    return f"{problem['msg']}; given: {shorten(repr(problem['input']), _LONGEST_VALUE)}"
