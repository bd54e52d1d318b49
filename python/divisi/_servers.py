"""Three servers as threads of this process, to try out what a client does."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from . import _native
from ._client import Client, connect
from ._errors import UsageError

if TYPE_CHECKING:
    from types import TracebackType


class LocalServers:
    """Three servers that run as threads of this process until they are stopped.

    This protects nothing: the process has the parts of all three. In earnest they are three machines of three
    owners, and :func:`divisi.connect` is all that a program needs.
    """

    def __init__(self, clients: Sequence[str]) -> None:
        self._native = _native.Servers(list(clients))
        self._names = list(clients)
        # at the end of the interpreter, too, so that no files stay
        self._end = weakref.finalize(self, self._native.stop)

    def __repr__(self) -> str:
        state = self.config if self._native.running else "stopped"
        return f"<divisi.LocalServers {state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a divisi.LocalServers is not pickled: other processes connect by .config and .identity")

    def __enter__(self) -> LocalServers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def config(self) -> str:
        """The file of the configuration."""
        return str(self._native.config)

    @property
    def identity(self) -> str:
        """The file of the first client's identity."""
        return str(self._native.identities[0])

    @property
    def identities(self) -> dict[str, str]:
        """The files of all clients' identities, by their names."""
        return dict(zip(self._names, map(str, self._native.identities), strict=True))

    def connect(
        self,
        client: str | None = None,
        *,
        connections: int | None = None,
        timeout: float | None = None,
        patience: float | None = None,
    ) -> Client:
        """A client of these servers: the first one, or that of this name."""
        if client is not None and client not in self._names:
            raise UsageError(f"there is no client {client!r}: the servers know {', '.join(self._names)}")
        identity = self.identity if client is None else self.identities[client]
        return connect(
            self.config, identity, connections=connections, timeout=timeout, patience=patience
        )

    def stop(self) -> None:
        """Stop the servers, and remove their keys and files."""
        if self._end.detach() is not None:
            self._native.stop()


def local_servers(clients: Sequence[str] = ("me",)) -> LocalServers:
    """Start three servers as threads of this process, for clients of these names; it waits until they serve."""
    if isinstance(clients, str):
        raise TypeError("clients is str: give a list of names")
    return LocalServers(clients)
