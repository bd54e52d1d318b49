"""What Python adds to Rust is next to nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from . import cost
from .conftest import LONG


def test_a_small_run_of_the_measurement(tmp_path: Path) -> None:
    # the command line of the wheel stands for the program of the same build
    program = tmp_path / "divisi"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m divisi "$@"\n')
    program.chmod(0o755)
    measured = cost.main(str(program), megabytes=0.01, rounds=1, blocks=100)
    assert all(measured[what]["rust"] > 0 and measured[what]["python"] > 0 for what in cost.WHAT)
    assert 0 < measured["refused_call_us"] < 1000


@pytest.mark.skipif(
    not LONG or "DIVISI_PROGRAM" not in os.environ,
    reason="DIVISI_LONG=1 measures, beside the program DIVISI_PROGRAM: the machine has to be quiet",
)
def test_python_takes_as_long_as_rust() -> None:
    measured = cost.main(os.environ["DIVISI_PROGRAM"], megabytes=20)
    assert all(measured[what]["ratio"] <= 1.05 for what in cost.WHAT), measured
    assert measured["refused_call_us"] <= 50 and measured["memory_mib"] <= 64, measured
