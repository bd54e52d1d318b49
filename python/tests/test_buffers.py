"""Every function with buffers of every kind, and what is refused before anything is sent."""

from __future__ import annotations

import array
import hashlib
import mmap
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import divisi

LENGTHS = [0, 1, 2**16 + 1]


def buffers(text: bytes, folder: Path) -> Iterator[Any]:
    """The same bytes in memory of all kinds."""
    yield text
    yield bytearray(text)
    yield memoryview(text)
    yield array.array("B", text)
    writable = numpy.frombuffer(bytearray(text), dtype=numpy.uint8)
    yield writable
    read_only = writable.copy()
    read_only.flags.writeable = False
    yield read_only
    if text:  # the system maps no empty file
        path = folder / "mapped"
        path.write_bytes(text)
        yield numpy.memmap(path, dtype=numpy.uint8, mode="r")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped
    if len(text) == 2**16 + 1:
        yield numpy.frombuffer(text[:-1], dtype=numpy.uint8).reshape(256, 256)


@pytest.mark.parametrize("length", LENGTHS)
def test_every_function_takes_every_buffer(
    client: divisi.Client, key: divisi.Key, tmp_path: Path, length: int
) -> None:
    text = bytes(n % 251 for n in range(length))
    tagger = client.import_key(f"buffers-{length}", bytes(16), "gmac-aes128")
    digests = set()
    for number, data in enumerate(buffers(text, tmp_path)):
        same = bytes(data) if not isinstance(data, numpy.ndarray) else data.tobytes()
        sealed: Any = client.encrypt(key, data, b"x")
        assert isinstance(sealed, numpy.ndarray if isinstance(data, numpy.ndarray) else bytes)
        raw = bytes(sealed)
        assert AESGCM(bytes(range(32))).decrypt(raw[:12], raw[12:], b"x") == same
        opened = client.decrypt(key, sealed, b"x")
        assert bytes(opened) == same and type(opened) is type(sealed)
        tag = client.mac(tagger, data)
        assert client.mac_verify(tagger, data, tag)
        if isinstance(opened, numpy.ndarray):
            assert opened.dtype == numpy.uint8 and opened.flags.writeable
        # a hash of 2^16 + 1 bytes takes seconds: there of the read-only array and the file in memory alone
        if length < 2**16 or number in (5, 6):
            digests.add(client.hash(data, "shake128"))
    assert digests == {hashlib.shake_128(text).digest(32)}


def test_what_is_no_uint8_in_one_piece_is_refused_before_it_is_sent(
    client: divisi.Client, key: divisi.Key
) -> None:
    wrong: list[tuple[Any, type[Exception], str]] = [
        ("text", TypeError, "text.encode()"),
        (None, TypeError, "NoneType"),
        (7, TypeError, "int"),
        ([1, 2], TypeError, "list"),
        (numpy.zeros(4, dtype=numpy.uint16), TypeError, "dtype is uint8"),
        (numpy.zeros(4, dtype=numpy.int8), TypeError, "dtype is uint8"),
        (numpy.zeros(4, dtype=numpy.float64), TypeError, "dtype is uint8"),
        (array.array("H", [1]), TypeError, "dtype is uint8"),
        (numpy.zeros(8, dtype=numpy.uint8)[::2], divisi.UsageError, "contiguous"),
        (numpy.zeros((4, 4), dtype=numpy.uint8, order="F"), divisi.UsageError, "contiguous"),
        (memoryview(bytes(8))[::2], divisi.UsageError, "contiguous"),
    ]
    calls: list[Callable[[Any], object]] = [
        lambda data: client.encrypt(key, data),
        lambda data: client.decrypt(key, data),
        lambda data: client.hash(data),
        lambda data: client.encrypt_all(key, [b"", data]),
    ]
    for data, kind, says in wrong:
        for call in calls:
            with pytest.raises(kind, match=says):
                call(data)
    short: list[Any] = [b"", bytes(27), numpy.zeros(27, dtype=numpy.uint8)]
    for too_short in short:
        with pytest.raises(divisi.UsageError, match="too few"):
            client.decrypt(key, too_short)
    with pytest.raises(divisi.UsageError, match="choose one of"):
        client.new_key("wrong", "aes-512")
    with pytest.raises(divisi.UsageError, match="no associated data"):
        client.encrypt(client.new_key("wrap", "aes-128-kw"), bytes(16), b"x")
    with pytest.raises(divisi.UsageError, match="makes no tags"):
        client.mac(key, b"")
    with pytest.raises(divisi.UsageError, match="1 associated data or tags for 2"):
        client.encrypt_all(key, [b"", b""], [b"x"])


def test_what_is_to_be_wiped_is_wiped_when_it_is_done(client: divisi.Client, key: divisi.Key) -> None:
    text = b"a secret text" * 1000
    writable: list[Any] = [bytearray(text), numpy.frombuffer(bytearray(text), dtype=numpy.uint8)]
    for data in writable:
        sealed = client.encrypt(key, data, wipe=True)
        assert not any(bytes(data)) and len(data) == len(text)
        assert bytes(client.decrypt(key, sealed)) == text
    lists = [bytearray(text), bytearray(b"x")]
    assert client.decrypt_all(key, client.encrypt_all(key, lists, wipe=True)) == [text, b"x"]
    assert not any(lists[0]) and not any(lists[1])
    hashed = bytearray(b"abc")
    client.hash(hashed, wipe=True)
    assert hashed == bytes(3)
    fixed: list[Any] = [text, memoryview(text)]
    for read_only in fixed:
        with pytest.raises(divisi.UsageError, match="read-only"):
            client.encrypt(key, read_only, wipe=True)
    # what failed may be tried again
    kept = bytearray(b"kept")
    with pytest.raises(divisi.Error):
        client.encrypt(_destroyed(client), kept, wipe=True)
    assert kept == b"kept"


def _destroyed(client: divisi.Client) -> divisi.Key:
    key = client.new_key("destroyed")
    key.destroy()
    return key


def test_bytes_that_another_thread_changes_are_read_once(client: divisi.Client, key: divisi.Key) -> None:
    data = bytearray(200_000)
    over = threading.Event()

    def change() -> None:
        value = 0
        while not over.is_set():
            value = (value + 1) % 256
            data[:] = bytes([value]) * len(data)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(5):
            # the tag is that of what was encrypted, whatever it was
            assert len(client.decrypt(key, client.encrypt(key, data))) == len(data)
    finally:
        over.set()
        thread.join()
    # lent memory is given back
    data.extend(b"more")
    assert sys.getrefcount(data) <= 3
