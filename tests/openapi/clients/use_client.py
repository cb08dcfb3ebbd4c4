"""Uses the generated Python client: `use_client.py URL TOKEN`. Prints the results as JSON."""

import json
import sys

import frepo_generated as frepo
from frepo_generated.exceptions import ForbiddenException

CONTENT = b"hello from a generated client\n"


def main(url: str, token: str) -> None:
    configuration = frepo.Configuration(host=url, access_token=token)
    with frepo.ApiClient(configuration) as client:
        files, versions = frepo.FilesApi(client), frepo.VersionsApi(client)
        uploaded = files.upload_file("file", CONTENT, file_name="python.txt", tags=["made"], public=True)
        listed = files.list_files(search_query="python.txt")
        downloaded = files.download_file(uploaded.filename)
        form = frepo.CreateCollection(filename="dump.sql", maxOneVersionSize=frepo.Size("4GB"))
        collection = frepo.CollectionsApi(client).create_collection(form).collection
        added = versions.add_backup(collection.id, CONTENT)
        fetched = versions.fetch_backup(collection.id, "latest")
        with_null = frepo.CreateCollection.from_dict({"filename": "dump.sql", "maxBackupsCount": None})
    result = {
        "uploaded": uploaded.status,
        "listed": [row.filename for row in listed.results],
        "downloaded": downloaded.decode(),
        "limit": collection.max_one_backup_version_size,
        "version": added.version.version,
        "fetched": fetched.decode(),
        "refused": refused_status(url),
        "null": with_null.max_backups_count if with_null else "nothing",
    }
    sys.stdout.write(json.dumps(result))


def refused_status(url: str) -> int:
    """Send a request without a token; the error is one of the document's models."""
    with frepo.ApiClient(frepo.Configuration(host=url)) as client:
        try:
            frepo.FilesApi(client).list_files()
        except ForbiddenException as error:
            assert isinstance(error.data, frepo.ErrorReply)
            return error.data.error_code
    return 0


main(*sys.argv[1:])
