"""Collections' options for their strategies: validated when they are set, completed when a strategy is called."""

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from frepo_core.errors import FieldsError
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord

FIELD = "strategy_options"
_LONGEST_VALUE = 100


def check_options(plugins: PluginRegistry, strategy: str, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the options as they are stored, with the defaults; None for a strategy that has no options.

    Raises `FieldsError` that names each wrong field.
    """
    spec = plugins.strategies.get(strategy)
    model = spec.options if spec else None
    if model is None:
        if given:
            raise FieldsError({FIELD: [f"the strategy {strategy!r} has no options"]}, FieldsError.FORM)
        return None
    try:
        return model.model_validate(dict(given or {})).model_dump(mode="json")
    except ValidationError as error:
        raise FieldsError(_messages(error, strategy, model), FieldsError.FORM) from None


def load_options(plugins: PluginRegistry, collection: CollectionRecord) -> BaseModel | None:
    """Return the options of a collection; None for a strategy without options.

    If the stored ones do not fit, because the plug-in was changed, these are the defaults: backups must go on.
    """
    spec = plugins.strategies.get(collection.strategy)
    if spec is None or spec.options is None:
        return None
    try:
        return spec.options.model_validate(dict(collection.strategy_options or {}))
    except ValidationError:
        return spec.options()


def options_problem(
    plugins: PluginRegistry, collection_id: str, strategy: str, stored: Mapping[str, Any] | None
) -> str:
    """Return which stored options the strategy refuses, as a sentence without its end; empty if none."""
    spec = plugins.strategies.get(strategy)
    if spec is None or spec.options is None:
        return ""
    try:
        spec.options.model_validate(dict(stored or {}))
    except ValidationError as error:
        messages = _messages(error, strategy, spec.options)
        problems = "; ".join(f"{name}: {texts[0]}" for name, texts in messages.items())
        return (
            f"The options of the collection {collection_id} do not fit {plugins.strategy_origin(strategy)}: {problems}"
        )
    return ""


def _messages(error: ValidationError, strategy: str, model: type[BaseModel]) -> dict[str, list[str]]:
    """Return what is wrong with each option, and what is allowed."""
    messages: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join((FIELD, *map(str, problem["loc"])))
        messages.setdefault(name, []).append(_describe(problem, strategy, model))
    return messages


def _describe(problem: ErrorDetails, strategy: str, model: type[BaseModel]) -> str:
    if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
        return f"the strategy {strategy!r} has no such option; its options: {', '.join(model.model_fields)}"
    return f"{problem['msg']}; given: {shorten(repr(problem['input']), _LONGEST_VALUE)}"
