"""The contract kit: test classes for authors of plug-ins, and storages for tests. Requires pytest."""

import pytest

# Before they are imported, so that a failed assertion shows its values.
pytest.register_assert_rewrite(
    *(
        f"{__name__}.{name}"
        for name in (
            "_storage_reading",
            "_storage_writing",
            "_storage_information",
            "part_reader_contract",
            "restore_engine_contract",
            "strategy_contract",
            "upload_check_contract",
            "upload_policy_contract",
            "subscriber_contract",
        )
    )
)

from .faulty import Fail, Fault, FaultyStorage, Stall, Truncate
from .memory import MemoryStorage
from .part_reader_contract import PartReaderContract
from .restore_engine_contract import RestoreEngineContract
from .sources import Source, digest, pattern
from .storage_contract import StorageContract
from .strategy_contract import RecordedVersions, StrategyContract, incoming, make_collection
from .subscriber_contract import SubscriberContract, make_event
from .upload_check_contract import GivenContent, UploadCheckContract, make_context, make_job_context
from .upload_policy_contract import UploadPolicyContract, make_policy_request

__all__ = [
    "Fail",
    "Fault",
    "FaultyStorage",
    "GivenContent",
    "MemoryStorage",
    "PartReaderContract",
    "RecordedVersions",
    "RestoreEngineContract",
    "Source",
    "Stall",
    "StorageContract",
    "StrategyContract",
    "SubscriberContract",
    "Truncate",
    "UploadCheckContract",
    "UploadPolicyContract",
    "digest",
    "incoming",
    "make_collection",
    "make_context",
    "make_event",
    "make_job_context",
    "make_policy_request",
    "pattern",
]
