"""Drawings kept between builds: matplotlib is imported only for a chart that has changed."""

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from multiprocessing import Process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Literal, NamedTuple

from macros import drawing, kept
from macros.drawing import Chart, Width

# Whatever decides how a drawing looks and is kept: a change in one of them makes every drawing anew.
_SOURCES = ("palette", "svg", "canvas", "marks", "dots", "curves", "strips", "drawing", "kept")


# So many drawings stay that this build did not use: those of a few other branches, at about 40 kB each.
_OTHERS = 500


class Drawing(NamedTuple):
    """A chart in one of its forms: for a page, as a file, as a picture or as the picture of a link preview."""

    chart: Chart
    form: Width | Literal["svg", "png"] | tuple[int, int]

    def draw(self) -> bytes:
        """Draw it, which imports matplotlib."""
        match self.form:
            case "svg":
                return drawing.draw_svg_file(self.chart)
            case "png":
                return drawing.draw_png(self.chart)
            case (width, height):
                return drawing.draw_card(self.chart, width, height)
            case _:
                return drawing.draw_inline(self.chart, self.form).encode()

    @property
    def key(self) -> str:
        """Return a name made from its content and the code that draws it."""
        # The charts are frozen dataclasses of texts and numbers, so that repr is their whole content.
        return hashlib.sha256(f"{self.form}\n{_drawing_state()}\n{self.chart!r}".encode()).hexdigest()


@dataclass
class ChartCache:
    """Draws and keeps each drawing in a folder, under its key."""

    folder: Path = Path(".cache/charts")
    _used: set[str] = field(default_factory=set)
    # What other processes draw, and which of them draws it.
    _ahead: dict[str, BaseProcess] = field(default_factory=dict)

    def get(self, wanted: Drawing) -> bytes:
        """Return a drawing: kept, awaited, or drawn now."""
        key = wanted.key
        path = self.folder / key
        self._used.add(key)
        content = kept.read(path)
        while content is None and key in self._ahead and self._ahead[key].is_alive():
            time.sleep(0.005)
            content = kept.read(path)
        if content is None:
            content = wanted.draw()
            kept.write(path, content)
        else:
            with contextlib.suppress(OSError):
                os.utime(path)  # its last use, for `tidy`
        return content

    def draw_ahead(self, wanted: Iterable[Drawing]) -> None:
        """Start to draw what is not kept, in this order, in other processes, which end by themselves."""
        missing = [(key, one) for one in wanted if kept.read(self.folder / (key := one.key)) is None]
        if missing and kept.writable(self.folder):
            # A second process pays for itself where much is to be drawn: each imports matplotlib.
            count = min(os.cpu_count() or 1, 1 + len(missing) // 40)
            for part in (missing[number::count] for number in range(count)):
                process = Process(target=_draw_all, args=(self.folder, part), daemon=True)
                process.start()
                self._ahead |= dict.fromkeys((key for key, _ in part), process)

    def tidy(self) -> None:
        """Remove what no build has used for longest.

        Not all that this build did not use: going back and forth between branches would draw everything anew.
        """
        with contextlib.suppress(OSError):  # another build may tidy too
            others = [path for path in self.folder.iterdir() if path.name not in self._used]
            for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[_OTHERS:]:
                path.unlink()


def _draw_all(folder: Path, missing: list[tuple[str, Drawing]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it says what happened
    with contextlib.suppress(Exception):  # the build meets it again and says where
        for key, wanted in missing:
            kept.write(folder / key, wanted.draw())


@cache
def _drawing_state() -> str:
    """Return a hash of the drawing code and matplotlib's version, without importing matplotlib."""
    here = Path(__file__)
    state = hashlib.sha256(version("matplotlib").encode())
    for name in _SOURCES:
        state.update(here.with_name(f"{name}.py").read_bytes())
    return state.hexdigest()
