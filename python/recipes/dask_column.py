"""A Parquet column encrypted by eight Dask workers, decrypted by them, and compared.

python dask_column.py CONFIG IDENTITY KEY SOURCE FOLDER: the column `name` of SOURCE, into FOLDER.
"""

import sys
from typing import Any

import dask.dataframe as dd
import pandas
import pyarrow
from dask.distributed import Client, LocalCluster

import divisi


def changed(part: pandas.DataFrame, **how: Any) -> pandas.DataFrame:
    """What a worker does with its part: names and paths came with the task, and it connects once."""
    return part.assign(name=divisi.map(part["name"], **how))


def main(config: str, identity: str, key: str, source: str, folder: str) -> int:
    """Encrypt, decrypt and compare; the number of values."""
    how = {"keys": key, "connect": {"config": config, "identity": identity}, "encoding": "utf-8"}
    # one thread each: the worker's time is spent in the servers, which compute for all workers together
    with LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        plain = dd.read_parquet(source, split_row_groups=True)
        sealed = plain.map_partitions(changed, operation="encrypt", meta=plain, **how)
        sealed.to_parquet(f"{folder}/sealed", schema={"name": pyarrow.binary()})
        sealed = dd.read_parquet(f"{folder}/sealed")
        opened = sealed.map_partitions(changed, operation="decrypt", meta=sealed, **how)
        names, again = plain["name"].compute(), opened["name"].compute()
    both = [column.astype(object).where(column.notna(), None).tolist() for column in (names, again)]
    if both[0] != both[1]:
        raise SystemExit("the decrypted column differs from the first one")
    return len(names)


if __name__ == "__main__":
    print(f"{main(*sys.argv[1:])} values encrypted, decrypted and equal")
