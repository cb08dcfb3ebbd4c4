"""The declaration of a kind of events of a plug-in's own."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PluginEventKind:
    """A kind of events that a plug-in records, with `StoreTransaction.record_event`.

    - `name`: the name of the entry point, a dot and a word, such as `uploads.expired`.
    - `sentence`: what has happened, for people: the API, the console, the commands and notifications show it.
    - `keys`: all keys that the data of such an event can have.
    """

    name: str
    sentence: str
    keys: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """The name, as that of frepo's own kinds."""
        return self.name

    def __str__(self) -> str:
        return self.name
