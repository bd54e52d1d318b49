"""Eight processes against one with eight connections: `python -m tests.many_workers [VALUES [ROUNDS]]`.

Both encrypt the same column by the same three servers, which are a process of their own. What is compared is
the time from the moment at which all have connected.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from typing import Any

import divisi

WORKERS = 8
# if one of them dies, the others do not wait for ever
LONGEST = 600.0
SERVE = """
import sys, divisi
with divisi.local_servers() as servers, servers.connect(patience=60) as client:
    client.new_key("column")
    print(servers.config, servers.identity, sep="\\n", flush=True)
    sys.stdin.read()
"""


@contextmanager
def served() -> Iterator[dict[str, Any]]:
    """Three servers in another process, with a key."""
    run = [sys.executable, "-c", SERVE]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        config, identity = (process.stdout.readline().strip() for _ in range(2))
        yield {"config": config, "identity": identity, "patience": 60, "timeout": 60}
        process.stdin.close()


def work(where: dict[str, Any], texts: list[bytes], start: Barrier, end: Barrier, rounds: int) -> None:
    """A worker: its part, as often as all do."""
    # as many as it has connections, so that all are there
    divisi.map(texts[: where["connections"]], keys="column", connect=where)
    for _ in range(rounds):
        start.wait()
        divisi.map(texts, keys="column", connect=where, at_once=len(texts))
        end.wait()


def measured(where: dict[str, Any], texts: list[bytes], workers: int, rounds: int) -> list[float]:
    """Values a second in each round, by so many processes with eight connections together."""
    context = multiprocessing.get_context("spawn")
    start, end = (context.Barrier(workers + 1, timeout=LONGEST) for _ in range(2))
    where = {**where, "connections": WORKERS // workers}
    parts = [texts[number::workers] for number in range(workers)]
    processes = [context.Process(target=work, args=(where, part, start, end, rounds)) for part in parts]
    for process in processes:
        process.start()
    rates = []
    for _ in range(rounds):
        start.wait()
        begun = time.perf_counter()
        end.wait()
        rates.append(len(texts) / (time.perf_counter() - begun))
    for process in processes:
        process.join()
    return rates


def main(values: int = 4096, rounds: int = 5) -> dict[str, Any]:
    """The medians of both, and their ratio; they take turns, as the machine may have other work."""
    texts = [number.to_bytes(16, "big") for number in range(values)]
    rates: dict[int, list[float]] = {1: [], WORKERS: []}
    with served() as where:
        for _ in range(2):
            for workers, all_of_it in rates.items():
                all_of_it += measured(where, texts, workers, rounds)
    one, many = (statistics.median(rates[workers]) for workers in (1, WORKERS))
    spread = {str(workers): [round(rate) for rate in sorted(some)] for workers, some in rates.items()}
    return {"one_per_second": one, "eight_per_second": many, "ratio": many / one, "rates": spread}


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:])), indent=1))
