"""HTTP API, 4.1: the three limits of a collection: their syntax, and the roles to switch them off."""

from frepo_core.domain.roles import Role
from support.answers import COUNT, ONE, TOTAL
from support.client import refusal, with_settings


def test_omitted_limits_are_those_of_the_settings_and_need_no_role(root, holder):
    made = root.create().json["collection"]
    assert (made["max_backups_count"], made["max_one_backup_version_size"], made["max_collection_size"]) == (
        0,
        4_000_000_000,
        15_000_000_000,
    )

    assert holder(Role.CREATE_COLLECTIONS).create().status_int == 202


@with_settings(backup__max_versions="7", backup__one_version_max_size="1MB", backup__collection_max_size="7MB")
def test_omitted_limits_are_those_of_changed_settings(root):
    made = root.create().json["collection"]

    assert (made["max_backups_count"], made["max_one_backup_version_size"], made["max_collection_size"]) == (
        7,
        1_000_000,
        7_000_000,
    )


def test_switching_a_limit_off_needs_its_role(holder):
    for field in [COUNT, ONE, TOTAL]:
        for zero in [0, "0"]:
            answer = holder(Role.CREATE_COLLECTIONS).create(**{field: zero})
            assert (answer.status_int, answer.json["error_code"], answer.json["collection"]) == (403, 403, None), field

    for zero in ["0B", "0 GB", "0.0", 0]:
        assert holder(Role.CREATE_COLLECTIONS).create(maxCollectionSize=zero).status_int == 403, zero
    for field in [COUNT, ONE, TOTAL]:
        assert holder(Role.CREATE_COLLECTIONS, Role.INFINITE_LIMITS).create(**{field: 0}).status_int == 202, field


@with_settings(backup__one_version_max_size="0", backup__collection_max_size="0")
def test_a_size_has_at_most_63_bits(root):
    for size in [2**63 - 1, str(2**63 - 1), "9223372036854775807B"]:
        answer = root.create(maxOneVersionSize=size)

        assert answer.json["collection"]["max_one_backup_version_size"] == 2**63 - 1, size


def test_other_sizes_are_refused(root):
    for field in [ONE, TOTAL]:
        for size in [
            "5 parsecs",
            "",
            " ",
            "GB",
            "1,5GB",
            "1.5.5GB",
            "1e5",
            "0x10",
            "1 0",
            " 10",
            "10GB\n",
            "10\nGB",
            "10  GB",
            "10 ",
            "10XB",
            "1PB",
            "NaN",
        ] + [2**63, str(2**63), "9223373TB", 1.5, True, [], {}, "\u0661", "1" * 5000, "--1"]:
            answer = root.create(**{field: size})

            assert refusal(answer) == (
                400,
                "Form validation error",
                400,
                {field: "cannot_parse_disk_space_check_format"},
            )


def test_a_count_is_a_whole_number(root):
    for count in ["a", "", "1.5", 1.5, True, [], {}, "1e3", 10**30, "5MB", " 1"]:
        answer = root.create(maxBackupsCount=count)

        assert refusal(answer) == (400, "Form validation error", 400, {COUNT: "expected_int_type"}), count


def test_no_limit_is_negative(root):
    for field in [COUNT, ONE, TOTAL]:
        for value in [-1, "-1"]:
            answer = root.create(**{field: value})

            assert refusal(answer) == (400, "Form validation error", 400, {field: "number_cannot_be_negative_value"})
