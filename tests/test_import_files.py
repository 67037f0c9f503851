"""Bad files: a clear message, never a traceback, never a wrong unit, whatever is cut off or changed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import strict_yaml
from macros.importers import extract, sidecar
from macros.importers.biases import BIASES
from macros.importers.identity import identity
from macros.importers.keys import TYPES
from macros.importers.rawfile import RawFile
from macros.importers.scrub import clean
from macros.importers.write import checked
from macros.problems import InputError
from macros.vocabulary import UNITS
from tests import import_fixtures as fixtures
from tests.import_fixtures import made, write

TEXTS: dict[str, str] = {
    "vllm.json": json.dumps(fixtures.VLLM),
    "inferencex.json": json.dumps(fixtures.INFERENCEX),
    "sglang.jsonl": json.dumps(fixtures.SGLANG) + "\n" + json.dumps(fixtures.SGLANG | {"max_concurrency": 8}) + "\n",
    "benchy.json": json.dumps(fixtures.benchy("0.4.0", 2)),
    "benchy.md": fixtures.BENCHY_MARKDOWN,
    "llama-bench.json": json.dumps(fixtures.LLAMA_BENCH),
    "aiperf.json": json.dumps(fixtures.aiperf()),
    "guidellm.json": json.dumps(fixtures.guidellm()),
    "vllm.log": fixtures.VLLM_LOG,
    "sglang.log": fixtures.SGLANG_LOG,
    "metrics.txt": fixtures.scrape(10, 15, 30, 1, 1.0),
}
FORMATS = sorted(TEXTS)
# The largest true value of each quantity in the fixtures, in its unit: a slip of s and ms would be a factor of 1000.
LARGEST = {"time_to_first_token": {"ms": 2500, "s": 3}, "time_per_output_token": {"ms": 100, "s": 1}}


def imported(raw: bytes, name: str) -> list[Any]:
    """What a file gives, or nothing where it is refused; anything but InputError is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        try:
            if name == "metrics.txt":
                extract(RawFile.open(path), {})
                return []
            return made([path])
        except InputError as error:
            unclear = [p for p in error.problems if not (p.file and p.expected and p.found)]
            return [] if error.problems and not unclear else pytest.fail(f"unclear: {error}")


def is_sane(assembled: Any) -> None:
    """Every unit fits its quantity, every code is explained, and the manifest reads back but for what is missing."""
    for m in assembled.data["measurements"]:
        assert m["unit"] in UNITS[m["quantity"]]
        assert set(m.get("biases", ())) <= set(BIASES)
    checked(assembled.data, "x.yaml", set(assembled.missing))


@pytest.mark.parametrize("name", FORMATS)
def test_the_fixture_itself_is_sane(name: str) -> None:
    runs = imported(TEXTS[name].encode(), name)
    assert runs or name == "metrics.txt"
    for run in runs:
        is_sane(run)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_truncations(name: str, data: st.DataObject) -> None:
    raw = TEXTS[name].encode()
    for run in imported(raw[: data.draw(st.integers(0, len(raw)))], name):
        is_sane(run)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_changed_bytes(name: str, data: st.DataObject) -> None:
    raw = bytearray(TEXTS[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=6))
    for run in imported(bytes(raw), name):
        is_sane(run)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at] * bool(at) + [place for key, child in children for place in _places(child, (*at, key))]


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**13),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.just([1, "a", None]),
    st.just({"mean": "x", "values": [None]}),
)


@pytest.mark.parametrize("name", [n for n in FORMATS if n.endswith(("json", "jsonl"))])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_changed_values(name: str, data: st.DataObject) -> None:
    """A value of any type in any place, or the key gone. Times never leave their unit's range unless changed there."""
    document = json.loads(TEXTS[name].splitlines()[0])
    place = data.draw(st.sampled_from(_places(document)))
    parent = document
    for step in place[:-1]:
        parent = parent[step]
    if data.draw(st.booleans()) and isinstance(parent, dict):
        del parent[place[-1]]
    else:
        parent[place[-1]] = data.draw(ANYTHING)
    for run in imported(json.dumps(document).encode(), name):
        is_sane(run)
        for m in run.data["measurements"]:
            limit = LARGEST.get(m["quantity"], {}).get(m["unit"])
            if limit and str(place[-1]) not in m["read_from"]["place"] and str(place[0]) not in m["read_from"]["place"]:
                assert m["value"] <= limit


SIDECARS = {
    "launch.txt": 'A=b \\\n vllm serve acme/Model-1 -tp 2 --speculative-config \'{"method": "mtp"}\'\n',
    "recipe.yaml": "recipe_version: '1'\nmodel: a/M-1\ndefaults: {tp: 4}\ncommand: |\n  vllm serve {model} -tp {tp}\n",
    "inspect.json": json.dumps(
        [{"RepoDigests": ["x/y@sha256:" + "ab" * 32], "Config": {"Image": "x/y", "Cmd": ["-tp"]}}]
    ),
    "lab.yaml": "system: {device: DGX Spark, nodes: 1}\nworkload:\n  profile: code\nevidence: community_report\n",
}


@pytest.mark.parametrize("name", sorted(SIDECARS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_sidecars_cut_off_or_changed(name: str, data: st.DataObject) -> None:
    raw = bytearray(SIDECARS[name].encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at : at + data.draw(st.integers(0, len(raw)))] = data.draw(st.binary(max_size=6))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(bytes(raw))
        try:
            stated = sidecar(RawFile.open(path)).settings
        except InputError:
            return
        assert set(stated) <= set(TYPES)


BAD: dict[str, tuple[Any, str]] = {
    "empty": ("", "an empty file"),
    "truncated": (json.dumps(fixtures.VLLM)[:-40], "the end of the file"),
    "comments": ('{ // a comment\n "a": 1}', "JSON without comments"),
    "duplicate": ('{"duration": 1, "duration": 2}', "each key once"),
    "deep": ("[" * 100_000, "expected"),
    "none completed": (fixtures.VLLM | {"completed": 0, "failed": 2}, "at least one completed request"),
    "interrupted": (fixtures.VLLM | {"completed": 1, "failed": 0}, r"completed \+ failed = num_prompts"),
    "two models": ([fixtures.VLLM, fixtures.VLLM | {"model_id": "acme/Other"}], "one model in a file"),
    "long number": ('{"duration": ' + "9" * 5000 + "}", "too many digits"),
    "other": ({"hello": 1}, "JSON of another kind"),
    "warm-up": ({"metadata": {"benchmark_phase": "warmup"}, "metrics": {}}, "profile_export_aiperf.json"),
    "console": ("============ Serving Benchmark Result ============\nSuccessful requests: 2\n", "--save-result"),
    "author": ("we saw 41,7 t/s\n", "window of its rate is not defined"),
    "deviation below 0": (fixtures.VLLM | {"std_ttft_ms": -1.0}, "a deviation of at least 0"),
    "spread below 0": ([fixtures.LLAMA_BENCH[0] | {"stddev_ts": -1.0}], "a deviation of at least 0"),
    "golden": ("# Acceptance Length (AL) reference values\nx:\n  1: 1.79\n", "simulating speculation"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_files_say_why(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    with pytest.raises(InputError, match=message):
        made([write(tmp_path, "bad.json", content)])


def test_nan_holds_back_its_own_figure_only(tmp_path: Path) -> None:
    text = json.dumps(fixtures.VLLM | {"output_throughput": float("nan"), "mean_ttft_ms": float("inf")})
    (run,) = made([write(tmp_path, "run.json", text)])
    ids = {m["id"] for m in run.data["measurements"]}
    assert ids == {"ttft-median", "tpot-mean", "decode", "acceptance"}
    assert {w.what for w in run.withheld} >= {
        "output_throughput is NaN in the file",
        "mean_ttft_ms is Infinity in the file",
    }


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"output_throughput": 99.0}, "aggregate"),
        ({"spec_decode_acceptance_length": 3.1}, "acceptance"),
        ({"spec_decode_acceptance_length": 5.5, "spec_decode_accepted_tokens": 360}, "acceptance"),
    ],
)
def test_figures_that_contradict_themselves_are_held_back(tmp_path: Path, changes: dict[str, Any], gone: str) -> None:
    (run,) = made([write(tmp_path, "run.json", fixtures.VLLM | changes)])
    assert gone not in {m["id"] for m in run.data["measurements"]}
    assert run.withheld


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.replace(",", ",\r\n").encode(),
    ],
)
def test_encodings(encode: Callable[[str], bytes]) -> None:
    (run,) = imported(encode(json.dumps(fixtures.VLLM)), "run.json")
    assert run.data["measurements"][0]["value"] == Decimal("20.0")


@pytest.mark.parametrize("log", [fixtures.VLLM_LOG, fixtures.SGLANG_LOG])
@pytest.mark.parametrize("copies", [1, 300])
def test_a_log_in_utf_16_is_refused_by_name(tmp_path: Path, log: str, copies: int) -> None:
    """Logs are searched as bytes, so no line of this one would be found."""
    path = tmp_path / "server.log"
    path.write_bytes((log * copies).encode("utf-16"))
    with pytest.raises(InputError, match="a log in UTF-16"):
        made([path])


def test_latin_1_is_flagged() -> None:
    (run,) = imported(json.dumps(fixtures.VLLM | {"label": "Gerät"}, ensure_ascii=False).encode("latin-1"), "run.json")
    assert any("Latin-1" in note for note in run.data["notes"])


@pytest.mark.parametrize(
    "text",
    [
        "/home/jane/models/x",
        "/Users/jane/x.json",
        r"C:\Users\jane\x",
        "~/jane",
        "jane@spark-1.local",
        "http://spark-jane:8000/v1",
        "connect to 192.168.7.9:8000 now",
        "fe80::1:2:3:4",
        "2001:db8:0:0:0:0:0:7",
        "--api-key jane1234",
        "HF_TOKEN=hf_janejanejane",
        "Authorization: Bearer jane.jane.jane",
        "password='jane doe'",
        "token=Basic janejane",
        r"C:\Users\Ann Lee\jane",
        "C:/jane",
        "//fileserver/jane",
        "/Users/Ann Lee/jane",
        "-I/home/jane/include",
        "~jane/x",
        "host=spark-jane",
        "spark-jane:5000/x",
        "jane@192.168.7.9",
    ],
)
def test_private_details_are_cleaned(text: str) -> None:
    cleaned = clean(text)
    assert not any(word in cleaned for word in ("jane", "192.168", "fe80", "2001:db8"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/opt/john/models, \\\\fileserver\\john", "[path], [path]"),
        ("-v /workspace/john:/data", "-v [path]:[path]"),
        ("user:hunter2pass@10.0.0.7:5000/x", "[secret]"),
        ("user:hunter/2@pass@registry.example.com/x:1", "[secret]"),
        ("registry.corp.local:5000/john/x", "[address]"),
        ("AUTH=Basic am9objpodW50ZXIy host spark-john.local", "AUTH=[secret] host [address]"),
        ("/nfs/john/x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqb2huIn0.abc", "[path] [secret]"),
        ("AKIAIOSFODNN7EXAMPLE ghp_0123456789ab", "[secret] [secret]"),
        ("token 0123456789abcdef0123", "[secret]"),
        ("secret key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "secret [secret]"),
        ("a.lan b.internal:80 c.corp", "[address] [address] [address]"),
        ("fd00::1 [fe80::1%eth0]:8000 ::1", "[address] [address] [address]"),
        ("02:42:ac:11:00:02", "[address]"),
        ("http://john:pw@example.com/x?token=1", "[address]"),
    ],
)
def test_private_details_leave_a_stand_in(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "0.26.1rc1.dev608+g99a10304d",
        "580.95.05",
        "vllm/vllm-openai:v0.20.1",
        "vllm/vllm-openai:v0.25.2",
        "nvcr.io/nvidia/vllm:26.01-py3",
        "ghcr.io/x/y@sha256:" + "0a" * 32,
        "ghcr.io/x/y:v1@sha256:" + "0a" * 32,
        "localhost/vllm:latest",
        "B12X_MXFP4",
        "acme/Model-1",
        "acme/Model-1@" + "0a" * 20,
        "main@48bada6",
        "deepseek-ai/DeepSeek-V4-Flash",
        "facebook/opt-125m",
        "0a" * 20,
        "1/2",
        "tok/s",
        "TP=2/PP=1, 200 Gbit/s (RoCEv2)/s",
        "at 12:30:45",
        "Basic configuration",
        "key workload.profile, 1024 prompt tokens",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("text", ["jane.local/x", "hf_janejanejane", "10.0.0.7/jane"])
def test_a_model_named_by_a_private_detail_identifies_none(text: str) -> None:
    assert identity(text) == (None, None)


@pytest.mark.parametrize("piece", ["a.", "a-", "key-", ",a:", "a@", "/:", "::", "~/:", "A1/"])
def test_a_hostile_line_is_cleaned_in_no_time(piece: str) -> None:
    """Far below a second in truth; a pattern that backtracks over such a line takes minutes."""
    # An expression that tries every way to split it would take hours.
    assert len(clean(piece * 6000)) <= 300


@given(st.text(max_size=400))
def test_cleaned_text_is_one_visible_line(text: str) -> None:
    cleaned = clean(text, 100)
    assert len(cleaned) <= 100
    assert cleaned.isprintable()
    assert not strict_yaml.INVISIBLE.search(cleaned)


def test_hostile_strings_never_arrive(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> | [x](javascript:alert(1)) \u202e"
    (run,) = made(
        [write(tmp_path, "run.json", fixtures.VLLM | {"model_id": hostile, "gpu": hostile, "label": hostile})]
    )
    text = str(run.data)
    assert "script" not in text
    assert "\u202e" not in text
    assert "model.name" in run.missing
