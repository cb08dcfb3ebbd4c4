"""The private parts of waitress that frepo-server uses are unchanged."""

import hashlib
import importlib
import inspect
import pkgutil
import re
from importlib.metadata import version

import pytest

import frepo_server
from support.paths import ROOT

README = ROOT / "frepo_server/README.md"
ROWS = re.findall(r"^\| `(waitress[\w.]+)` \|([^|]*)\|([^|]*)\|$", README.read_text(), re.MULTILINE)
METHODS = [(owner, name) for owner, methods, _ in ROWS for name in re.findall(r"`(\w+)`", methods)]
ATTRIBUTES = [(owner, name) for owner, _, attributes in ROWS for name in re.findall(r"`(\w+)`", attributes)]
ADVICE = "Read what changed, adapt frepo_server and its README, run its tests, then note the new digest here."
# The beginning of the SHA-256 of each method's source, in waitress 3.0.2.
DIGESTS = {
    "waitress.channel.HTTPChannel.__init__": "a194769af3fd",
    "waitress.channel.HTTPChannel.received": "08d6df73fb69",
    "waitress.channel.HTTPChannel.handle_read": "5f1fb08c95aa",
    "waitress.channel.HTTPChannel.handle_write": "6c900f395b30",
    "waitress.channel.HTTPChannel.handle_close": "8f59b9aaa455",
    "waitress.channel.HTTPChannel.readable": "e4722238ce60",
    "waitress.channel.HTTPChannel.service": "f73afa13748e",
    "waitress.channel.HTTPChannel.send_continue": "842ebf929f6d",
    "waitress.channel.HTTPChannel.write_soon": "20eedb92a823",
    "waitress.channel.HTTPChannel.check_client_disconnected": "bc2391224c85",
    "waitress.channel.HTTPChannel._flush_outbufs_below_high_watermark": "27a2b75117ab",
    "waitress.channel.HTTPChannel._flush_some": "fe7a9a752a41",
    "waitress.channel.HTTPChannel._flush_some_if_lockable": "51e124355e63",
    "waitress.channel.HTTPChannel._flush_exception": "c9f3751ffdb0",
    "waitress.channel.HTTPChannel.send": "1f089e743902",
    "waitress.parser.HTTPRequestParser.__init__": "d43d0602efd2",
    "waitress.parser.HTTPRequestParser.received": "b466c02de37d",
    "waitress.parser.HTTPRequestParser.parse_header": "c2c093b90178",
    "waitress.parser.HTTPRequestParser.get_body_stream": "b85b308c5e42",
    "waitress.parser.HTTPRequestParser.close": "a29926ca4e2d",
    "waitress.receiver.ChunkedReceiver.__init__": "e7da31f88cbd",
    "waitress.receiver.ChunkedReceiver.received": "ce28c1acbffe",
    "waitress.receiver.ChunkedReceiver.getbuf": "415620d07790",
    "waitress.receiver.ChunkedReceiver.getfile": "b22c19314549",
    "waitress.receiver.FixedStreamReceiver.received": "832afec9259f",
    "waitress.receiver.FixedStreamReceiver.getbuf": "415620d07790",
    "waitress.receiver.FixedStreamReceiver.getfile": "b22c19314549",
    "waitress.task.ThreadedTaskDispatcher.__init__": "0479b29257f5",
    "waitress.task.ThreadedTaskDispatcher.add_task": "1028105a9aed",
    "waitress.task.ThreadedTaskDispatcher.handler_thread": "fe586964e3f0",
    "waitress.task.ThreadedTaskDispatcher.set_thread_count": "97cddfc02137",
    "waitress.task.ThreadedTaskDispatcher.shutdown": "f2550ddbfb8d",
    "waitress.task.ErrorTask.execute": "4abe3262db04",
    "waitress.task.WSGITask.get_environment": "3bb57be6c7db",
    "waitress.task.WSGITask.build_response_header": "2cf70b88816f",
    "waitress.task.WSGITask.set_close_on_finish": "90433a0ffcaf",
    "waitress.task.Task.write": "f9a97135b3b5",
    "waitress.task.Task.set_close_on_finish": "90433a0ffcaf",
    "waitress.task.Task.build_response_header": "2cf70b88816f",
    "waitress.server.BaseWSGIServer.handle_accept": "69bfcf0fc140",
    "waitress.server.BaseWSGIServer.add_task": "19e994eb9cc9",
    "waitress.server.BaseWSGIServer.pull_trigger": "bf12fa7216ed",
    "waitress.server.BaseWSGIServer.maintenance": "4ab5b7f595bc",
    "waitress.buffers.ReadOnlyFileBasedBuffer.__init__": "8ac84abc2324",
    "waitress.buffers.ReadOnlyFileBasedBuffer.__len__": "d5723dd0c519",
    "waitress.buffers.ReadOnlyFileBasedBuffer.get": "fdfad644af76",
    "waitress.buffers.ReadOnlyFileBasedBuffer.skip": "1db93a216c34",
    "waitress.buffers.ReadOnlyFileBasedBuffer.close": "2fd3985e8327",
    "waitress.wasyncore.dispatcher.close": "dd4afafdd011",
}


def find(owner):
    module, _, name = owner.rpartition(".")
    return getattr(importlib.import_module(module), name)


def digest_of(owner, name):
    source = inspect.getsource(getattr(find(owner), name))
    return hashlib.sha256(source.encode()).hexdigest()[:12]


@pytest.mark.parametrize(("owner", "name"), METHODS)
def test_a_private_method_of_waitress_is_unchanged(owner, name):
    found = digest_of(owner, name) if hasattr(find(owner), name) else "gone"

    assert DIGESTS[f"{owner}.{name}"] == found, f"waitress {version('waitress')} changed {owner}.{name}. {ADVICE}"


@pytest.mark.parametrize(("owner", "name"), ATTRIBUTES)
def test_a_private_attribute_of_waitress_exists(owner, name):
    """Many attributes are only set in a method, so the test searches the source of the class."""
    sources = [inspect.getsource(one) for one in find(owner).__mro__ if one.__module__.startswith("waitress")]
    is_there = any(re.search(rf"\b{name}\b", source) for source in sources)

    assert is_there, f"waitress {version('waitress')} has no {owner}.{name} any more. {ADVICE}"


def overridden():
    """Return each override of a waitress class in frepo-server, as (class of waitress, name)."""
    for module in pkgutil.iter_modules(frepo_server.__path__):
        for one in vars(importlib.import_module(f"frepo_server.{module.name}")).values():
            if isinstance(one, type) and one.__module__.startswith("frepo_server"):
                bases = [base for base in one.__mro__ if base.__module__.startswith("waitress")]
                yield from ((bases[0], name) for name in vars(one) if any(name in vars(base) for base in bases))


def test_the_readme_names_everything_that_is_overridden():
    named = {(find(owner), name) for owner, name in [*METHODS, *ATTRIBUTES]}
    common = {"__module__", "__doc__", "__annotations__"}

    assert set() == {pair for pair in overridden() if pair[1] not in common} - named
    assert len(METHODS) > 30
