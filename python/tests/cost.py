"""What Python adds to Rust: `python -m tests.cost PROGRAM [MB [ROUNDS [BLOCKS]]]`, as docs/python.md has it.

PROGRAM is `divisi` of the same build (`cargo build --release`). It and this process take turns, so that
whatever else the machine does slows both: an array of so many megabytes is encrypted and decrypted by the
same three servers, a process of their own, and `bench aes` measures so many blocks. The seconds of the
client's processor say the same where the machine is busy. A call that the client itself refuses costs what
Python adds to each call, and a little more. The memory is what encryption took beyond the array and its
result.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

import divisi
from divisi._commands import Json

from .many_workers import served

REFUSED = 2000


def answered(program: str, *words: str) -> Json:
    """The JSON of the program, as a process of its own."""
    run = subprocess.run([program, *words, "--json"], capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr.decode())
    answer: Json = json.loads(run.stdout)
    return answer


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def used(who: int) -> float:
    """Seconds of the processor that this process, or those that it waited for, have used."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def refused(client: divisi.Client, key: divisi.Key) -> float:
    """Seconds of a call that sends nothing."""

    def calls() -> None:
        for _ in range(REFUSED):
            try:
                client.decrypt(key, b"")
            except divisi.UsageError:
                continue
            raise AssertionError("nothing was decrypted")

    return seconds(calls) / REFUSED


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def compared(rust: list[float], python: list[float]) -> Json:
    """The medians of both, and that of the ratios of neighbours."""
    ratios = [mine / other for mine, other in zip(python, rust, strict=True)]
    return {
        "rust": statistics.median(rust),
        "python": statistics.median(python),
        "ratio": statistics.median(ratios),
        "ratios": sorted(round(ratio, 3) for ratio in ratios),
    }


def main(program: str, megabytes: float = 100, rounds: int = 3, blocks: int = 100_000) -> Json:
    """All of it."""
    measured = (*WHAT, *CPU)
    times: dict[str, list[float]] = {f"{who} {what}": [] for who in ("rust", "python") for what in measured}

    def timed(what: str, words: list[str], work: Callable[[], object]) -> None:
        before = used(resource.RUSAGE_CHILDREN)
        times[f"rust {what}"].append(answered(program, what, *words)["seconds"])
        times[f"rust {what} cpu"].append(used(resource.RUSAGE_CHILDREN) - before)
        before = used(resource.RUSAGE_SELF)
        times[f"python {what}"].append(seconds(work))
        times[f"python {what} cpu"].append(used(resource.RUSAGE_SELF) - before)

    data: Any = numpy.frombuffer(os.urandom(int(megabytes * 1e6)), dtype=numpy.uint8)
    options: dict[str, Any] = {"blocks": blocks, "reps": 3, "warmup": 1, "security": "semi-honest"}
    flags = [f"--{name}={value}" for name, value in options.items()]
    with tempfile.TemporaryDirectory() as folder, served() as where:
        plain, sealed, back = (str(Path(folder, name)) for name in ("plain", "sealed", "back"))
        data.tofile(plain)
        files = ["--key", "column", "--config", where["config"], "--identity", where["identity"]]
        with divisi.connect(**where) as client:
            key = client.key("column")
            call = min(refused(client, key) for _ in range(5))
            client.encrypt(key, data[:1000])
            before = resident()
            made: Any = client.encrypt(key, data)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before - made.nbytes
            for _ in range(rounds):
                into = ["--in", plain, "--out", sealed, *files]
                timed("encrypt", into, lambda: client.encrypt(key, data))
                into = ["--in", sealed, "--out", back, *files]
                opened: list[Any] = []
                timed("decrypt", into, lambda: opened.append(client.decrypt(key, made)))
                assert (opened[0] == data).all()
                rust, python = answered(program, "bench", "aes", *flags), divisi.bench("aes", **options)
                times["rust bench"].append(1 / rust["online_per_second"])
                times["python bench"].append(1 / python["online_per_second"])
    report: Json = {what: compared(times[f"rust {what}"], times[f"python {what}"]) for what in measured}
    return {"megabytes": megabytes, **report, "refused_call_us": call * 1e6, "memory_mib": memory / 2**20}


WHAT = ("encrypt", "decrypt", "bench")
CPU = ("encrypt cpu", "decrypt cpu")

if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], *map(int, sys.argv[2:])), indent=1))
