"""Uses the Python client that is generated for /api/v1: `use_v1_client.py URL TOKEN`. Prints the results as JSON."""

import json
import sys

import frepo_generated as frepo
from frepo_generated.exceptions import UnauthorizedException

CONTENT = b"hello from a generated client\n"


def main(url: str, token: str) -> None:
    with frepo.ApiClient(frepo.Configuration(host=url, access_token=token)) as client:
        collections, versions, files = frepo.CollectionsApi(client), frepo.VersionsApi(client), frepo.FilesApi(client)
        made = collections.create_collection(frepo.NewCollection(name="dump.sql", limits=frepo.LimitsPatch(versions=3)))
        edited = collections.edit_collection(made.id, collection_patch=frepo.CollectionPatch(description="edited"))
        version = versions.add_version(made.id, CONTENT)
        listed = versions.list_versions(made.id)
        downloaded = versions.download_version(made.id, "latest")
        versions.delete_version(made.id, "v1")
        collections.delete_collection(made.id)
        file = files.add_file(CONTENT, name="python.txt")
        files.delete_file(file.name)
    result = {
        "description": edited.description,
        "versions": edited.limits.versions,
        "number": version.number,
        "listed": [one.number for one in listed.items],
        "downloaded": downloaded.decode(),
        "file": file.requested_name,
        "refused": refused_code(url),
    }
    sys.stdout.write(json.dumps(result))


def refused_code(url: str) -> int:
    """Send a request without a token; the error is one of the document's models."""
    with frepo.ApiClient(frepo.Configuration(host=url)) as client:
        try:
            frepo.FilesApi(client).list_files()
        except UnauthorizedException as error:
            assert isinstance(error.data, frepo.Problem)
            return error.data.code
    return 0


main(*sys.argv[1:])
