"""The roles, and the table of who may do what (http-api.md, 1.3)."""

from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import RULES
from frepo_core.domain.roles import GRANTS, RESTRICTIONS, UPLOADS, Role

NAMES = [
    "upload.images",
    "upload.videos",
    "upload.documents",
    "upload.backup",
    "upload.all",
    "upload.enforce_no_password",
    "upload.enforce_tags_selected_in_token",
    "upload.only_once_successful",
    "security.authentication_lookup",
    "security.overwrite",
    "security.generate_tokens",
    "security.use_technical_endpoints",
    "security.revoke_tokens",
    "security.administrator",
    "security.list_tokens",
    "security.create_predictable_token_ids",
    "deletion.all_files_including_protected_and_unprotected",
    "view.any_file",
    "view.files_from_all_tags",
    "view.can_use_listing_endpoint_at_all",
    "events.view",
    "aliases.manage",
    "jobs.view",
    "jobs.run",
    "metrics.view",
    "settings.view",
    "collections.create_new",
    "collections.create_new.with_custom_id",
    "collections.allow_infinite_limits",
    "collections.delete_allowed_collections",
    "collections.modify_any_collection_regardless_if_token_was_allowed_by_collection",
    "collections.modify_details_of_allowed_collections",
    "collections.view_all_collections",
    "collections.can_use_listing_endpoint",
    "collections.manage_tokens_in_allowed_collections",
    "collections.upload_to_allowed_collections",
    "collections.list_versions_for_allowed_collections",
    "collections.lock_versions_in_allowed_collections",
    "collections.hold_allowed_collections",
    "collections.end_holds_of_allowed_collections",
    "collections.pin_versions_in_allowed_collections",
    "collections.delete_versions_for_allowed_collections",
    "collections.restore_from_trash_in_allowed_collections",
]

ANY = Role.MODIFY_ANY_COLLECTION

# action: the roles of which each alone allows it, on a collection that lists the token where there is one;
# then those of which each alone allows it on any collection.
TABLE = {
    "token": (set(Role), set()),
    "token.generate": ({Role.GENERATE_TOKENS}, set()),
    "token.lookup": ({Role.LOOKUP_TOKENS}, set()),
    "token.list": ({Role.LIST_TOKENS}, set()),
    "token.change": (set(), set()),  # needs two roles
    "token.choose_id": ({Role.CHOOSE_TOKEN_IDS}, set()),
    "token.revoke": ({Role.REVOKE_TOKENS}, set()),
    "token.revoke_administrator": (set(), set()),
    "technical": ({Role.USE_TECHNICAL}, set()),
    "file.upload": (set(UPLOADS), set()),
    "file.overwrite": ({Role.OVERWRITE}, set()),
    "file.read_any": ({Role.VIEW_ANY_FILE}, set()),
    "file.delete_any": ({Role.DELETE_ALL_FILES}, set()),
    "file.list": ({Role.VIEW_LISTING}, set()),
    "file.list_all_tags": ({Role.VIEW_ALL_TAGS}, set()),
    "file.list_private": (set(), set()),
    "events.view": ({Role.VIEW_EVENTS}, set()),
    "aliases.manage": ({Role.MANAGE_ALIASES}, set()),
    "jobs.view": ({Role.VIEW_JOBS}, set()),
    "jobs.run": ({Role.RUN_JOBS}, set()),
    "settings.view": ({Role.VIEW_SETTINGS}, set()),
    "metrics.view": ({Role.VIEW_METRICS}, set()),
    "report.view": (set(), set()),  # needs four roles
    "collection.create": ({Role.CREATE_COLLECTIONS}, set()),
    "collection.choose_id": ({Role.CHOOSE_COLLECTION_IDS}, set()),
    "collection.disable_limits": ({Role.INFINITE_LIMITS}, set()),
    "collection.list": ({Role.LIST_COLLECTIONS}, set()),
    "collection.list_deleted": ({Role.RESTORE_FROM_TRASH}, set()),
    "collection.fetch": (set(Role), {ANY, Role.VIEW_ALL_COLLECTIONS}),
    "collection.edit": ({Role.MODIFY_COLLECTIONS, ANY}, {ANY}),
    "collection.delete": ({Role.DELETE_COLLECTIONS, ANY}, {ANY}),
    "collection.tokens": ({Role.MANAGE_COLLECTION_TOKENS}, set()),
    "collection.lock": ({Role.LOCK_VERSIONS}, set()),
    "collection.hold": ({Role.HOLD_COLLECTIONS}, set()),
    "collection.end_hold": ({Role.END_HOLDS}, set()),
    "version.upload": ({Role.UPLOAD_VERSIONS}, set()),
    "version.list": ({Role.LIST_VERSIONS}, set()),
    "pin.list": ({Role.LIST_VERSIONS}, set()),
    "hold.list": ({Role.LIST_VERSIONS}, set()),
    "version.edit": ({Role.PIN_VERSIONS}, set()),
    "version.delete": ({Role.DELETE_VERSIONS}, set()),
    "trash.list": ({Role.RESTORE_FROM_TRASH}, set()),
    "trash.read": (set(), set()),  # needs two roles
    "trash.restore": ({Role.RESTORE_FROM_TRASH}, set()),
    "trash.end": (set(), set()),  # needs two roles
    "collection.restore": ({Role.RESTORE_FROM_TRASH}, set()),
}
IN_COLLECTIONS = [
    "collection.fetch",
    "collection.edit",
    "collection.delete",
    "collection.tokens",
    "collection.lock",
    "collection.hold",
    "collection.end_hold",
    "version.upload",
    "version.list",
    "version.edit",
    "version.delete",
]


def holder(*roles):
    return Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset(roles))


def those_that_allow(action, *, listed):
    """Return the roles of which each alone allows the action. An administrator may do everything."""
    return {
        role for role in Role if role is not Role.ADMINISTRATOR and RULES[action].allows(holder(role), listed=listed)
    }


def test_there_are_the_documented_roles():
    assert (len(NAMES), sorted(NAMES)) == (len(Role), sorted(role.value for role in Role))


def test_every_role_has_a_description():
    assert [] == [role for role in Role if not role.description]


def test_a_role_is_its_name():
    assert Role("upload.images") is Role.UPLOAD_IMAGES and Role.UPLOAD_IMAGES == "upload.images"


def test_three_roles_restrict_and_all_others_grant():
    restrictions = {
        "upload.enforce_no_password",
        "upload.enforce_tags_selected_in_token",
        "upload.only_once_successful",
    }

    assert (restrictions, len(Role) - 3, set()) == (set(RESTRICTIONS), len(GRANTS), RESTRICTIONS & GRANTS)


def test_the_table_knows_every_action():
    assert TABLE.keys() == RULES.keys()


def test_single_roles_allow_the_actions_of_the_table():
    allowed = {action: those_that_allow(action, listed=True) for action in TABLE}

    assert allowed == {
        action: (listed | anywhere) - {Role.ADMINISTRATOR} for action, (listed, anywhere) in TABLE.items()
    }


def test_off_the_list_only_roles_for_any_collection_count():
    allowed = {action: those_that_allow(action, listed=False) for action in IN_COLLECTIONS}

    assert allowed == {action: TABLE[action][1] for action in IN_COLLECTIONS}


def test_off_the_list_the_actions_role_together_with_any_collection_is_enough():
    for action in IN_COLLECTIONS:
        roles = {*TABLE[action][0], ANY} - {Role.ADMINISTRATOR}

        assert RULES[action].allows(holder(*roles), listed=False), action


def test_an_administrator_may_do_everything_everywhere():
    assert [] == [action for action in RULES if not RULES[action].allows(holder(Role.ADMINISTRATOR), listed=False)]


def test_without_a_role_nothing_is_allowed():
    allowed = {action for action, rule in RULES.items() if rule.allows(holder(), listed=True)}

    assert {"token", "collection.fetch"} == allowed


def test_a_token_is_changed_with_two_roles():
    identity = holder(Role.GENERATE_TOKENS, Role.REVOKE_TOKENS)

    assert RULES["token.change"].allows(identity)
