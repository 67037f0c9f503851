"""Configuration from what surrounds a run: launch command, recipe, `docker inspect`, or a YAML with a manifest's keys.

Only named values are taken; everything else in these files (addresses, keys, user names) is never looked at.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from macros import manifests, places, strict_yaml
from macros.importers.identity import state_model
from macros.importers.keys import MANIFEST_KEYS, fitting
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Extract, Stated
from macros.importers.scrub import clean
from macros.problems import InputError

# Server argument, with underscores as vLLM logs it → manifest key.
ARGUMENTS: dict[str, tuple[str, type]] = {
    "tensor_parallel_size": ("system.tensor_parallel", int),
    "nnodes": ("system.nodes", int),
    "moe_backend": ("config.moe_backend_requested", str),
    "kv_cache_dtype": ("config.kv_cache_dtype", str),
    "max_model_len": ("config.max_model_len", int),
    "max_num_seqs": ("config.max_num_seqs", int),
    "revision": ("model.revision", str),
}
# Switches of the server, which need no value.
FLAGS: dict[str, tuple[str, Any]] = {
    "enable_prefix_caching": ("config.prefix_caching", True),
    "no_enable_prefix_caching": ("config.prefix_caching", False),
    "enable_expert_parallel": ("config.expert_parallel", True),
    "enforce_eager": ("config.graph_mode", "eager"),
}
_SHORT = {"-tp": "tensor_parallel_size", "--tp": "tensor_parallel_size", "--tp-size": "tensor_parallel_size"}
BLOCKS = set(manifests.Configuration.model_fields)
_DIGEST = re.compile(r"\S*@(sha256:[0-9a-f]{64})\b")


def settings_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Manifest keys and values of server arguments, named with underscores; what does not fit is left out."""
    result: dict[str, Any] = {}
    for name, (key, kind) in ARGUMENTS.items():
        value = arguments.get(name)
        if kind is int and str(value).isdecimal() and len(str(value)) < 10:
            result[key] = int(str(value))
        elif kind is str and isinstance(value, str) and (text := clean(value, 120)):
            result[key] = text
    for name, (key, stated) in FLAGS.items():
        if name in arguments and arguments[name] is not False:
            result[key] = stated
    speculative = arguments.get("speculative_config")
    if isinstance(speculative, str):
        try:
            speculative = json.loads(speculative)
        except (ValueError, RecursionError):
            speculative = None
    if isinstance(speculative, dict):
        method, tokens = speculative.get("method"), speculative.get("num_speculative_tokens")
        if isinstance(method, str) and (text := clean(method, 60)):
            result["config.speculative_method"] = text
        if speculative.get("draft_sample_method") in ("greedy", "probabilistic"):
            result["config.draft_sampling"] = speculative["draft_sample_method"]
        if isinstance(tokens, int) and 0 < tokens < 1000:
            result["config.draft_tokens"] = tokens
    return result


def read(file: RawFile) -> Extract:
    """Any sidecar; refuses what is none."""
    extract = Extract(file.name, file.sha256, "environment")
    if re.search(r"rejection_sample_method\W+synthetic|SIMULATE_ACC_LEN|synthetic_acceptance_\w+\W+\d", file.text):
        refuse(file.name, "a run with real speculation", "simulated acceptance in the server's configuration")
    if file.looks_like_json:
        _inspect(extract, file)
    elif not _recipe_or_fragment(extract, file):
        _command(extract, file.text, "line")
    if not extract.settings and extract.date is None:
        refuse(
            file.name,
            "a launch command (vllm serve …), a recipe, docker inspect output, or YAML with a manifest's keys",
            file.text[:60],
        )
    return extract


def recognises(file: RawFile) -> bool:
    """Whether a file given without --with is plainly a sidecar."""
    head = file.head.decode("utf-8", "replace")
    if file.looks_like_json:
        return '"RepoDigests"' in head or ('"Config"' in head and '"Image"' in head)
    return (
        re.search(
            r"^\s*(?:\S+=\S+\s+)*(?:exec |docker run .*)?(?:vllm serve|python3? -m vllm\.|\S*run-recipe\.sh) ",
            head,
            re.M,
        )
        is not None
        or re.search(r"^recipe_version:", head, re.M) is not None
        or re.match(rf"(?:#.*\n|\s*\n)*(?:{'|'.join(sorted(BLOCKS))}):", head) is not None
    )


def _inspect(extract: Extract, file: RawFile) -> None:
    """`docker inspect` of a container or an image. `Image` is a local id; only RepoDigests can be pulled again."""
    entries = [e for d in file.documents for e in (d if isinstance(d, list) else [d]) if isinstance(e, dict)]
    for number, entry in enumerate(entries):
        config = entry.get("Config")
        if isinstance(config, dict):
            if isinstance(config.get("Image"), str):
                extract.state("runtime.image", _image(config["Image"]), f"[{number}].Config.Image")
            command = [*_strings(entry.get("Args")), *_strings(config.get("Cmd"))]
            _flags(extract, command, f"[{number}].Config.Cmd")
        digests = {m[1] for text in _strings(entry.get("RepoDigests")) if (m := _DIGEST.fullmatch(text))}
        if len(digests) == 1:
            extract.state("runtime.image_digest", digests.pop(), f"[{number}].RepoDigests")
        elif isinstance(entry.get("Image"), str) and not digests:
            extract.notes.append(
                "The container's image id is local to one machine; a digest needs docker image inspect."
            )


def _strings(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _image(text: str) -> str | None:
    """repository:tag without a digest and without a private registry's address."""
    return clean(text.partition("@")[0], 200) or None


def _recipe_or_fragment(extract: Extract, file: RawFile) -> bool:
    if len(file.raw) > strict_yaml.MAX_BYTES:
        return False
    text = file.text
    recipe = re.search(r"^recipe_version:", text, re.M) is not None
    fragment = re.match(rf"(?:#.*\n|\s*\n)*(?:{'|'.join(sorted(BLOCKS | set(MANIFEST_KEYS)))}):", text) is not None
    if not recipe and not fragment:
        return False
    data, problems = strict_yaml.parse(text, file.name)
    if problems:
        raise InputError(problems)
    if not isinstance(data, dict):
        return False
    if recipe:
        _recipe(extract, data, file.name)
    else:
        _fragment(extract, data, text, file.name)
    return True


def _fragment(extract: Extract, data: dict[str, Any], text: str, name: str) -> None:
    """A manifest's own keys; null states that a value is known not to be known."""
    problems = []
    for block, values in data.items():
        pairs = values.items() if block in BLOCKS and isinstance(values, dict) else [(None, values)]
        for name_in_block, value in pairs:
            path = [block] if name_in_block is None else [block, name_in_block]
            line = places.place(text, path)[0]
            stated = clean(value, 300) if isinstance(value, str) else value
            try:
                key = ".".join(path)
                extract.settings[key] = Stated(fitting(key, [stated], name, line), name, f"line {line}")
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)


def _recipe(extract: Extract, data: dict[str, Any], name: str) -> None:
    """A serving recipe (eugr, sparkrun): container, model, defaults filled into the command."""
    defaults = data.get("defaults")
    defaults = defaults if isinstance(defaults, dict) else {}
    values = {str(k): v for k, v in {**defaults, "model": data.get("model")}.items() if isinstance(v, str | int)}
    command = data.get("command")
    if isinstance(command, str):
        filled = re.sub(r"(?<!\{)\{(\w+)\}(?!\})", lambda m: str(values.get(m[1], m[0])), command)
        # v1 recipes are format strings: what is left of doubled braces is single.
        filled = re.sub(r"\{(\w+)\}", lambda m: str(values.get(m[1], m[0])), filled)
        _command(extract, filled.replace("{{", "{").replace("}}", "}"), "command, line")
    if isinstance(data.get("container"), str):
        extract.state("runtime.image", _image(data["container"]), "container")
    if isinstance(data.get("model"), str):
        state_model(extract, data["model"], "model")
    if isinstance(data.get("model_revision"), str):
        extract.state("model.revision", clean(data["model_revision"], 80) or None, "model_revision")


_START = re.compile(r"\bvllm\s+serve\b|-m\s+vllm\.\S+|\bsglang\.launch_server\b|run-recipe\.sh\b")


def _command(extract: Extract, text: str, place: str) -> None:
    text = re.sub(r"\\\r?\n", " ", text)
    for number, line in enumerate(text.splitlines(), 1):
        start = _START.search(line)
        if not start or line.lstrip().startswith("#"):
            continue
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            refuse(extract.source, "a command with closed quotes", line[:60], line=number)
        if start[0].startswith("vllm") and "serve" in words:
            after = words.index("serve") + 1
            if after < len(words) and not words[after].startswith("-"):
                state_model(extract, words[after], f"{place} {number}")
            extract.state("runtime.engine", "vLLM", f"{place} {number}")
        for word in words:
            if digest := _DIGEST.fullmatch(word):
                extract.state("runtime.image_digest", digest[1], f"{place} {number}")
                extract.state("runtime.image", _image(word), f"{place} {number}")
        _flags(extract, words, f"{place} {number}")


def _flags(extract: Extract, words: list[str], place: str) -> None:
    """`--name value`, `--name=value` and `-tp 2` of an argument list."""
    arguments: dict[str, Any] = {}
    for word, following in itertools.pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if name.startswith("-"):
            key = _SHORT.get(name, name.lstrip("-").replace("-", "_"))
            arguments[key] = value if equals else following
    if isinstance(arguments.get("model"), str):
        state_model(extract, arguments["model"], place)
    for key, value in settings_of(arguments).items():
        extract.state(key, value, place)
