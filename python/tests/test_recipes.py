"""Recipes for many workers, run as their users run them; and a worker of Dask that is killed."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from distributed import Client, LocalCluster

import divisi

FOLDER = Path(__file__).parent.parent / "recipes"
VALUE = bytes(range(32))


@pytest.fixture(scope="module")
def servers() -> Iterator[divisi.LocalServers]:
    """Servers of these tests alone: clients of other tests keep connections of an identity open."""
    with divisi.local_servers() as servers:
        yield servers


@pytest.fixture(scope="module")
def key(servers: divisi.LocalServers) -> divisi.Key:
    """A key of AES-GCM whose value a test may see."""
    with servers.connect(patience=60, timeout=60) as client:
        return client.import_key("column", VALUE, "aes-256")


def test_recipes_are_at_most_40_lines() -> None:
    lengths = {file.name: len(file.read_text().splitlines()) for file in FOLDER.glob("*.py")}
    assert set(lengths) == {"dask_column.py", "ray_column.py"} and max(lengths.values()) <= 40, lengths


def people(file: Path, count: int) -> list[str | None]:
    """A Parquet file with a column of names, some of them null, in sixteen row groups."""
    draw = random.Random(7)
    names = [None if draw.random() < 0.1 else f"Zoë {draw.randrange(10**6)}" for _ in range(count)]
    born = [1900 + n % 100 for n in range(count)]
    table = pyarrow.table({"id": list(range(count)), "name": names, "born": born})
    pyarrow.parquet.write_table(table, file, row_group_size=-(-count // 16))
    return names


@pytest.mark.parametrize("recipe", ["dask_column", "ray_column"])
def test_eight_workers_encrypt_a_column(
    recipe: str, servers: divisi.LocalServers, key: divisi.Key, tmp_path: Path
) -> None:
    wanted = os.environ.get("DIVISI_RAY") == "1"
    if recipe == "ray_column" and not wanted and importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: `just python-long` installs it and runs this")
    names = people(tmp_path / "people.parquet", 800)
    run = [sys.executable, "-B", str(FOLDER / f"{recipe}.py"), servers.config, servers.identity, key.name]
    run += [str(tmp_path / "people.parquet"), str(tmp_path)]
    quiet = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        run, capture_output=True, text=True, timeout=540, check=False, cwd=tmp_path, env=quiet
    )
    assert done.returncode == 0, done
    assert done.stdout.endswith("800 values encrypted, decrypted and equal\n"), done
    # what lies there is opened by another library, and nothing else of the table has changed
    sealed = pyarrow.parquet.read_table(tmp_path / "sealed").sort_by("id")
    box, lies = AESGCM(VALUE), sealed["name"].to_pylist()
    assert [None if one is None else box.decrypt(one[:12], one[12:], None).decode() for one in lies] == names
    assert len({one[:12] for one in lies if one is not None}) == sum(name is not None for name in names)
    assert sealed["born"].to_pylist() == [1900 + n % 100 for n in range(800)]


def test_what_pandas_and_pyarrow_call_null_is_null(servers: divisi.LocalServers, key: divisi.Key) -> None:
    where: dict[str, Any] = {"config": servers.config, "identity": servers.identity, "patience": 60}
    column: list[str | None] = ["Ada", None, "", "Émilie"]
    columns = [
        pandas.Series(column),
        pandas.Series(column, dtype="object"),
        pandas.Series(column, dtype="string[pyarrow]"),
        pandas.Series(column, dtype=pandas.ArrowDtype(pyarrow.string())),
        pandas.Series(["Ada", pandas.NaT, "", "Émilie"], dtype="object"),
        pandas.Series(column, index=[3, 1, 1, 0]),
        pyarrow.array(column),
        pyarrow.chunked_array([column[:1], column[1:]], pyarrow.large_string()),
    ]
    for one in columns:
        sealed = divisi.map(one, keys="column", connect=where, encoding="utf-8")
        for kind in [pandas.Series(sealed), pyarrow.array(sealed, pyarrow.binary())]:
            again = divisi.map(kind, keys="column", connect=where, operation="decrypt", encoding="utf-8")
            assert again == column, one
    for table in [pandas.DataFrame({"name": column}), pyarrow.table({"name": column})]:
        with pytest.raises(TypeError, match="give one column"):
            divisi.map(table, keys="column", connect=where, encoding="utf-8")


def encrypt_and_say(part: list[bytes], number: int, log: str, where: dict[str, Any]) -> list[bytes | None]:
    """What a worker does; first it says in a file that it begins this part, last what it has made."""
    with open(log, "a") as file:
        file.write(f"{os.getpid()} {number} begins\n")
    first = divisi.map(part[:2], keys="column", connect=where)
    with open(log, "a") as file:
        file.write(f"{os.getpid()} {number} {' '.join(one.hex() for one in first if one is not None)}\n")
    if os.path.exists(f"{log}.hold"):
        # until it is killed, or the test goes on
        time.sleep(0.2)
    return first + divisi.map(part[2:], keys="column", connect=where)


def test_dask_repeats_the_part_of_a_worker_that_is_killed(
    servers: divisi.LocalServers, key: divisi.Key, tmp_path: Path
) -> None:
    where = {"config": servers.config, "identity": servers.identity, "patience": 60, "timeout": 60}
    texts = [f"value {number}".encode() for number in range(96)]
    parts = [texts[begin : begin + 12] for begin in range(0, 96, 12)]
    log, hold = tmp_path / "log", tmp_path / "log.hold"
    hold.touch()

    def said() -> list[list[str]]:
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as workers,
    ):
        futures = [
            workers.submit(encrypt_and_say, part, number, str(log), where, pure=False, retries=2)
            for number, part in enumerate(parts)
        ]
        until = time.monotonic() + 200
        while (halves := [line for line in said() if line[2] != "begins"]) == []:
            assert time.monotonic() < until
            time.sleep(0.01)
        process = int(halves[0][0])
        os.kill(process, signal.SIGKILL)
        hold.unlink()
        done = [future.result(timeout=200) for future in futures]
    box = AESGCM(VALUE)
    assert [box.decrypt(one[:12], one[12:], None) for part in done for one in part] == texts
    begun = [(int(line[0]), int(line[1])) for line in said() if line[2] == "begins"]
    often = {number: sum(other == number for _, other in begun) for number in range(8)}
    # what a worker holds when it is killed is done again: its part, and results that nobody has fetched
    twice = {number for number, times in often.items() if times == 2}
    assert twice and set(often.values()) == {1, 2}
    assert twice <= {number for who, number in begun if who == process}
    # nothing is used twice: also what was thrown away has other IVs
    made = [bytes.fromhex(one)[:12] for line in said() if line[2] != "begins" for one in line[2:]]
    kept = [one[:12] for part in done for one in part]
    assert len(set(made)) == len(made) and len(set(kept)) == len(kept)
    assert len(set(made) - set(kept)) == len(made) - 2 * len(parts)
