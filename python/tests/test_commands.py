"""Engines, circuits, programs and benchmarks, as data."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import divisi

# x and y of two bits each, and whether they are equal, in Bristol Fashion
EQUAL = """5 9
2 2 2
1 1

2 1 0 2 4 XOR
2 1 1 3 5 XOR
1 1 4 6 INV
1 1 5 7 INV
2 1 6 7 8 AND
"""


def aes(key: bytes, block: bytes) -> str:
    """A block by an ordinary library."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return (cipher.update(block) + cipher.finalize()).hex()


def test_each_engine_of_the_registry_runs_a_circuit() -> None:
    key, block = bytes(range(16)), bytes(range(16, 32))
    engines = divisi.engines()
    assert {"rep3", "garble", "spdz", "mixed"} <= {engine["name"] for engine in engines}
    for engine in engines:
        assert engine["least_parties"] <= engine["most_parties"] and isinstance(engine["options"], list)
        if "circuits" not in engine["jobs"]:
            continue
        parties = engine["least_parties"]
        owners = (1, min(2, parties))
        report = divisi.run(
            "aes128", inputs=[(owners[0], key.hex()), (owners[1], block)], engine=engine["name"], parties=parties
        )
        assert report["outputs"] == [aes(key, block)], engine["name"]
        assert (report["engine"], report["parties"]) == (engine["name"], parties)


def test_circuits_by_name_file_and_text(tmp_path: Path) -> None:
    assert divisi.Circuit("aes128").info()["and"] == 6400
    text = b"abc"
    circuit = divisi.Circuit("sha256:3")
    assert circuit.eval([text]) == [hashlib.sha256(text).hexdigest()]
    path = tmp_path / "equal.txt"
    path.write_text(EQUAL)
    for equal in [divisi.Circuit(path), divisi.Circuit.from_text(EQUAL)]:
        assert equal.info()["and"] == 1 and equal.info()["inputs"] == [2, 2]
        assert equal.eval(["2", "2"]) == ["1"] and equal.eval(["2", "1"]) == ["0"]
        report = divisi.run(equal, inputs=[(1, "3"), (2, "3")], engine="garble", parties=2, output="2")
        assert report["outputs"] == ["1"] and report["receivers"] == [[2]]
    assert repr(divisi.Circuit("aes128")) == "divisi.Circuit('aes128')"


def test_programs_by_their_inputs() -> None:
    nearest = divisi.Program("biomatch")
    info = nearest.info()
    assert info["security"] == "semi-honest"
    shapes = {each["name"]: each["shape"] for each in info["inputs"]}
    inputs = {name: numpy.ones(shape or [1], dtype=numpy.int64) for name, shape in shapes.items()}
    clear = nearest.eval(inputs)
    assert clear
    with pytest.raises(TypeError, match="no whole numbers"):
        nearest.eval({name: 0.5 for name in shapes})


def test_a_program_of_text_runs_among_parties() -> None:
    text = (
        "divisi program 1\n"
        "input x 1 num 4 in 0..99\n"
        "input y 2 num 4 in 0..99\n"
        "p = mul x y\n"
        "output p 1,2\n"
    )
    product = divisi.Program.from_text(text)
    expected = product.eval({"x": [3, 1, 4, 1], "y": [2, 7, 1, 8]})
    assert expected == {"p": [6, 7, 4, 8]}
    inputs = {"x": [[3, 1], [4, 1]], "y": numpy.array([2, 7, 1, 8])}
    report = divisi.program(product, inputs=inputs, parties=2)
    assert report["outputs"] == expected and report["engine"] == "mixed"


def test_a_benchmark_is_a_dict_or_records() -> None:
    options: dict[str, Any] = {"blocks": 64, "reps": 2, "warmup": 0, "security": "semi-honest"}
    report = divisi.bench("aes", **options)
    assert report["checked"] and report["count"] == 64 and report["security"] == "semi-honest"
    records = divisi.bench("aes", records=True, **options)
    assert [record["phase_name"] for record in records] == [phase["name"] for phase in report["phases"]]
    for record in records:
        assert record["engine"] == "rep3" and "calibration_clmul_ns" in record
        assert not any(isinstance(value, dict | list) for value in record.values())
    serving = divisi.bench("serve", clients=2, seconds=0.5, records=True)
    assert [record["kind"] for record in serving] == ["one-block"] and serving[0]["kind_count"] > 0


def test_mistakes_are_told_in_the_words_of_python() -> None:
    with pytest.raises(divisi.UsageError) as raised:
        divisi.run("aes128", inputs=[(1, "00")])
    assert "--" not in str(raised.value) and raised.value.kind == "usage"
    wrong: list[Callable[[], object]] = [
        lambda: divisi.run("nothing", inputs=[]),
        lambda: divisi.run("aes128", inputs=[(1, "@/etc/hostname"), (2, "-")]),
        lambda: divisi.run("aes128", inputs=[(1, bytes(16)), (9, bytes(16))]),
        lambda: divisi.run("aes128", inputs=[(1, bytes(16)), (2, bytes(16))], engine="none"),
        lambda: divisi.run("aes128", inputs=[(1, bytes(16)), (2, bytes(16))], colour="red"),
        lambda: divisi.bench("nothing"),
        lambda: divisi.bench("aes", engine="garble", parties=200),
        lambda: divisi.command("party", "run"),
        lambda: divisi.command("server", "--party", "1"),
        lambda: divisi.Circuit.from_text("no circuit").info(),
    ]
    for call in wrong:
        with pytest.raises(divisi.UsageError) as raised:
            call()
        assert "panicked" not in str(raised.value) and str(raised.value)[-1] != "\n"
    with pytest.raises(TypeError, match="give \\(owner, value\\)"):
        divisi.run("aes128", inputs=["00"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="hexadecimal digits as str, or bytes"):
        divisi.Circuit("aes128").eval([7])  # type: ignore[list-item]


def test_the_command_line_is_there(tmp_path: Path) -> None:
    def said(*words: str) -> subprocess.CompletedProcess[str]:
        run = [sys.executable, "-m", "divisi", *words]
        return subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert said("--version").stdout == f"divisi {divisi.__version__}\n"
    engines = json.loads(said("engines", "--json").stdout)["engines"]
    assert engines == divisi.engines()
    wrong = said("encrypt")
    assert wrong.returncode == 2 and wrong.stderr.startswith("divisi: ")
    script = Path(sys.executable).parent / "divisi"
    done = subprocess.run([script, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


@pytest.mark.parametrize("without", [(), ("numpy",), ("numpy", "cryptography")])
def test_the_demonstration(without: tuple[str, ...]) -> None:
    code = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    code += "from divisi import demo\nsys.exit(demo.main())\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert ("ordinary library" in done.stdout) == ("cryptography" not in without)
    assert "online" in done.stdout and "all outputs checked" in done.stdout
    for name in without:
        assert f"pip install {name}" in done.stdout
