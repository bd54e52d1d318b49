"""Two circuits of one protocol compared at three round-trip times, and drawn.

python three_rtts.py FILE: a PNG or SVG. The one circuit has fewer rounds, the other sends fewer bits: what is
faster depends on the network.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import pandas

import divisi

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402 (no display is needed)

RTTS = [1, 10, 40]
PRIORITIES = ["online-throughput", "low-latency"]


def measure(blocks: int = 64) -> pandas.DataFrame:
    """A row for each circuit and round-trip time: what the online phase of AES-128 takes."""
    rows = []
    for priority in PRIORITIES:
        for rtt in RTTS:
            report = divisi.bench(
                "aes", priority=priority, rtt=rtt, blocks=blocks, reps=3, warmup=0, security="semi-honest"
            )
            online = next(phase for phase in report["phases"] if phase["name"] == "online")
            rows.append({"priority": priority, "rtt": rtt, **online})
    return pandas.DataFrame(rows)


def draw(measured: pandas.DataFrame, file: Path) -> None:
    """Milliseconds over round-trip times, and the spread of the repetitions."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for priority, rows in measured.groupby("priority", sort=False):
        label = f"{priority}: {rows['rounds'].iloc[0]} rounds"
        axes.plot(rows["rtt"], rows["seconds"] * 1e3, marker="o", label=label, gid=priority)
    axes.set(xscale="log", yscale="log", xlabel="round-trip time, ms", ylabel="online, ms")
    axes.set_title("AES-128 among three parties")
    axes.legend()
    figure.savefig(file)
    plt.close(figure)


def main(file: Path) -> pandas.DataFrame:
    """Measure and draw."""
    measured = measure()
    draw(measured, file)
    return measured


if __name__ == "__main__":
    print(main(Path(sys.argv[1]))[["priority", "rtt", "rounds", "seconds"]].to_string(index=False))
