"""The settings of mkdocs.yml that the core needs: addresses, publisher, licences. Nothing else is configurable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
