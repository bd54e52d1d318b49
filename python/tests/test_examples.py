"""What the examples compute, compared with what is known otherwise."""

from __future__ import annotations

import importlib.util
import itertools
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pandas
import pytest
from nbclient import NotebookClient

import divisi

FOLDER = Path(__file__).parent.parent / "examples"


def example(name: str) -> Any:
    """The module of an example, which is in no package."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_example_has_a_test() -> None:
    tested = {name.removeprefix("test_example_") for name in globals() if name.startswith("test_example_")}
    assert tested == {file.stem for file in FOLDER.iterdir() if file.suffix in (".py", ".ipynb")}


def test_example_column() -> None:
    module = example("column")
    lies, reads = module.main()
    assert reads == module.NAMES and None in reads
    for sealed, name in zip(lies, reads, strict=True):
        assert (sealed is None) is (name is None)
        if name is not None:
            assert len(sealed) == 28 + len(name.encode()) and (not name or name.encode() not in sealed)
    # the same name twice is two ciphertexts
    assert reads[0] == reads[5] and lies[0] != lies[5]


def test_example_join_by_tokens() -> None:
    module = example("join_by_tokens")
    shown, joined = module.main()
    tables = (module.CLINIC, module.INSURER)
    clear = [table.assign(name=table["name"].map(module.one_way)) for table in tables]
    expected = clear[0].merge(clear[1], on="name")
    columns = ["diagnosis", "premium"]
    assert sorted(joined[columns].values.tolist()) == sorted(expected[columns].values.tolist())
    assert len(joined) == 3
    names = {word for table in clear for name in table["name"] for word in name.split()}
    for table in shown:
        text = table.to_csv().casefold()
        assert not [name for name in names if name in text] and "name" not in table.columns
        assert table["token"].is_monotonic_increasing and table["token"].str.len().eq(64).all()


def test_example_three_rtts(tmp_path: Path) -> None:
    module = example("three_rtts")
    measured: pandas.DataFrame = module.measure(blocks=4)
    assert len(measured) == 6
    for row in measured.to_dict("records"):
        # a round takes half a round-trip time
        assert row["seconds"] * 1e3 >= row["rounds"] * row["rtt"] / 2, row
    rounds = measured.groupby("priority")["rounds"].unique().to_dict()
    [many], [few] = rounds["online-throughput"], rounds["low-latency"]
    assert few < many
    slowest = measured[measured["rtt"] == max(module.RTTS)].set_index("priority")["seconds"]
    assert slowest["low-latency"] < slowest["online-throughput"]
    module.draw(measured, tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG\r\n")
    module.draw(measured, tmp_path / "drawn.svg")
    svg = "{http://www.w3.org/2000/svg}"
    groups = ElementTree.parse(tmp_path / "drawn.svg").iter(f"{svg}g")
    lines = {group.get("id"): group for group in groups if group.get("id") in module.PRIORITIES}
    # a mark for each measurement
    assert {name: len(list(line.iter(f"{svg}use"))) for name, line in lines.items()} == {
        name: 3 for name in module.PRIORITIES
    }


def sold(bids: list[int]) -> tuple[int, int]:
    """Who wins, from 1, and what he pays."""
    return bids.index(max(bids)) + 1, sorted(bids)[-2]


def test_example_circuit_among_four() -> None:
    module = example("circuit_among_four")
    circuit: divisi.Circuit = module.auction()
    info = circuit.info()
    assert info["inputs"] == [8] * 4 and info["outputs"] == [2, 8]
    draw = random.Random(4)
    some = [[draw.randrange(256) for _ in range(4)] for _ in range(10)]
    some += [[0, 0, 0, 0], [255, 255, 255, 255], [7, 7, 3, 7]]
    some += [list(bids) for bids in itertools.permutations([1, 2, 3, 9])]
    for bids in some:
        winner, price = (int(value, 16) for value in circuit.eval([f"{bid:02x}" for bid in bids]))
        assert (winner + 1, price) == sold(bids), bids
    winner, price, report = module.main([31, 47, 62, 47])
    assert (winner, price) == sold([31, 47, 62, 47]) and report["parties"] == 4
    assert report["security"] == "malicious" and report["engine"] == "garble"


def test_example_notebook() -> None:
    notebook = nbformat.read(FOLDER / "notebook.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells), "clear its outputs"
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    text = "".join(output.get("text", "") for output in outputs)
    assert text.startswith("mismatch: ") and text.endswith("done\n")
    shown = [output.data.get("text/plain", "") for output in outputs if "data" in output]
    assert "<divisi.Key 'readings' of type aes-256, active>" in shown
    assert "(dtype('uint8'), 28, 80000)" in shown and "['Ada', None, 'Grace', 'Émilie']" in shown
    assert [output for output in outputs if "data" in output and "image/png" in output.data]


@pytest.mark.parametrize("name", [file.stem for file in FOLDER.glob("*.py")])
def test_examples_are_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text().splitlines()) <= 120
