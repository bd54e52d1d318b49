"""Keys of the servers, as handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from . import _native

if TYPE_CHECKING:
    from ._client import Client


class Key:
    """A key of the servers, by its name: nobody has its value, and this handle neither.

    It is no secret, but it is bound to its client and is not pickled: another process asks its own client for
    it, by ``client.key(name)``.
    """

    __slots__ = (
        "_client",
        "bytes",
        "clients",
        "exportable",
        "id",
        "made",
        "maker",
        "name",
        "state",
        "type",
    )

    def __init__(self, client: Client, entry: tuple[Any, ...]) -> None:
        self._client = client
        self.name: str
        self.type: str
        self.id: str
        self.bytes: int
        self.state: str
        self.maker: str
        self.clients: tuple[str, ...]
        self.exportable: bool
        self.made: int | None
        (
            self.name,
            self.type,
            self.id,
            self.bytes,
            self.state,
            self.maker,
            clients,
            self.exportable,
            self.made,
        ) = entry
        self.clients = tuple(clients)

    def __repr__(self) -> str:
        return f"<divisi.Key {self.name!r} of type {self.type}, {self.state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a divisi.Key is not pickled: send its name, and call client.key(name) there")

    def destroy(self) -> None:
        """Have the servers erase it; what it encrypted is lost then."""
        self._client.destroy_key(self)


def key_types() -> dict[str, str]:
    """The types of keys, each with what it is for: gcm, mac, cbc, siv or wrap."""
    return dict(_native.key_types())
