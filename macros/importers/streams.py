"""Logs of any size in constant memory, at the speed of a memory search.

A block is searched for byte strings in C. What stands on many lines is then taken by one expression over the block, so
that such a line costs no step of Python; the few lines of a server's start are cut out one by one. Each byte string
costs a pass over the block, and a long one costs less than a short one, so the lines of a start are only searched for
near a start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Small enough to stay in a processor's cache for all passes over it.
BLOCK = 1 << 18
# A line may hold megabytes of progress bar; what is wanted stands in the first part of a line.
MAX_LINE = 1 << 16
# How far behind the log's beginning, or behind a `mark`, the lines of a server's start are looked for.
START_BYTES = 1 << 26


@dataclass(frozen=True)
class Block:
    """Whole lines: data[:size], the first of them `offset` bytes into the file. Valid until the next block is read."""

    data: bytearray
    size: int
    offset: int

    def count(self, needle: bytes) -> int:
        return self.data.count(needle, 0, self.size)

    def find_all(self, needle: bytes, pattern: re.Pattern[bytes]) -> list[tuple[bytes, ...]]:
        """The groups of every match. `pattern` has two groups or more; each match's line holds `needle`.

        Looking for the needle first makes a block without one several times as fast.
        """
        at = self.data.find(needle, 0, self.size)
        return pattern.findall(self.data, self.data.rfind(b"\n", 0, at) + 1, self.size) if at >= 0 else []

    def lines(self, needles: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
        """(offset in bytes in the file, line without its end) of every line that holds one of the needles."""
        starts: set[int] = set()
        for needle in needles:
            at = self.data.find(needle, 0, self.size)
            while at >= 0:
                starts.add(self.data.rfind(b"\n", 0, at) + 1)
                end = self.data.find(b"\n", at, self.size)
                at = self.data.find(needle, end, self.size) if end >= 0 else -1
        lines = []
        for start in sorted(starts):
            end = self.data.find(b"\n", start, self.size)
            end = min(end if end >= 0 else self.size, start + MAX_LINE)
            lines.append((self.offset + start, bytes(self.data[start:end]).rstrip(b"\r")))
        return lines


def blocks(path: Path, progress: Callable[[int], None] | None = None) -> Iterator[Block]:
    """The file in blocks of whole lines; a line that fills a few blocks is cut into several.

    `progress` is told the number of bytes of each block. Memory: a few blocks, whatever the file's size.
    """
    # One buffer for the whole file: allocating a block for each read would cost as much as searching it.
    buffer = bytearray(4 * BLOCK)
    view = memoryview(buffer)
    offset, kept = 0, 0
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
            # The last line may lack its end.
            end = end if read and end else filled
            yield Block(buffer, end, offset)
            kept, offset = filled - end, offset + end
            view[:kept] = bytes(view[end:filled])
            if not read:
                return


@dataclass(frozen=True)
class Needles:
    """What makes a line interesting: anywhere; or, for `start`, within START_BYTES of the beginning or of `mark`."""

    anywhere: tuple[bytes, ...]
    start: tuple[bytes, ...]
    mark: bytes


def interesting_lines(
    path: Path,
    needles: Needles,
    progress: Callable[[int], None] | None = None,
    each_block: Callable[[Block], None] | None = None,
) -> Iterator[tuple[int, bytes]]:
    """(offset in bytes, line without its end) of every interesting line; `each_block` sees every block before that."""
    start_until = START_BYTES
    for block in blocks(path, progress):
        if each_block:
            each_block(block)
        near = block.offset < start_until
        lines = block.lines(needles.anywhere + (needles.start if near else ()))
        if any(needles.mark in line for _, line in lines):
            start_until = block.offset + block.size + START_BYTES
            if not near:
                lines = block.lines(needles.anywhere + needles.start)
        yield from lines


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
