"""Builds the site beside site/ and swaps it in only when everything passed: `python -m macros.build`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from macros import clock
from macros.cli import checked
from macros.problems import InputError


def main() -> int:
    """0 when site/ is the new site; otherwise site/ is as it was."""
    root = Path.cwd()
    try:
        site, _ = checked(root)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    workshop = root / ".build"
    workshop.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workshop) as folder:
        fresh, last = Path(folder) / "site", Path(folder) / "last"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
        epoch = str(int(clock.built(root, site).timestamp()))
        settled = os.environ | {"NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": epoch}
        if subprocess.run(command, env=settled, check=False).returncode:
            print("The site was not built; site/ is as it was.", file=sys.stderr)
            return 1
        current = root / "site"
        if current.exists():
            current.rename(last)
        fresh.rename(current)
        shutil.rmtree(last, ignore_errors=True)
    print("Built site/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
