"""A Parquet column encrypted by eight tasks of Ray Data, decrypted by them, and compared.

python ray_column.py CONFIG IDENTITY KEY SOURCE FOLDER: the column `name` of SOURCE, into FOLDER.
"""

import sys
from typing import Any

import pyarrow
import ray

import divisi


def changed(part: pyarrow.Table, kind: pyarrow.DataType, **how: Any) -> pyarrow.Table:
    """What a worker does with its part: names and paths came with the task, and it connects once."""
    column = pyarrow.array(divisi.map(part["name"], **how), kind)
    return part.set_column(part.schema.get_field_index("name"), "name", column)


def main(config: str, identity: str, key: str, source: str, folder: str) -> int:
    """Encrypt, decrypt and compare; the number of values."""
    how = {"keys": key, "connect": {"config": config, "identity": identity}, "encoding": "utf-8"}
    options: dict[str, Any] = {"batch_size": 256, "batch_format": "pyarrow", "concurrency": 8}
    ray.init(num_cpus=8, include_dashboard=False)
    plain, sealed = ray.data.read_parquet(source).repartition(8), f"{folder}/sealed"
    encrypts = {"operation": "encrypt", "kind": pyarrow.binary(), **how}
    plain.map_batches(changed, fn_kwargs=encrypts, **options).write_parquet(sealed)
    decrypts = {"operation": "decrypt", "kind": pyarrow.string(), **how}
    again = ray.data.read_parquet(sealed).repartition(8)
    opened = again.map_batches(changed, fn_kwargs=decrypts, **options)
    both = [{row["id"]: row["name"] for row in rows.take_all()} for rows in (plain, opened)]
    ray.shutdown()
    if both[0] != both[1]:
        raise SystemExit("the decrypted column differs from the first one")
    return len(both[0])


if __name__ == "__main__":
    print(f"{main(*sys.argv[1:])} values encrypted, decrypted and equal")
