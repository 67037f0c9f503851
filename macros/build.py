"""Builds the site beside site/ and swaps it in only when everything passed: `python -m macros.build`."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Set for mkdocs: what plugins tell of their steps is left out, warnings and errors are not.
QUIET = "SITE_QUIET"
_AS_IT_WAS = "The site was not built; site/ is as it was."


def main() -> int:
    """0 when site/ is the new site; otherwise site/ is as it was."""
    root = Path.cwd()
    workshop = root / ".build"
    try:
        workshop.mkdir(exist_ok=True)
    except OSError as error:
        print(f".build: expected a folder to build in; found {error.strerror}", file=sys.stderr)
        return 1
    # One build at a time: two would swap each other's sites.
    with (workshop / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _tidy(root / "site", workshop)
            return _build(root / "site", workshop)
        except KeyboardInterrupt:
            print(f"\n{_AS_IT_WAS}", file=sys.stderr)
            return 130


def _build(site: Path, workshop: Path) -> int:
    with tempfile.TemporaryDirectory(dir=workshop) as folder:
        fresh, last = Path(folder) / "site", Path(folder) / "last"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
        print("Building both languages …", flush=True)
        if subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1", QUIET: "1"}, check=False).returncode:
            print(_AS_IT_WAS, file=sys.stderr)
            return 1
        if site.exists():
            site.rename(last)
        fresh.rename(site)
    print("Built site/")
    return 0


def _tidy(site: Path, workshop: Path) -> None:
    """Removes what a build that was cut off left, and puts the last site back if it fell between the two renames."""
    for left in workshop.iterdir():
        if left.is_dir():
            if (left / "last").exists() and not site.exists():
                (left / "last").rename(site)
            shutil.rmtree(left, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
