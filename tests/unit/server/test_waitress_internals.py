"""The private parts of waitress that frepo-server uses are unchanged."""

import hashlib
import importlib
import inspect
import pkgutil
import re
from importlib.metadata import version

import frepo_server
from support.paths import ROOT

README = ROOT / "frepo_server/README.md"
ROWS = re.findall(r"^\| `(waitress[\w.]+)` \|([^|]*)\|([^|]*)\|$", README.read_text(), re.MULTILINE)
METHODS = {owner: re.findall(r"`(\w+)`", methods) for owner, methods, _ in ROWS}
ATTRIBUTES = {owner: re.findall(r"`(\w+)`", attributes) for owner, _, attributes in ROWS}
# The beginning of the SHA-256 of the sources of the methods in the README, in waitress 3.0.2.
DIGESTS = {
    "waitress.channel.HTTPChannel": "29ea82f22adb",
    "waitress.parser.HTTPRequestParser": "2454ab56bc57",
    "waitress.receiver.ChunkedReceiver": "fc5a58d79bef",
    "waitress.receiver.FixedStreamReceiver": "fb8ffa9f95f6",
    "waitress.task.ThreadedTaskDispatcher": "fc5b94495240",
    "waitress.task.ErrorTask": "4abe3262db04",
    "waitress.task.WSGITask": "5bd8f8683867",
    "waitress.task.Task": "1acd208d3184",
    "waitress.server.BaseWSGIServer": "4b72dfc58b56",
    "waitress.buffers.ReadOnlyFileBasedBuffer": "e1997a618632",
    "waitress.wasyncore.dispatcher": "dd4afafdd011",
    "waitress.wasyncore": "c23249c41c7c",
}


def find(owner):
    module, _, name = owner.rpartition(".")
    return getattr(importlib.import_module(module), name)


def digest_of(owner):
    sources = (inspect.getsource(getattr(find(owner), name)) for name in METHODS[owner])
    return hashlib.sha256("".join(sources).encode()).hexdigest()[:12]


def test_the_methods_are_unchanged():
    changed = {owner: digest for owner in METHODS if (digest := digest_of(owner)) != DIGESTS.get(owner)}

    assert {} == changed, (
        f"waitress {version('waitress')} has other methods in these classes. Read what changed, adapt frepo_server and "
        "its README, run its tests, then note the new digests here."
    )
    assert DIGESTS.keys() == METHODS.keys()


def test_the_attributes_exist():
    """Many attributes are only set in a method, so the test searches the source of the class."""
    missing = []
    for owner, names in ATTRIBUTES.items():
        classes = inspect.getmro(find(owner)) if names else ()
        source = "".join(inspect.getsource(one) for one in classes if one.__module__.startswith("waitress"))
        missing += [f"{owner}.{name}" for name in names if not re.search(rf"\b{name}\b", source)]

    assert [] == missing


def overridden():
    """Return each override of a waitress class in frepo-server, as (class of waitress, name)."""
    for module in pkgutil.iter_modules(frepo_server.__path__):
        for one in vars(importlib.import_module(f"frepo_server.{module.name}")).values():
            if isinstance(one, type) and one.__module__.startswith("frepo_server"):
                bases = [base for base in one.__mro__ if base.__module__.startswith("waitress")]
                yield from ((bases[0], name) for name in vars(one) if any(name in vars(base) for base in bases))


def test_the_readme_names_everything_that_is_overridden():
    named = {(find(owner), name) for names in (METHODS, ATTRIBUTES) for owner in names for name in names[owner]}
    # Python 3.13 adds the last two to each class.
    common = {"__module__", "__doc__", "__annotations__", "__firstlineno__", "__static_attributes__"}

    assert set() == {pair for pair in overridden() if pair[1] not in common} - named
