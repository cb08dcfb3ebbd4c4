"""Plain sentences for the errors that are code names: programs compare the names, people read the sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class FieldNames(dict[str, str]):
    """What an interface calls the fields of errors, by their names in `/api/v1`. Other names are the same there.

    The name of a field begins the names of what is in it: `strategy_options` is a part of `strategy_options.last`.
    """

    def __missing__(self, name: str) -> str:
        first, dot, rest = name.partition(".")
        return self.get(first, first) + dot + rest


NEUTRAL = FieldNames()
# The name of a field is written as `{field[limits.versions]}`, because each interface has its own.
EXPLANATIONS: Mapping[str, str] = {
    # Values of fields
    "cannot_parse_disk_space_check_format": "This is not a size: send a number of bytes below 2^63, or a text such as "
    "500MB or 2GiB",
    "expected_int_type": "A whole number below 2^63 is expected, such as 5",
    "expected_length_of_time_such_as_7d": "A length of time is expected: a number and s, m, h, d or w, such as 7d",
    "expected_on_or_off": "on or off is expected",
    "expected_percent_from_0_to_100": "A whole number from 0 to 100 is expected",
    "expected_string_type": "A text is expected",
    "invalid_date_format_and_not_an_expression": "This is neither a date (YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS in UTC) "
    "nor an expression such as +30 days, tomorrow, never or auto",
    "number_cannot_be_negative_value": "A negative number is not allowed: send 0 or more",
    "unknown_strategy_allowed": "There is no such strategy. Installed are: {known}",
    # Ids
    "collection_no_longer_exists": "There is no collection with this id: it was deleted, or the id is wrong",
    "custom_id_is_not_uuid_format": "The id of the collection is not a UUID of version 4: send one, or leave it out "
    "for a random one",
    "id_already_exists_please_select_other_one": "Another token has this id: choose another, or leave it out for a "
    "random one",
    "id_expects_to_be_uuidv4_format": "The id of the token is not a UUID of version 4: send one, or leave it out for a "
    "random one",
    "id_not_unique": "Another collection has this id: choose another, or leave it out for a random one",
    "token_not_found": "There is no token with this id: it was revoked, or the id is wrong",
    "version_collection_mismatch": "This version belongs to another collection: use the path of that collection",
    "version_no_longer_exists": "There is no such version: it was deleted or rotated out, or the name is wrong",
    # Limits of collections
    "collection_cannot_be_deleted_while_it_contains_not_deleted_versions": "The collection has versions: delete them "
    "first, or with it (/api/v1: ?versions=trash, frepo: --with-versions), which moves them into the trash",
    "max_backups_count_too_many": "The limit of versions is {max}: delete one, or raise the limit, up to the setting "
    "backup.max_versions",
    "max_collection_size_is_lower_than_single_element_size": "The size of the collection is below the size of one "
    "version: raise {field[limits.total_size]}, or lower {field[limits.version_size]}",
    "max_collection_size_is_smaller_than_real_sum_of_data_in_collection": "The collection stores more than this size "
    "now: delete versions first, or ask for more",
    "max_collection_size_too_big": "This service allows collections of at most {max}: ask for less, or raise the "
    "setting backup.collection_max_size. `frepo backup:edit ID --max-collection-size 0` lifts the limit of one "
    "collection",
    "max_collection_size_will_have_not_enough_space_to_keep_max_number_of_items": "This number of versions of this "
    "size needs {needsAtLeastValue}: raise {field[limits.total_size]}, or lower one of the other limits",
    "max_one_version_size_too_big": "This service allows versions of at most {max}: ask for less, or raise the setting "
    "backup.one_version_max_size. `frepo backup:edit ID --max-one-version-size 0` lifts the limit of one collection",
    # Versions
    "a_policy_refused_the_request": "The policy {policy} refuses this: {message}",
    "an_upload_check_refused_the_content": "The check {check} found the content broken: {message}",
    "backup_version_uploaded_twice": "A version in this collection has the same content: it is stored already",
    "new_version_continues_a_decline": "The sizes of the last nights decline: {percent} % in all, beyond the guard "
    "{field[guards.max_decline_percent]} of {most} %: check what made it",
    "new_version_exceeds_single_element_limit_specified_for_this_collection": "The version is larger than the "
    "collection allows for one: send less, or raise {field[limits.version_size]}. On the service, `frepo backup:edit "
    "ID --max-one-version-size 0` lifts the limit",
    "new_version_grew_too_much": "The version is larger than the last ones{sizes}, beyond the guard "
    "{field[guards.max_growth_percent]}: check what made it",
    "new_version_is_of_another_kind": "{message}: check what made it. If it is right, release it",
    "new_version_is_smaller_than_the_minimum": "The version is smaller than {field[guards.min_version_size]} of "
    "the collection{sizes}: check what made it",
    "new_version_is_unchanged": "The content is the same for {days} again, and the collection expects a change: "
    "check what made it",
    "new_version_makes_collection_too_big_on_disk": "The collection has no room for this version: delete versions, or "
    "raise {field[limits.total_size]}. On the service, `frepo backup:edit ID --max-collection-size 0` lifts the limit",
    "new_version_shrank_too_much": "The version is smaller than the last ones{sizes}, beyond the guard "
    "{field[guards.max_shrink_percent]}: check what made it",
    "overtaken": "Newer versions of the same client arrived while this one was being sent: it is a leftover of an "
    "upload that the client gave up",
    "pinned_versions_would_leave_no_room": "The pinned versions would leave no room for another version of the size of "
    "the newest one: raise the limits of the collection, or unpin a version",
    "version_is_in_quarantine": "The version is in quarantine. If it is right, release it first",
    "collection_is_on_hold": "The collection is on hold: nothing leaves it before the hold is ended",
    "lock_cannot_be_shortened": "The versions of this collection are locked for {locked}. A lock can be extended, "
    "never shortened or removed",
    "version_is_locked": "A version that would be removed is locked until {until}: nobody can delete it before, and "
    "nobody can end its pin",
    "version_is_pinned": "A pinned version is not deleted: unpin it first",
    "version_is_younger_than_the_minimal_retention": "A version that would be deleted is younger than "
    "{field[guards.min_retention]} of the collection: wait, or lower {field[guards.min_retention]}",
    # Rights of uploads
    "invalid_password": "The token may not set passwords (upload.enforce_no_password): leave the password out",
    "overwrite_not_allowed": "The token may not overwrite (security.overwrite): leave {field[overwrite]} out",
    "tag_not_allowed": "The token allows its own tags only: send some of those",
    "upload_not_allowed": "The token has no role for uploads",
}
# The sentences for texts that are no code names, but that programs know as well.
_MORE: Mapping[str, str] = {
    "File name is not valid, please normalize it": "A file name has 1 to 200 letters, digits and spaces of any script, "
    "and . - _ + ( ) [ ] ! , @ $ ' & % # ~ =, but no space at its ends",
}


def explain(text: str, context: Mapping[str, Any] | None = None, names: FieldNames = NEUTRAL) -> str | None:
    """Return the sentence for a code name, with values of `context`; None for other texts or if values are missing.

    `names` are those of the interface that shows it.
    """
    name, _, known = text.partition("___")
    try:
        return _MORE.get(text) or EXPLANATIONS[name].format_map(
            {"known": known.replace("___or__", ", "), "field": names, "sizes": _sizes(context or {}), **(context or {})}
        )
    except KeyError:
        return None


def _sizes(context: Mapping[str, Any]) -> str:
    """Return the size of a version and what a guard allows; empty if `context` does not have them."""
    for name, words in (("least", "at least"), ("most", "at most")):
        if "size" in context and name in context:
            return f" ({context['size']}; {words} {context[name]})"
    return ""


def explain_fields(fields: Mapping[str, Sequence[str]], names: FieldNames = NEUTRAL) -> str | None:
    """Return one sentence, or one for each field with its name; None if no text has a sentence."""
    if not any(explain(text) for texts in fields.values() for text in texts):
        return None
    sentences = list(_sentences(fields, names))
    if len(sentences) == 1:
        return sentences[0][1]
    return ". ".join(f"{name.removeprefix('form.')}: {sentence}" for name, sentence in sentences)


def _sentences(fields: Mapping[str, Sequence[str]], names: FieldNames) -> Iterator[tuple[str, str]]:
    for name, texts in fields.items():
        for text in texts:
            yield names[name], explain(text, None, names) or text


def not_a_uuid(of: str) -> str:
    """Return the sentence for a malformed id: no object ever had it. An object with a valid id may be deleted."""
    return f"The id of the {of} is not a UUID of version 4, such as 8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a"
