"""Logs of any size in constant memory: the few lines that matter, with their numbers, at the speed of a search.

A chunk is searched for short byte strings (a memory search in C); only a line that holds one is cut out, and only
such lines are ever decoded or matched by an expression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

CHUNK = 1 << 22
# A line may hold megabytes of progress bar; what is wanted stands in the first part of a line.
MAX_LINE = 1 << 16


def interesting_lines(
    path: Path, needles: tuple[bytes, ...], progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line without its end) of every line that holds one of `needles`.

    `progress` is told the number of bytes of each chunk. Memory: one chunk and one line, whatever the file's size.
    """
    with path.open("rb") as file:
        lines_before, rest = 0, b""
        while chunk := file.read(CHUNK):
            if progress:
                progress(len(chunk))
            block = rest + chunk
            end = block.rfind(b"\n") + 1
            if not end and len(block) < 2 * CHUNK:
                rest = block
                continue
            # A single line beyond 2 chunks is cut: its rest counts as the same line.
            block, rest = (block[:end], block[end:]) if end else (block, b"")
            yield from _in_block(block, needles, lines_before)
            lines_before += block.count(b"\n")
        if rest:
            yield from _in_block(rest, needles, lines_before)


def _in_block(block: bytes, needles: tuple[bytes, ...], lines_before: int) -> Iterator[tuple[int, bytes]]:
    starts: set[int] = set()
    for needle in needles:
        at = block.find(needle)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            end = block.find(b"\n", at)
            at = block.find(needle, end) if end >= 0 else -1
    line, counted = lines_before + 1, 0
    for start in sorted(starts):
        line += block.count(b"\n", counted, start)
        counted = start
        end = block.find(b"\n", start)
        yield line, block[start : min(end if end >= 0 else len(block), start + MAX_LINE)].rstrip(b"\r")


def median(counts: Counter[Decimal]) -> Decimal:
    """The median of values with their counts; of an even number, the mean of the two in the middle."""
    total, below, low = counts.total(), 0, None
    for value in sorted(counts):
        below += counts[value]
        if low is None and 2 * below >= total:
            low = value
        if 2 * below > total:
            assert low is not None
            return low if low == value else (low + value) / 2
    raise ValueError("no values")
