import json

import pytest

from frepo_core import errors as refusals
from frepo_core.web import all_endpoints
from frepo_core.web.base.endpoint import COLLECTION_ENVELOPE, LINK_ENVELOPE, UPLOAD_ENVELOPE, VERSION_ENVELOPE
from frepo_core.web.openapi.error_models import MODELS, ErrorReply
from frepo_core.web.routing.error_views import STATUS

DOWNLOADS = {"download_file", "download_public_file", "download_protected_file"}
UPLOADS = {"upload_file", "upload_named_file"}
VERSIONS = {"add_backup", "add_version"}


@pytest.fixture
def ini(ini):
    """With the protection enabled, so that the document includes its endpoint."""
    return ini | {
        "anti_hotlink.protection_enabled": "true",
        "anti_hotlink.url": "/stream/{accessToken}/{expirationTime}/{fileId}",
        "anti_hotlink.crypto": "sha256",
        "anti_hotlink.secret_method": "$filename secret",
    }


@pytest.fixture
def document(app):
    return app.get("/api/doc.json").json


def operations_of(document):
    return {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def schema_of(document, media):
    return document["components"]["schemas"][media["schema"]["$ref"].rpartition("/")[2]]


def test_every_endpoint_is_in_it_and_nothing_else(document, services):
    declared = {(endpoint.method, endpoint.path) for endpoint in all_endpoints(services) if not endpoint.is_v1}

    assert operations_of(document).keys() == declared


def test_links_lead_to_operations_that_exist(document):
    operations = operations_of(document).values()
    links = [
        link["operationId"]
        for operation in operations
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    ]

    assert links
    assert set(links) <= {operation["operationId"] for operation in operations}


def test_a_flag_says_what_it_means_and_how_to_write_it(document):
    upload = operations_of(document)[("POST", "/repository/{type}/upload")]

    (public,) = [each["description"] for each in upload["parameters"] if each["name"] == "public"]

    assert public.startswith("Whether listings show the file.")
    assert "true, 1, yes" in public


def test_every_status_of_the_error_table_is_documented_somewhere(document):
    documented = {int(status) for operation in operations_of(document).values() for status in operation["responses"]}

    assert set(STATUS.values()) - {409, 410} <= documented  # only /api/v1 restores from the trash, and has codes


def test_every_operation_documents_what_can_always_happen(document):
    for status in [400, 403, 431, 500, 503]:
        silent = [
            name for name, operation in operations_of(document).items() if str(status) not in operation["responses"]
        ]

        assert silent == [], status


def test_a_head_that_is_too_long_is_answered_as_the_server_answers_it(document):
    """The server refuses it before it knows the endpoint, so the answer has no keys of an endpoint."""
    answers = [operation["responses"]["431"] for operation in operations_of(document).values()]

    names = {answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] for answer in answers}

    assert {"ErrorReply"} == names


def test_writing_operations_document_a_full_storage(document, services):
    writing = {(e.method, e.path) for e in all_endpoints(services) if (e.writes or e.content) and not e.is_v1}

    documented = {name for name, operation in operations_of(document).items() if "507" in operation["responses"]}

    assert documented == writing


def test_every_number_is_in_the_guide(document):
    kinds = [
        kind for kind in vars(refusals).values() if isinstance(kind, type) and issubclass(kind, refusals.FrepoError)
    ]
    numbers = {str(kind.number) for kind in kinds if kind.number > 600}

    assert {number for number in numbers if f"\n- {number}: " not in document["info"]["description"]} == set()


def test_the_schema_of_an_envelope_requires_its_keys():
    for envelope in [UPLOAD_ENVELOPE, COLLECTION_ENVELOPE, VERSION_ENVELOPE, LINK_ENVELOPE]:
        model = next(model for keys, model in MODELS if keys == envelope)

        required = {name for name, field in model.model_fields.items() if field.is_required()}

        assert required == {"status", "error_code", "http_code", "exit_code", *envelope}
        assert issubclass(model, ErrorReply), envelope


def test_uploads_document_raw_and_multipart_bodies(document):
    for path in ["/repository/{type}/upload", "/repository/collection/{collection}/backup"]:
        body = operations_of(document)[("POST", path)]["requestBody"]["content"]

        form, raw = (schema_of(document, body[kind]) for kind in ("multipart/form-data", "application/octet-stream"))
        assert len(body) == 2, path
        assert (["file"], "binary", "binary") == (
            form["required"],
            form["properties"]["file"]["format"],
            raw["format"],
        )


def test_fetching_a_version_declares_what_the_redirect_delivers(document):
    for word in ["backup", "version"]:
        path = f"/repository/collection/{{collection}}/{word}/{{version}}"
        answers = operations_of(document)[("GET", path)]["responses"]

        assert {"*/*", "application/json"} == set(answers["200"]["content"]), word
        assert "Location" in answers["302"]["headers"], word


def test_a_header_is_documented_with_what_it_can_lead_to(document):
    for header, status, operations in [
        ("Idempotency-Key", "422", UPLOADS | {"add_file_by_url"} | VERSIONS),
        ("If-Match", "412", DOWNLOADS | VERSIONS),
        ("Range", "416", DOWNLOADS),
        ("Repr-Digest", "507", UPLOADS | VERSIONS),
    ]:
        readers = {
            operation["operationId"]: operation
            for operation in operations_of(document).values()
            if any(each["name"] == header and each["in"] == "header" for each in operation["parameters"])
        }

        assert readers.keys() == operations
        assert [name for name, operation in readers.items() if status not in operation["responses"]] == []


def test_every_operation_that_stores_content_returns_its_digest(document):
    telling = {
        operation["operationId"]
        for operation in operations_of(document).values()
        if "Repr-Digest"
        in operation["responses"]["200" if "200" in operation["responses"] else "202"].get("headers", {})
    }

    assert telling == UPLOADS | {"add_file_by_url"} | VERSIONS | DOWNLOADS


def test_a_download_can_be_a_redirect(document):
    redirecting = {
        operation["operationId"] for operation in operations_of(document).values() if "302" in operation["responses"]
    }

    assert redirecting == DOWNLOADS | {"fetch_backup", "fetch_version"}


def test_the_guards_of_a_collection_are_in_its_forms_and_its_answer(document):
    schemas = document["components"]["schemas"]

    for form in ("CreateCollection", "EditCollection"):
        assert {"minRetention", "minVersionSize", "maxShrinkPercent", "onSuspicious"} <= schemas[form][
            "properties"
        ].keys()
    answered = {"min_retention", "min_version_size", "max_shrink_percent", "on_suspicious"}
    assert answered <= set(schemas["CollectionObject"]["required"])
    assert schemas["CollectionObject"]["properties"]["on_suspicious"]["enum"] == ["refuse", "keep", "quarantine"]


def test_the_guide_names_the_word_of_the_console_for_keep(document):
    assert "(`keep`; `frepo` and `/api/v1` call this `mark`)" in " ".join(document["info"]["description"].split())


def test_every_endpoint_of_the_service_itself_has_a_group_of_it(document):
    of_plugins = {path for (_, path), one in operations_of(document).items() if "Plug-ins" in one["tags"]}

    assert {"/client/frepo-client.pyz", "/client/frepo-client.pyz.sha256"} == of_plugins  # of the web console


def test_public_operations_need_no_token(document):
    public = {name for name, operation in operations_of(document).items() if {} in operation["security"]}

    assert ("GET", "/repository/file/{name}") in public
    assert ("GET", "/version") not in public


def test_the_document_is_the_same_twice(app):
    first, second = app.get("/api/doc.json"), app.get("/api/doc.json")

    assert json.loads(first.body) == json.loads(second.body)
