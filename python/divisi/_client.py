"""A client of three servers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

from . import _native
from ._arrays import array_of, is_array, place_for
from ._errors import Error, UsageError
from ._keys import Key

if TYPE_CHECKING:
    from types import TracebackType

    import numpy
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray

    Bytes = NDArray[numpy.uint8]


class Client:
    """Connections of one client with three servers; made by :func:`connect`.

    Threads may share it. A process that is forked from its own connects anew.
    """

    __slots__ = ("__weakref__", "_native", "_where")

    def __init__(self, native: _native.Connections, where: str) -> None:
        self._native = native
        self._where = where

    def __repr__(self) -> str:
        state = ", closed" if self._native.closed else ""
        return f"<divisi.Client of {self._where}{state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a divisi.Client is not pickled: connect in each process")

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. Calls on this client and its keys fail from now on."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._native.closed

    # -- keys

    def new_key(
        self,
        name: str,
        type: str = "aes-256",
        *,
        exportable: bool = False,
        clients: Iterable[str] = (),
    ) -> Key:
        """Have the servers draw a key that nobody knows (:func:`divisi.key_types` has the types).

        ``clients`` may use it, too. If it is ``exportable``, its maker may export it with the command line.
        """
        return Key(self, self._native.new_key(name, type, exportable, list(clients)))

    def import_key(
        self,
        name: str,
        value: ReadableBuffer,
        type: str = "aes-256",
        *,
        exportable: bool = False,
        clients: Iterable[str] = (),
        wipe: bool = False,
    ) -> Key:
        """Give the servers a key that exists, in parts."""
        entry = self._native.import_key(name, type, value, exportable, list(clients), wipe)
        return Key(self, entry)

    def key(self, name: str) -> Key:
        """The key of this name, if it may be used by this client."""
        entry = self._native.key(name)
        if entry is None:
            raise Error(
                f"there is no key {name!r} that serves this client: client.keys() has those that do",
                kind="refused",
            )
        return Key(self, entry)

    def keys(self) -> list[Key]:
        """All keys that this client may use. Servers that differ about one are an error."""
        found = []
        for entry, differs in self._native.keys():
            if differs:
                peers = " and ".join(str(peer) for peer in differs)
                raise Error(
                    f"party {peers} says something else of the key {entry[0]!r}: find out which server deviates",
                    kind="mismatch",
                    peer=differs[0],
                )
            found.append(Key(self, entry))
        return found

    def destroy_key(self, key: Key) -> None:
        """Have the servers erase a key; what it encrypted is lost then."""
        self._native.destroy_key(self._mine(key))

    # -- texts

    @overload
    def encrypt(
        self,
        key: Key,
        data: Bytes,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
        wipe: bool = False,
    ) -> Bytes: ...

    @overload
    def encrypt(
        self,
        key: Key,
        data: ReadableBuffer,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
        wipe: bool = False,
    ) -> bytes: ...

    def encrypt(
        self,
        key: Key,
        data: Any,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
        wipe: bool = False,
    ) -> Any:
        """Encrypt bytes, or any contiguous buffer of uint8; of a numpy array the result is one.

        With a key of AES-GCM the result is ``IV (12 bytes) | ciphertext | tag (16)``, as other libraries take
        it. Keys of CBC, SIV and KW have the forms of docs/clients.md; ``mode="kwp"`` chooses KWP. ``wipe``
        overwrites the caller's data with zeros when they are encrypted: a bytearray or an array.
        """
        work = _native.Work.encrypt(self._mine(key), mode, associated)
        return self._run(work, data, wipe, _native.OVERHEAD if _is_gcm(key) else None)

    @overload
    def decrypt(
        self,
        key: Key,
        data: Bytes,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
    ) -> Bytes: ...

    @overload
    def decrypt(
        self,
        key: Key,
        data: ReadableBuffer,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
    ) -> bytes: ...

    def decrypt(
        self,
        key: Key,
        data: Any,
        associated: ReadableBuffer | None = None,
        *,
        mode: str | None = None,
    ) -> Any:
        """Decrypt what :meth:`encrypt` or another library made; nothing is returned unless it is authentic.

        (CBC authenticates nothing.)
        """
        work = _native.Work.decrypt(self._mine(key), mode, associated)
        return self._run(work, data, False, -_native.OVERHEAD if _is_gcm(key) else None)

    def encrypt_all(
        self,
        key: Key,
        texts: Iterable[ReadableBuffer],
        associated: ReadableBuffer | Sequence[ReadableBuffer | None] | None = None,
        *,
        mode: str | None = None,
        wipe: bool = False,
    ) -> list[bytes]:
        """Encrypt many texts, over several connections at a time; the results in their order.

        ``associated`` is the same for all texts, or a list that has one for each.
        """
        def work(one: Any) -> _native.Work:
            return _native.Work.encrypt(self._mine(key), mode, one)

        return self._run_all(work, list(texts), associated, wipe)

    def decrypt_all(
        self,
        key: Key,
        texts: Iterable[ReadableBuffer],
        associated: ReadableBuffer | Sequence[ReadableBuffer | None] | None = None,
        *,
        mode: str | None = None,
    ) -> list[bytes]:
        """Decrypt many texts as :meth:`encrypt_all` encrypts them. One that is not authentic ends the call."""
        def work(one: Any) -> _native.Work:
            return _native.Work.decrypt(self._mine(key), mode, one)

        return self._run_all(work, list(texts), associated, False)

    def hash(
        self,
        data: ReadableBuffer,
        algorithm: str = "sha256",
        *,
        output_bytes: int | None = None,
        customization: bytes = b"",
        function: bytes = b"",
        wipe: bool = False,
    ) -> bytes:
        """The digest of a text that no server sees."""
        work = _native.Work.hash(algorithm, customization, function, output_bytes)
        return _some(self._native.run(work, _checked(data), wipe, None))

    def hash_all(
        self,
        texts: Iterable[ReadableBuffer],
        algorithm: str = "sha256",
        *,
        output_bytes: int | None = None,
        customization: bytes = b"",
        function: bytes = b"",
        wipe: bool = False,
    ) -> list[bytes]:
        """The digests of many texts."""
        work = _native.Work.hash(algorithm, customization, function, output_bytes)
        return self._run_all(lambda _: work, list(texts), None, wipe)

    def mac(
        self,
        key: Key,
        data: ReadableBuffer,
        *,
        output_bytes: int | None = None,
        customization: bytes = b"",
        xof: bool = False,
        wipe: bool = False,
    ) -> bytes:
        """The tag of a text by the algorithm of the key's type; for GMAC the nonce of 12 bytes before it."""
        work = _native.Work.mac(self._mine(key), customization, output_bytes, xof)
        return _some(self._native.run(work, _checked(data), wipe, None))

    def mac_all(
        self,
        key: Key,
        texts: Iterable[ReadableBuffer],
        *,
        output_bytes: int | None = None,
        customization: bytes = b"",
        xof: bool = False,
        wipe: bool = False,
    ) -> list[bytes]:
        """The tags of many texts."""
        work = _native.Work.mac(self._mine(key), customization, output_bytes, xof)
        return self._run_all(lambda _: work, list(texts), None, wipe)

    def mac_verify(
        self,
        key: Key,
        data: ReadableBuffer,
        tag: ReadableBuffer,
        *,
        customization: bytes = b"",
        xof: bool = False,
        wipe: bool = False,
    ) -> bool:
        """Whether the tag is right; the servers learn this bit, and nothing else."""
        work = _native.Work.verify(self._mine(key), tag, customization, xof)
        return self._native.run(work, _checked(data), wipe, None) == b"\x01"

    def mac_verify_all(
        self,
        key: Key,
        texts: Iterable[ReadableBuffer],
        tags: Iterable[ReadableBuffer],
        *,
        customization: bytes = b"",
        xof: bool = False,
    ) -> list[bool]:
        """Whether each tag is right."""
        def work(tag: Any) -> _native.Work:
            return _native.Work.verify(self._mine(key), tag, customization, xof)

        done = self._run_all(work, list(texts), list(tags), False)
        return [one == b"\x01" for one in done]

    # -- how it is done

    def _mine(self, key: Key) -> tuple[str, str, str]:
        if not isinstance(key, Key):
            raise TypeError(f"key is {type(key).__name__}: give a handle, of client.key(name)")
        if key._client is not self:
            raise UsageError(f"the key {key.name!r} is a handle of another client: ask this one for it")
        return key.name, key.id, key.type

    def _run(self, work: _native.Work, data: Any, wipe: bool, longer: int | None) -> Any:
        if not is_array(data):
            return self._native.run(work, _checked(data), wipe, None)
        if longer is None or data.nbytes + longer < 0:
            return array_of(_some(self._native.run(work, data, wipe, None)))
        place = place_for(data, data.nbytes + longer)
        self._native.run(work, data, wipe, place)
        return place

    def _run_all(self, work: Any, texts: list[Any], each: Any, wipe: bool) -> list[bytes]:
        for text in texts:
            _checked(text)
        if isinstance(each, list | tuple):
            works = [work(one) for one in each]
        else:
            works = [work(each)] * len(texts)
        return self._native.run_all(works, texts, wipe)


def _is_gcm(key: Key) -> bool:
    return key.type in ("aes-128", "aes-192", "aes-256")


def _checked(data: Any) -> Any:
    if isinstance(data, str):
        raise TypeError("data is str: give bytes, as text.encode() makes them")
    return data


def _some(done: bytes | None) -> bytes:
    assert done is not None
    return done


def connect(
    config: str | os.PathLike[str],
    identity: str | os.PathLike[str],
    *,
    connections: int | None = None,
    timeout: float | None = None,
    patience: float | None = None,
) -> Client:
    """A client of the three servers of a configuration, by the file of its identity.

    The files are what ``divisi mesh new`` makes. The first call makes a connection, and calls at the same
    time make more, at most ``connections`` (31, and servers keep 32 for one client). A receive waits for
    ``timeout`` seconds, if that is not the configuration's; what a server says may succeed later is tried
    again for ``patience`` seconds (5).
    """
    config, identity = os.fspath(config), os.fspath(identity)
    native = _native.Connections(config, identity, connections, timeout, patience)
    return Client(native, config)
