"""`divisi.map`: what a worker does with its part of a column."""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import hmac
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import divisi
from divisi import _map

from . import many_workers
from .conftest import LONG

VALUE = bytes(range(32))


@pytest.fixture
def where(servers: divisi.LocalServers, key: divisi.Key) -> dict[str, Any]:
    """What a worker is told of the servers, which have the key `column` then."""
    return {"config": servers.config, "identity": servers.identity, "patience": 60, "timeout": 60}


def opened(sealed: bytes | None, associated: bytes | None = None) -> bytes | None:
    """What an ordinary library reads."""
    return None if sealed is None else AESGCM(VALUE).decrypt(sealed[:12], sealed[12:], associated)


def test_one_function_serves_all_operations(where: dict[str, Any], client: divisi.Client) -> None:
    column = [b"one", None, b"", bytearray(b"three"), memoryview(b"four"), numpy.arange(5, dtype=numpy.uint8)]
    plain = [None if one is None else bytes(one) for one in column]
    column_of = functools.partial(divisi.map, connect=where)
    sealed = column_of(column, keys="column", associated=b"c")
    assert [opened(one, b"c") for one in sealed] == plain
    assert column_of(sealed, keys="column", associated=b"c", operation="decrypt") == plain
    digests = column_of(column, operation="hash", algorithm="sha3-256")
    assert digests == [None if one is None else hashlib.sha3_256(one).digest() for one in plain]
    client.import_key("map-tags", b"k" * 32, "hmac-sha256")
    tags = column_of(column, keys="map-tags", operation="mac")
    assert tags == [None if one is None else hmac.digest(b"k" * 32, one, "sha256") for one in plain]
    assert column_of([], keys="column") == [] and column_of([None], keys="column") == [None]


def test_text_becomes_bytes_and_text_again(where: dict[str, Any]) -> None:
    names = ["Zoë", "", None, float("nan"), "a" * 300]
    sealed = divisi.map(names, keys="column", connect=where, encoding="utf-8", associated="name")
    assert opened(sealed[0], b"name") == "Zoë".encode() and sealed[2] is None and sealed[3] is None
    again = divisi.map(
        sealed, keys="column", connect=where, operation="decrypt", encoding="utf-8", associated="name"
    )
    assert again == ["Zoë", "", None, None, "a" * 300]


def test_lists_keep_the_order_and_each_value_its_key(where: dict[str, Any], client: divisi.Client) -> None:
    client.import_key("map-other", bytes(32), "aes-256")
    texts = [str(number).encode() for number in range(23)]
    keys = ["map-other" if number % 3 else "column" for number in range(23)]
    rows = [f"row {number}" for number in range(23)]
    sealed = divisi.map(texts, keys=keys, connect=where, associated=rows, encoding="ascii", at_once=4)
    for number, one in enumerate(sealed):
        assert one is not None
        box = AESGCM(bytes(32) if number % 3 else VALUE)
        assert box.decrypt(one[:12], one[12:], rows[number].encode()) == texts[number]
    assert len({one[:12] for one in sealed if one is not None}) == 23
    again = divisi.map(
        sealed, keys=keys, connect=where, operation="decrypt", associated=rows, encoding="ascii", at_once=5
    )
    assert again == [text.decode() for text in texts]


def test_a_process_connects_once(where: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[divisi.Client] = []
    connections: list[int] = []

    def connect(**arguments: Any) -> divisi.Client:
        connections.append(arguments["connections"])
        made.append(divisi.connect(**arguments))
        return made[-1]

    monkeypatch.setattr(_map, "_connect", connect)
    mine = {**where, "timeout": 59}
    threads = [
        threading.Thread(target=divisi.map, args=([b"text"],), kwargs={"keys": "column", "connect": mine})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    divisi.map([b"text"], keys="column", connect=lambda: {**mine, "config": Path(mine["config"])})
    assert len(made) == 1
    divisi.map([b"text"], operation="hash", connect={**mine, "connections": 1})
    assert connections == [3, 1]
    made[0].close()
    divisi.map([b"text"], keys="column", connect=mine)
    assert len(made) == 3


@dataclass(frozen=True)
class Own:
    """A function that says in a worker which identity is that worker's."""

    where: dict[str, Any]
    identities: dict[str, str]

    def __call__(self) -> dict[str, Any]:
        # what a cluster takes from its machine's name
        return {**self.where, "identity": self.identities[os.environ["DIVISI_TEST_WORKER"]]}


def test_each_worker_can_have_an_identity_of_its_own(
    where: dict[str, Any],
    servers: divisi.LocalServers,
    client: divisi.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client.new_key("map-granted", clients=["you"])
    part = functools.partial(divisi.map, connect=Own(where, servers.identities))
    monkeypatch.setenv("DIVISI_TEST_WORKER", "me")
    sealed = part([b"from me"], keys="map-granted")
    monkeypatch.setenv("DIVISI_TEST_WORKER", "you")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        opens = functools.partial(part, keys="map-granted", operation="decrypt")
        assert list(pool.map(opens, [sealed])) == [[b"from me"]]
        # which serves the one and not the other
        with pytest.raises(divisi.Error, match="no key 'column'"):
            list(pool.map(functools.partial(part, keys="column"), [[b"text"]]))


def fail_first(monkeypatch: pytest.MonkeyPatch, times: int, error: divisi.Error) -> list[float]:
    """Let the first calls of encrypt_all fail; when each call came."""
    calls: list[float] = []
    real = divisi.Client.encrypt_all

    def encrypt_all(*arguments: Any, **options: Any) -> list[bytes]:
        calls.append(time.monotonic())
        if len(calls) <= times:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(divisi.Client, "encrypt_all", encrypt_all)
    return calls


def test_what_may_succeed_later_is_tried_again(
    where: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = divisi.Error("a server stops: try again later", "unavailable", True)
    calls = fail_first(monkeypatch, 3, later)
    sealed = divisi.map([b"a", b"b", b"c"], keys="column", connect=where, at_once=2)
    assert [opened(one) for one in sealed] == [b"a", b"b", b"c"]
    # the first list three times in vain, then each once
    assert len(calls) == 5


def test_patience_ends(where: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    later = divisi.Error("a server stops: try again later", "unavailable", True)
    calls = fail_first(monkeypatch, 1000, later)
    with pytest.raises(divisi.Error) as raised:
        divisi.map([b"a"], keys="column", connect=where, patience=0.5)
    assert raised.value is later and 0.4 < calls[-1] - calls[0] and 2 < len(calls) < 30
    calls.clear()
    with pytest.raises(divisi.Error):
        divisi.map([b"a"], keys="column", connect=where, patience=0)
    assert len(calls) == 1


def test_what_cannot_succeed_is_not_tried_again(
    where: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fail_first(monkeypatch, 1000, divisi.Error("no", "refused", False))
    with pytest.raises(divisi.Error, match="no"):
        divisi.map([b"a"], keys="column", connect=where)
    assert len(calls) == 1


def test_a_value_that_was_changed_is_named(where: dict[str, Any]) -> None:
    sealed: list[Any] = divisi.map([b"a"] * 7, keys="column", connect=where)
    sealed[0] = None
    sealed[5] = bytes([sealed[5][0] ^ 1]) + sealed[5][1:]
    with pytest.raises(divisi.Error, match="value 5 of the column: ") as raised:
        divisi.map(sealed, keys="column", connect=where, operation="decrypt", at_once=4)
    assert raised.value.kind == "mismatch" and raised.value.by_all and not raised.value.retry


def test_servers_that_are_gone_are_an_error_after_the_patience() -> None:
    with divisi.local_servers() as servers:
        gone = {"config": servers.config, "identity": servers.identity, "patience": 0.01}
        with servers.connect(patience=60) as client:
            client.new_key("k")
        divisi.map([b"a"], keys="k", connect={**gone, "patience": 60})
        divisi.map([], keys="k", connect=gone)
    with pytest.raises(divisi.Error) as raised:
        divisi.map([b"a"], keys="k", connect=gone, patience=0.3)
    assert raised.value.kind == "unavailable" and raised.value.retry


def test_it_is_sent_to_other_processes(where: dict[str, Any]) -> None:
    part = functools.partial(divisi.map, keys="column", connect=where)
    assert pickle.loads(pickle.dumps(part)).func is divisi.map
    parts = [[f"part {number}".encode(), None] for number in range(4)]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        done = list(pool.map(part, parts))
    assert [[opened(one) for one in some] for some in done] == parts


FORKED = """
import concurrent.futures, functools, json, multiprocessing, sys
import divisi
part = functools.partial(divisi.map, keys="column", connect=json.loads(sys.argv[1]))
# a client is there, of this process, which those that are forked must not use
made = part([b"before"])
with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    made += sum(pool.map(part, [[b"part 0", b"in it"], [b"part 1"], [b"part 2"]]), [])
made += part([b"after"])
print(*[one.hex() for one in made])
"""


def test_processes_that_are_forked_connect_anew(where: dict[str, Any]) -> None:
    # in a process that has no threads of servers, whose locks a fork would copy
    run = [sys.executable, "-c", FORKED, json.dumps(where)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done
    made = [opened(bytes.fromhex(one)) for one in done.stdout.split()]
    assert made == [b"before", b"part 0", b"in it", b"part 1", b"part 2", b"after"]


def test_it_needs_no_library_of_a_cluster() -> None:
    others = ["dask", "distributed", "ray", "pandas", "pyarrow", "numpy"]
    code = f"import divisi, sys; divisi.map; print([name for name in {others} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def work(where: dict[str, Any], texts: list[bytes], log: str) -> None:
    """A worker that says in a file what each of its lists became."""
    real = _map._Part.run

    def run(part: Any) -> list[bytes]:
        done = real(part)
        with open(log, "a") as file:
            file.write("".join(one.hex() + "\n" for one in done))
        return done

    setattr(_map._Part, "run", run)
    divisi.map(texts, keys="column", connect=where, at_once=1)


def lines(log: Path) -> list[bytes]:
    """What a worker has encrypted."""
    return [bytes.fromhex(line) for line in log.read_text().split()] if log.exists() else []


def test_a_worker_that_is_killed_costs_its_part_once_more(where: dict[str, Any], tmp_path: Path) -> None:
    texts = [f"value {number}".encode() for number in range(40)]
    first, second = tmp_path / "first", tmp_path / "second"
    context = multiprocessing.get_context("spawn")
    killed = context.Process(target=work, args=(where, texts, str(first)))
    killed.start()
    until = time.monotonic() + 120
    while len(lines(first)) < 3 and time.monotonic() < until:
        time.sleep(0.005)
    assert killed.pid is not None
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    again = context.Process(target=work, args=(where, texts, str(second)))
    again.start()
    again.join()
    assert again.exitcode == 0
    half, whole = lines(first), lines(second)
    assert 3 <= len(half) < len(texts) and len(whole) == len(texts)
    assert [opened(one) for one in whole] == texts and [opened(one) for one in half] == texts[: len(half)]
    # nothing is used twice: what the first one made has other IVs
    assert len({one[:12] for one in half + whole}) == len(half) + len(whole)


@pytest.mark.skipif(not LONG, reason="DIVISI_LONG=1 measures: the machine has to be quiet")
def test_eight_processes_are_as_fast_as_one_with_eight_connections() -> None:
    measured = many_workers.main()
    assert measured["ratio"] >= 0.9, measured


def test_a_small_run_of_that_measurement() -> None:
    measured = many_workers.main(values=64, rounds=1)
    assert measured["one_per_second"] > 0 and [len(rates) for rates in measured["rates"].values()] == [2, 2]


def test_mistakes_are_told_before_anything_is_sent(where: dict[str, Any]) -> None:
    column_of = functools.partial(divisi.map, connect=where, keys="column")
    wrong_values: list[tuple[Any, str]] = [
        (b"text", "column is one bytes: give a list of values"),
        ("text", "column is one str"),
        ({"a": 1}, "give one column, whose values have an order"),
        ({b"a", b"b"}, "give one column"),
        ([b"a", "text"], 'value 1 of the column is str: give bytes, or .* as encoding="utf-8"'),
        ([None, 7], "value 1 of the column is int: give bytes"),
        (numpy.arange(3, dtype=numpy.uint8), "value 0 of the column is uint8: give bytes"),
        ([b"a", numpy.zeros(3)], "dtype is uint8"),
    ]
    for column, said in wrong_values:
        with pytest.raises(TypeError, match=said):
            column_of(column)
    with pytest.raises(TypeError, match="give its name, as str"):
        column_of([b"a", b"b"], keys=["column", None])
    wrong_arguments: list[tuple[dict[str, Any], str]] = [
        ({"operation": "sign"}, "give encrypt, decrypt, hash or mac"),
        ({"operation": "hash"}, "hash needs no key: leave keys out"),
        ({"keys": None}, "encrypt needs a key: give the name of a key in keys"),
        ({"keys": ["column"]}, "keys has 1 items for 2 values: give one for each"),
        ({"associated": [b"a", None, b"c"]}, "associated has 3 items for 2 values"),
        ({"operation": "mac", "associated": b"a"}, "mac takes no associated data: leave it out"),
        ({"at_once": 0}, "give at least 1"),
        ({"connect": {**where, "identity": "/nothing"}}, "/nothing"),
    ]
    for changed, said in wrong_arguments:
        arguments: dict[str, Any] = {"connect": where, "keys": "column", **changed}
        with pytest.raises(divisi.UsageError, match=said):
            divisi.map([b"a", b"b"], **arguments)
    with pytest.raises(TypeError, match='give {"config": path, "identity": path}'):
        divisi.map([b"a"], keys="column", connect={"config": where["config"]})
    with pytest.raises(divisi.Error, match="no key 'missing'"):
        divisi.map([b"a"], keys="missing", connect=where)
