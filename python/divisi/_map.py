"""One function that a worker runs on its part of a column: Dask, Ray or processes of one's own call it.

It needs nothing but names and paths, so that everything that is given to it can be sent to another process:
the client it makes there, once a process, and the handles of keys stay where they are.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from ._client import Client
from ._client import connect as _connect
from ._errors import Error, UsageError, made

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    Associated: TypeAlias = ReadableBuffer | str | Sequence[ReadableBuffer | str | None] | None

Where: TypeAlias = Mapping[str, Any] | Callable[[], Mapping[str, Any]]

_Result = TypeVar("_Result")

# What a process makes if nothing is said: ten of them can share an identity, as servers keep 32 connections
# for one client.
_CONNECTIONS = 3
# The longest pause before a list is sent again.
_PAUSE = 2.0

_clients: dict[tuple[tuple[str, Any], ...], Client] = {}
_lock = threading.Lock()
# the clients of the process from which this one was forked, which closes them itself
_inherited: list[Client] = []


def _begin_anew() -> None:
    global _lock
    _lock = threading.Lock()
    _inherited.extend(_clients.values())
    _clients.clear()


os.register_at_fork(after_in_child=_begin_anew)


def _client(where: Where) -> Client:
    """The client of this process for these files; the first call makes it."""
    given = where() if callable(where) else where
    if not isinstance(given, Mapping) or not {"config", "identity"} <= set(given):
        raise TypeError('connect is no arguments of divisi.connect: give {"config": path, "identity": path}')
    arguments = {"connections": _CONNECTIONS, **given}
    for path in ("config", "identity"):
        arguments[path] = os.fspath(arguments[path])
    which = tuple(sorted(arguments.items()))
    with _lock:
        client = _clients.get(which)
        if client is None or client.closed:
            client = _clients[which] = _connect(**arguments)
        return client


@overload
def map(
    column: Iterable[Any],
    *,
    connect: Where,
    keys: str | Sequence[str | None] | None = ...,
    operation: Literal["encrypt", "hash", "mac"] = ...,
    associated: Associated = ...,
    encoding: str | None = ...,
    patience: float = ...,
    at_once: int = ...,
    **options: Any,
) -> list[bytes | None]: ...


@overload
def map(
    column: Iterable[Any],
    *,
    connect: Where,
    keys: str | Sequence[str | None] | None = ...,
    operation: Literal["decrypt"],
    associated: Associated = ...,
    encoding: None = ...,
    patience: float = ...,
    at_once: int = ...,
    **options: Any,
) -> list[bytes | None]: ...


@overload
def map(
    column: Iterable[Any],
    *,
    connect: Where,
    keys: str | Sequence[str | None] | None = ...,
    operation: Literal["decrypt"],
    associated: Associated = ...,
    encoding: str,
    patience: float = ...,
    at_once: int = ...,
    **options: Any,
) -> list[str | None]: ...


def map(
    column: Iterable[Any],
    *,
    connect: Where,
    keys: str | Sequence[str | None] | None = None,
    operation: str = "encrypt",
    associated: Associated = None,
    encoding: str | None = None,
    patience: float = 60.0,
    at_once: int = 256,
    **options: Any,
) -> Any:
    """Encrypt, decrypt, hash or MAC each value of a column; the results in its order, and null for null.

    ``column`` is a list, or an array or series of pyarrow, pandas, polars or numpy. Its values are bytes, or
    text if ``encoding`` says how it becomes bytes; then ``"decrypt"`` returns text, too. None, NaN and NA are
    null: what is null, anybody sees in the result.

    ``connect`` has the arguments of :func:`divisi.connect` (``{"config": path, "identity": path}``), or is a
    function that returns them in the worker, where each is to have an identity of its own. The first call of
    a process connects; all later ones use that client, with three connections if ``connections`` says no
    other number. ``keys`` is the name of a key, or has one for each value.

    ``operation`` is ``"encrypt"``, ``"decrypt"``, ``"hash"`` or ``"mac"``; ``options`` are those of
    ``Client.encrypt_all``, ``decrypt_all``, ``hash_all`` or ``mac_all``. ``associated`` data is the same for
    all values, or a list that has one for each.

    Lists of ``at_once`` values are sent one after the other. One that fails with the word that it may succeed
    later is sent again, for ``patience`` seconds; the values of a list that was half done are done twice,
    encrypted with other IVs, and one result of each is returned.

    >>> divisi.map([b"a", None], keys="letters", connect=where)  # doctest: +SKIP
    [b'...', None]
    """
    if operation not in ("encrypt", "decrypt", "hash", "mac"):
        raise UsageError(f"operation is {operation!r}: give encrypt, decrypt, hash or mac")
    if at_once < 1 or patience < 0:
        raise UsageError(f"at_once is {at_once} and patience {patience}: give at least 1 and 0")
    if associated is not None and operation in ("hash", "mac"):
        raise UsageError(f"{operation} takes no associated data: leave it out")
    if (keys is None) is not (operation == "hash"):
        asked = "give the name of a key in keys" if keys is None else "leave keys out"
        raise UsageError(f"{operation} needs {'a' if keys is None else 'no'} key: {asked}")
    client = _client(connect)
    values = _listed(column)
    places = [place for place, value in enumerate(values) if not _is_null(value)]
    coded = None if operation == "decrypt" else encoding
    texts = {place: _text(values[place], coded, f"value {place} of the column") for place in places}
    names = _each(keys, len(values), "keys", str)
    others = _each(associated, len(values), "associated", (str, bytes, bytearray, memoryview))
    results: list[Any] = [None] * len(values)
    for name, some in _lists(places, names, at_once):
        if operation != "hash" and not isinstance(name, str):
            raise TypeError(f"the key of value {some[0]} is {type(name).__name__}: give its name, as str")
        extra: dict[str, Any] = dict(options)
        if associated is not None:
            each = [_text(others(place), encoding, f"associated {place}", True) for place in some]
            extra["associated"] = each
        part = _Part(client, operation, name, some, [texts[place] for place in some], extra)
        for place, result in zip(some, _patiently(part.run, patience), strict=True):
            results[place] = result
    if operation == "decrypt" and encoding is not None:
        return [None if result is None else result.decode(encoding) for result in results]
    return results


class _Part:
    """A list of values that is sent at once, under one key."""

    def __init__(
        self,
        client: Client,
        operation: str,
        key: Any,
        places: list[int],
        texts: list[Any],
        extra: dict[str, Any],
    ) -> None:
        self._client, self._operation, self._key = client, operation, key
        self._places, self._texts, self._extra = places, texts, extra

    def run(self) -> list[bytes]:
        """The results; an error about one value says which."""
        # asked for each time: its name may mean another key than for the last list
        key = None if self._operation == "hash" else self._client.key(self._key)
        try:
            return self._sent(key, self._texts, self._extra)
        except Error as error:
            if error.kind != "mismatch" or error.retry:
                raise
            self._find(key)
            raise

    def _sent(self, key: Any, texts: list[Any], extra: dict[str, Any]) -> list[bytes]:
        if self._operation == "hash":
            return self._client.hash_all(texts, **extra)
        if self._operation == "mac":
            return self._client.mac_all(key, texts, **extra)
        encrypts = self._operation == "encrypt"
        call = self._client.encrypt_all if encrypts else self._client.decrypt_all
        return call(key, texts, **extra)

    def _find(self, key: Any) -> None:
        """Raise the error of the first value that has one by itself."""
        for nth, place in enumerate(self._places):
            extra = dict(self._extra)
            if "associated" in extra:
                extra["associated"] = [extra["associated"][nth]]
            try:
                self._sent(key, [self._texts[nth]], extra)
            except Error as error:
                if error.kind != "mismatch":
                    raise
                said = f"value {place} of the column: {error}"
                raise made(said, error.kind, error.retry, error.peer, error.step, error.by_all) from None


def _patiently(work: Callable[[], _Result], patience: float) -> _Result:
    """The result of the work, which is done again while it may succeed later and time is left."""
    until = time.monotonic() + patience
    pause = 0.05
    while True:
        try:
            return work()
        except Error as error:
            left = until - time.monotonic()
            if not error.retry or left <= 0:
                raise
        # not all at the same moment: many workers have lost the same servers
        time.sleep(min(pause * random.uniform(0.5, 1.0), left))
        pause = min(2 * pause, _PAUSE)


def _lists(
    places: list[int], names: Callable[[int], Any], at_once: int
) -> Iterator[tuple[Any, list[int]]]:
    """The values in lists, each under one key."""
    by_name: dict[Any, list[int]] = {}
    for place in places:
        by_name.setdefault(names(place), []).append(place)
    for name, all_of_it in by_name.items():
        for begin in range(0, len(all_of_it), at_once):
            yield name, all_of_it[begin : begin + at_once]


def _listed(column: Any) -> list[Any]:
    if isinstance(column, str | bytes | bytearray | memoryview):
        raise TypeError(f"column is one {type(column).__name__}: give a list of values")
    if isinstance(column, Mapping | set | frozenset) or hasattr(column, "columns"):
        raise TypeError(f"column is {type(column).__name__}: give one column, whose values have an order")
    # of pyarrow, whose scalars are not values
    values = column.to_pylist() if hasattr(column, "to_pylist") else column
    return list(values)


def _is_null(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    # those of pandas, which is not imported here
    return type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any, encoding: str | None, what: str, null: bool = False) -> Any:
    """The bytes of a value; none only where there may be none."""
    if null and value is None:
        return None
    if isinstance(value, str):
        if encoding is None:
            raise TypeError(f'{what} is str: give bytes, or how it becomes bytes, as encoding="utf-8"')
        return value.encode(encoding)
    try:
        shape = memoryview(value).ndim
    except TypeError:
        shape = 0
    if shape == 0:
        raise TypeError(f"{what} is {type(value).__name__}: give bytes, or text with an encoding")
    return value


def _each(given: Any, count: int, what: str, single: Any) -> Callable[[int], Any]:
    """What is given for a value: the same for all, or one for each."""
    if given is None or isinstance(given, single):
        return lambda _: given
    all_of_it = _listed(given)
    if len(all_of_it) != count:
        has = f"{what} has {len(all_of_it)} items for {count} values"
        raise UsageError(f"{has}: give one for each, or the same for all")
    return lambda place: all_of_it[place]
