"""A circuit of one's own among four parties who trust nobody: a sealed auction.

Each party bids. All learn who bids most, and what he pays: the second highest bid. Nobody learns another bid,
though three of the four be corrupt. The circuit is text in Bristol Fashion, which this program writes.
"""

from __future__ import annotations

from typing import Any

import divisi

BIDDERS = 4
BITS = 8

Wires = list[int]


class Gates:
    """Writes gates; a value is the list of its wires, the lowest bit first."""

    def __init__(self, widths: list[int]) -> None:
        self.widths, self.lines, self.wires = widths, list[str](), sum(widths)

    def gate(self, kind: str, *inputs: int) -> int:
        """One gate; its output wire."""
        self.lines.append(f"{len(inputs)} 1 {' '.join(map(str, inputs))} {self.wires} {kind}")
        self.wires += 1
        return self.wires - 1

    def choose(self, which: int, one: Wires, other: Wires) -> Wires:
        """`one` if the bit is set, else `other`: one AND a bit."""
        differ = [self.gate("XOR", a, b) for a, b in zip(one, other, strict=True)]
        return [self.gate("XOR", b, self.gate("AND", which, d)) for b, d in zip(other, differ, strict=True)]

    def greater(self, one: Wires, other: Wires) -> int:
        """Whether `one` is the greater number: the highest bit that differs decides."""
        answer = self.gate("XOR", one[0], one[0])
        for a, b in zip(one, other, strict=True):
            [answer] = self.choose(self.gate("XOR", a, b), [a], [answer])
        return answer

    def text(self, outputs: list[Wires]) -> str:
        """The circuit. Its outputs have to be its last wires, each by a gate of its own."""
        zero = self.gate("XOR", 0, 0)
        for wires in outputs:
            for wire in wires:
                self.gate("XOR", wire, zero)
        head = [f"{len(self.lines)} {self.wires}"]
        head += [" ".join(map(str, [len(self.widths), *self.widths]))]
        head += [" ".join(map(str, [len(outputs), *map(len, outputs)])), ""]
        return "\n".join([*head, *self.lines]) + "\n"


def auction() -> divisi.Circuit:
    """The number of the winner, counted from zero, and the second highest bid. The first of equals wins."""
    gates = Gates([BITS] * BIDDERS)
    bids = [list(range(BITS * who, BITS * (who + 1))) for who in range(BIDDERS)]
    zero = gates.gate("XOR", 0, 0)
    bit = [zero, gates.gate("INV", zero)]
    most, second, winner = bids[0], [zero] * BITS, [zero, zero]
    for who, bid in enumerate(bids[1:], 1):
        more = gates.greater(bid, most)
        loser = gates.choose(more, most, bid)
        most = gates.choose(more, bid, most)
        second = gates.choose(gates.greater(loser, second), loser, second)
        winner = gates.choose(more, [bit[who & 1], bit[who >> 1]], winner)
    return divisi.Circuit.from_text(gates.text([winner, second]))


def main(bids: list[int]) -> tuple[int, int, dict[str, Any]]:
    """Who wins, numbered from 1, what he pays, and what the run cost."""
    inputs = [(who, f"{bid:02x}") for who, bid in enumerate(bids, 1)]
    report = divisi.run(auction(), inputs=inputs, engine="garble", parties=BIDDERS)
    winner, price = (int(value, 16) for value in report["outputs"])
    return winner + 1, price, report


if __name__ == "__main__":
    winner, price, report = main([31, 47, 62, 38])
    print(f"party {winner} wins, and pays {price}; {report['security']}, among {report['parties']}")
