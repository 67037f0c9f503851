"""Keeps private details and hostile characters out of manifests: every string that is taken over passes `clean`.

The known places where they leak: server_info, cli_command, docker inspect, model paths, generated texts. The last
are never read at all.
"""

from __future__ import annotations

import re
import unicodedata

_SECRETS = re.compile(
    r"\b(?:hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|nvapi-|AKIA)[A-Za-z0-9_-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|(?i:(?:api[_-]?key|token|password|passwd|secret)(?:'|\")?\s*[=:]\s*)(?:'|\")?(?!None\b|null\b)[^\s'\",;&]{4,}"
    r"|(?i:--(?:api-key|hf-token|token|password)[ =])\S+"
)
_HOME = re.compile(
    r"(?:/home|/Users|/root|/mnt|/media|/data|/srv)(?:/[^\s'\",:;)]*)?|[A-Za-z]:\\[^\s'\",;)]+|~/[^\s'\",:;)]*"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\",)]+", re.I)
_EMAIL = re.compile(r"\b[\w.+-]+@[A-Za-z0-9](?:[\w-]*\.)*[\w-]*[A-Za-z]\w*\b(?!:[0-9a-f]{64})")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)(?::\d+)?")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4})+(?![\w:])|\bfe80:[0-9a-fA-F:]+")


def clean(text: str, limit: int = 300) -> str:
    """One line of visible text without private details, at most `limit` characters; may come out empty."""
    text = text[: 20 * limit]
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Co", "Cn", "Cs"))
    for pattern, word in (
        (_SECRETS, "[secret]"),
        (_URL, "[address]"),
        (_EMAIL, "[address]"),
        (_HOME, "[path]"),
        (_IPV4, "[address]"),
        (_IPV6, "[address]"),
    ):
        text = pattern.sub(word, text)
    return " ".join(text.split())[:limit].strip()
