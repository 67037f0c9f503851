"""The settings of mkdocs.yml that the core needs: addresses, publisher, licences. Nothing else is configurable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from macros.problems import InputError, Problem

# Set by `make release`, which refuses a site whose links lead to localhost.
RELEASE = "SITE_RELEASE"
LOCALHOST = "http://127.0.0.1:8000/"


@dataclass(frozen=True)
class Settings:
    """An empty text means: not set. The site's address ends with a slash."""

    address: str
    publisher: str
    repository: str
    run_repository: str
    article: str
    licence_code: str
    licence_data: str

    @property
    def has_address(self) -> bool:
        return self.address != LOCALHOST

    @staticmethod
    def of(site_url: str | None, extra: Mapping[str, Any]) -> Settings:
        address = (site_url or LOCALHOST).rstrip("/") + "/"
        names = ("publisher", "repository", "run_repository", "article", "licence_code", "licence_data")
        return Settings(address, *(str(extra.get("settings", {}).get(name) or "") for name in names))

    def check(self) -> None:
        """Raises InputError where a release has no address."""
        if os.environ.get(RELEASE) and not self.address.startswith("https://"):
            expected = "the site's https address, for a release"
            raise InputError([Problem("mkdocs.yml", 0, 0, "site_url", expected, self.address)])
