"""Uploads a file with tuspy, as a process that can be killed: started again, it continues where it was.

Arguments: the address of the service, a token, a collection, the file, a file for its state, and the size of a part (0:
one request for everything). It ends with 0 when the upload is done.
"""

import sys
import time

from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError, TusUploadFailed
from tusclient.fingerprint.fingerprint import Fingerprint
from tusclient.storage.filestorage import FileStorage

PAUSE = 0.2


def upload(url: str, token: str, collection: str, file: str, state: str, part: int) -> None:
    """Upload until it is done, however often the connection breaks."""
    client = TusClient(f"{url}/api/v1/uploads", headers={"Authorization": f"Bearer {token}"})
    while True:
        try:
            uploader = client.uploader(
                file,
                chunk_size=part or sys.maxsize,
                metadata={"collection": collection},
                store_url=True,
                url_storage=FileStorage(state),
                fingerprinter=Fingerprint(),
            )
            uploader.upload()
            return
        except (TusCommunicationError, TusUploadFailed) as error:
            print(error, getattr(error, "status_code", None), flush=True)
            if getattr(error, "status_code", None) in {400, 401, 403, 404, 410, 413, 422}:
                raise
            time.sleep(PAUSE)


if __name__ == "__main__":
    upload(*sys.argv[1:6], int(sys.argv[6]))
