"""Drawings kept between builds: matplotlib is imported only for a picture that has changed."""

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

from macros import drawing, kept
from macros.drawing import Chart, Width

# Whatever decides how a drawing looks and is kept: a change in one of them makes every drawing anew.
_SOURCES = ("palette", "svg", "canvas", "marks", "dots", "curves", "strips", "drawing", "kept")


# So many drawings stay that this build did not use: those of a few other branches, at about 40 kB each.
_OTHERS = 500


@dataclass(frozen=True)
class ChartCache:
    """Draws like `macros.drawing` and keeps each drawing in a folder, under a name made from its content."""

    folder: Path = Path(".cache/charts")
    _used: set[str] = field(default_factory=set)

    def inline(self, chart: Chart, width: Width = "wide") -> str:
        """Return the SVG fragment for a page."""
        return self._kept(chart, width, lambda: drawing.draw_inline(chart, width).encode()).decode()

    def svg_file(self, chart: Chart) -> bytes:
        """Return the standalone SVG."""
        return self._kept(chart, "svg", lambda: drawing.draw_svg_file(chart))

    def png(self, chart: Chart) -> bytes:
        """Return the picture, 1560 pixels wide."""
        return self._kept(chart, "png", lambda: drawing.draw_png(chart))

    def card(self, chart: Chart, width: int, height: int) -> bytes:
        """Return the picture of a link preview, in exactly this many pixels."""
        return self._kept(chart, f"card {width} {height}", lambda: drawing.draw_card(chart, width, height))

    def _kept(self, chart: Chart, kind: str, draw: Callable[[], bytes]) -> bytes:
        # The charts are frozen dataclasses of texts and numbers, so that repr is their whole content.
        key = hashlib.sha256(f"{kind}\n{_drawing_state()}\n{chart!r}".encode()).hexdigest()
        path = self.folder / key
        self._used.add(key)
        content = kept.read(path)
        if content is None:
            content = draw()
            kept.write(path, content)
        else:
            with contextlib.suppress(OSError):
                os.utime(path)  # its last use, for `tidy`
        return content

    def tidy(self) -> None:
        """Remove what no build has used for longest.

        Not all that this build did not use: going back and forth between branches would draw everything anew.
        """
        with contextlib.suppress(OSError):  # another build may tidy too
            others = [path for path in self.folder.iterdir() if path.name not in self._used]
            for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[_OTHERS:]:
                path.unlink()


@cache
def _drawing_state() -> str:
    """Return a hash of the drawing code and matplotlib's version, without importing matplotlib."""
    here = Path(__file__)
    state = hashlib.sha256(version("matplotlib").encode())
    for name in _SOURCES:
        state.update(here.with_name(f"{name}.py").read_bytes())
    return state.hexdigest()
