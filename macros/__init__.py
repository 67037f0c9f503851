"""What mkdocs-macros calls; loaded when it does, so that the command line does not load what only pages need."""

from __future__ import annotations

from typing import Any


def define_env(env: Any) -> None:
    from macros import face

    face.define_env(env)


def on_pre_page_macros(env: Any) -> None:
    from macros import face

    face.on_pre_page_macros(env)


def on_post_page_macros(env: Any) -> None:
    from macros import face

    face.on_post_page_macros(env)
