"""The time of a build, the same for the same input, so that two builds of one commit are the same bytes."""

from __future__ import annotations

import datetime
import os
import subprocess
from pathlib import Path

from macros.site import Site


def built(root: Path, site: Site) -> datetime.datetime:
    """SOURCE_DATE_EPOCH where it is set, else the time of the last commit, else the newest date in the data."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or _last_commit(root)
    if seconds:
        return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    dates = [manifest.date for manifest in site.dataset.manifests.values() if manifest.date]
    newest = max(dates, default=datetime.date(1970, 1, 1))
    return datetime.datetime.combine(newest, datetime.time(), datetime.UTC)


def _last_commit(root: Path) -> str:
    try:
        command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
