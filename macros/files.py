"""Writing into a project's folder: only where there is one, never over what is no text, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from macros.problems import InputError, Problem


def project(root: Path) -> Path:
    """The folder itself. Raises InputError for one that is no project, where files would land unseen."""
    if not (root / "results").is_dir() and not (root / "mkdocs.yml").is_file():
        found = "neither" if root.is_dir() else "no such folder"
        raise InputError([Problem("--root", 0, 0, str(root), "a folder with results/ or mkdocs.yml", found)])
    return root


def existing(path: Path) -> str | None:
    """The text of a file that may be in the way; None where there is none. Raises InputError for what is no text."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "other bytes"
        raise InputError([Problem(str(path), 0, 0, "", "a manifest in UTF-8, or no file", found)]) from None


def atomically(path: Path, text: str) -> None:
    """The whole text or nothing, at whatever moment the process is killed: a part file is renamed over the name.

    A part file that a killed process left is not a `.yaml` and is overwritten by the next attempt.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
