"""Logs of any size in constant memory: the few lines that matter, at the speed of a memory search.

A block is searched for byte strings in C; only a line that holds one is cut out, and only such lines are ever decoded
or matched by an expression. Each needle costs a pass over the block, and a long one costs less than a short one, so the
lines of a server's start are only searched for near a start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

BLOCK = 1 << 20
# A line may hold megabytes of progress bar; what is wanted stands in the first part of a line.
MAX_LINE = 1 << 16
# How far behind the log's beginning, or behind a `mark`, the lines of a server's start are looked for.
START_BYTES = 1 << 26


@dataclass(frozen=True)
class Needles:
    """What makes a line interesting: anywhere; or, for `start`, within START_BYTES of the beginning or of `mark`."""

    anywhere: tuple[bytes, ...]
    start: tuple[bytes, ...]
    mark: bytes


def interesting_lines(
    path: Path, needles: Needles, progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """(offset in bytes, line without its end) of every interesting line.

    `progress` is told the number of bytes of each block. Memory: a few blocks, whatever the file's size.
    """
    # One buffer for the whole file: allocating a block for each read would cost as much as searching it.
    buffer = bytearray(4 * BLOCK)
    view = memoryview(buffer)
    offset, kept, start_until = 0, 0, START_BYTES
    with path.open("rb", buffering=0) as file:
        while True:
            read = file.readinto(view[kept : kept + BLOCK]) or 0
            if progress:
                progress(read)
            filled = kept + read
            end = buffer.rfind(b"\n", 0, filled) + 1
            if read and not end and filled + BLOCK <= len(buffer):
                kept = filled
                continue
            # The last line may lack its end; a line that fills the buffer is cut into several.
            end = end if read and end else filled
            near = offset < start_until
            lines = _in_block(buffer, end, needles.anywhere + (needles.start if near else ()))
            if any(needles.mark in line for _, line in lines):
                start_until = offset + end + START_BYTES
                if not near:
                    lines = _in_block(buffer, end, needles.anywhere + needles.start)
            yield from ((offset + start, line) for start, line in lines)
            kept, offset = filled - end, offset + end
            view[:kept] = bytes(view[end:filled])
            if not read:
                return


def _in_block(block: bytearray, size: int, needles: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
    starts: set[int] = set()
    for needle in needles:
        at = block.find(needle, 0, size)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            end = block.find(b"\n", at, size)
            at = block.find(needle, end, size) if end >= 0 else -1
    lines = []
    for start in sorted(starts):
        end = block.find(b"\n", start, size)
        end = min(end if end >= 0 else size, start + MAX_LINE)
        lines.append((start, bytes(block[start:end]).rstrip(b"\r")))
    return lines


class LineNumbers:
    """Line numbers of rising offsets. Only the few places that a manifest names are counted for."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._line = path, 0, 1

    def at(self, offset: int) -> int:
        """The line number, from 1, of the line that starts at `offset`."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while self._offset < offset and (block := file.read(min(BLOCK, offset - self._offset))):
                self._line += block.count(b"\n")
                self._offset += len(block)
        return self._line


def median(counts: Counter[Decimal]) -> Decimal:
    """The median of values with their counts; of an even number, the mean of the two in the middle."""
    total, below, low = counts.total(), 0, None
    for value in sorted(counts):
        below += counts[value]
        if low is None and 2 * below >= total:
            low = value
        if low is not None and 2 * below > total:
            return (low + value) / 2 if low != value else value
    raise ValueError("no values")
