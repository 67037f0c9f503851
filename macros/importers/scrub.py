"""Keeps private details and hostile characters out of manifests: every string that is taken over passes `clean`.

The known places where they leak: server_info, cli_command, docker inspect, model paths, generated texts, and what a
person writes into a sidecar or --set. Generated texts are never read at all. A pattern starts only where a word does,
so that a long line costs no more than its length.
"""

from __future__ import annotations

import re
import unicodedata

from macros import strict_yaml

_REST = r"[^\s'\",;)]*"  # of an address or path, up to where the sentence goes on
_DIGEST = r"(?!sha256:[0-9a-f]{64}\b|[0-9a-f]{7,40}\b(?!\.))"  # what stands after the @ of an image or a repository
_WORDS = r"(?:api[_-]?key|token|password|passwd|pwd|secret)"
_LIKELY = r"(?:\w*(?:token|key|auth|secret|password|passwd|credential)s?)"
_PRIVATE = r"(?:local|lan|internal|intranet|corp|home|localdomain|home\.arpa|ts\.net)"
_IP = r"\d{1,3}(?:\.\d{1,3}){3}"

_URL = re.compile(r"(?<![a-z0-9+.-])[a-z0-9+.-]+://[^\s'\",)]+", re.I)
_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY.*"
    r"|(?<![A-Za-z0-9])(?:hf_|sk-|gh[opusr]_|github_pat_|glpat-|xox[a-z]-|nvapi-|npm_|AKIA|ASIA|AIza)[\w-]{8,}"
    r"|\beyJ[\w-]{8,}(?:\.[\w-]*)*"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|(?i:\bbasic)\s+(?=\S*[A-Z])[A-Za-z0-9+/_-]{8,}=*"
    rf"|(?i:{_WORDS}(?:'|\")?\s*[=:]\s*(?:(?:basic|bearer)\s+)?)(?:'[^']+'|\"[^\"]+\"|(?!None\b|null\b)[^\s'\",;&]{{4,}})"
    rf"|(?i:\b{_LIKELY}\W{{1,4}}(?:is\W+)?)(?:[0-9a-fA-F]{{16,}}|(?=\S*\d)(?=\S*[A-Z])[A-Za-z0-9+/_]{{20,}}=*)(?![\w-])"
    r"|(?i:--(?:api-key|hf-token|token|password)[ =])\S+"
)
_LOGIN = re.compile(rf"(?<![^\s'\",;/])[^\s'\",;/@:]*:(?:[^\s@]{{0,200}}@{_DIGEST})+{_REST}")
_EMAIL = re.compile(rf"(?<![\w.+-])[\w.+-]+@{_DIGEST}(?:{_IP}|[\w.-]*[^\W\d]\w*)")
_HOST = re.compile(
    rf"(?<![\w.-])(?:[\w-]+\.)+{_PRIVATE}(?![\w-]|\.\w)(?::\d+)?(?:/{_REST})?"
    rf"|(?<![\w./-])(?:localhost:\d+(?:/{_REST})?|(?=[\d._-]*[^\W\d])[\w.-]+:\d{{4,5}}/[^\W\d]{_REST})"
    r"|\b(?:host|hostname|user|username)\s*[=:]\s*[^\s'\",;)]+",
    re.I,
)
_IPV4 = re.compile(rf"(?<![\w.]){_IP}(?![\w.]*\d)(?::\d+)?(?:/{_REST})?")
# Eight groups, or fewer with a double colon, or a network card's six: a time of day is none of them.
_IPV6 = re.compile(
    r"\[?(?<![\w:])(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}"
    r"|(?=[0-9a-f:]*::)(?=:*[0-9a-f])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}|fe80:[0-9a-f:]+)(?![\w:])"
    rf"(?:%\w+)?(?:\](?::\d+)?)?(?:/{_REST})?",
    re.I,
)
# A slash inside a word (org/model, tok/s, 1/2) begins no path, except before the folders that hold people's own.
_PATH = re.compile(
    r"(?:/(?:home|Users)/[^/'\",;:)]*(?=/)|/(?:home|Users|root|mnt|media)/)(?:\\ |[^\s'\",;:)])*"
    r"|(?<![\w.)\]}/%])/+(?=[^\s'\",;:)/]{2}|[^\s'\",;:)/]/)(?:\\ |[^\s'\",;:)])*"
    r"|(?<![A-Za-z0-9])[A-Za-z]:[\\/](?:[^\\'\"]*\\)*[^\s'\",;)]*"
    r"|\\\\[\w.$?-][^\s'\",;)]*"
    r"|(?<!\w)~(?:[A-Za-z_][\w.-]*)?/[^\s'\",:;)]*"
)


def clean(text: str, limit: int = 300) -> str:
    """One line of visible text without private details, at most `limit` characters; may come out empty."""
    text = text[: 20 * limit]
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Co", "Cn", "Cs"))
    text = strict_yaml.INVISIBLE.sub("", text)
    for pattern, word in (
        (_URL, "[address]"),
        (_SECRETS, "[secret]"),
        (_LOGIN, "[secret]"),
        (_EMAIL, "[address]"),
        (_HOST, "[address]"),
        (_IPV4, "[address]"),
        (_IPV6, "[address]"),
        (_PATH, "[path]"),
    ):
        text = pattern.sub(word, text)
    return " ".join(text.split())[:limit].strip()
