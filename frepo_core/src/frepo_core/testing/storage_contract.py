"""What frepo expects of a storage backend, as tests that the backend's own tests inherit."""

from ._storage_information import InformationContract
from ._storage_reading import ReadingContract
from ._storage_retention import RetentionContract
from ._storage_writing import WritingContract


class StorageContract(ReadingContract, WritingContract, InformationContract, RetentionContract):
    """Inherit from this class and override the fixtures `backend`, `unavailable_backend` and `driver_errors`.

    The other fixtures, capabilities and limits, have defaults::

        class TestMyStorage(StorageContract):
            @pytest.fixture
            def backend(self, tmp_path):
                return MyStorage(MySettings(directory=tmp_path))
    """
