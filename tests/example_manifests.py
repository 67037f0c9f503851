"""Small manifests and figure definitions as text, for tests that need data of their own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from macros import dataset, figures
from macros.figures import Figure

RUN = """\
id: probe
date: null
evidence: lab_single_run
sources:
  - name: run repository
    repository: null
    url: https://example.org/runs
    commit: null
    path: null
    sha256: null
system:
  device: DGX Spark
  chip: GB10
  nodes: 2
  tensor_parallel: 2
  interconnect: null
  link_gbit_s: null
  transport: null
model:
  name: DeepSeek-V4-Flash
  checkpoint: "0731"
  weights: null
  revision: null
runtime:
  engine: vLLM
  version: null
  image: null
  image_digest: null
config:
  moe_backend_requested: auto
  moe_backend_active: DEEPGEMM_MXFP4
  kv_cache_dtype: null
  speculative_method: null
  draft_tokens: null
workload:
  profile: card-like
  language: null
  prompt_tokens: null
  output_tokens: null
  concurrency: 1
  depth_tokens: null
  temperature: null
  thinking: null
method:
  vantage: client
  window: first_to_last_token
  token_accounting: usage
  warm: true
"""
MEASURED = """\
measurements:
  - id: decode
    quantity: decode_rate
    unit: tok/s
    statistic: mean
    value: 59.7
    low: 59.0
    high: 60.1
    n: null
    acceptance_length: null
"""
COMPARED = """\
change:
  key: runtime.version
  baseline: "0.21.1"
  variant: "0.25.2"
effect:
  quantity: step_rate
  unit: "%"
  low: 9
  high: 12
  before: null
  after: null
  n: null
"""


def run(run_id: str = "probe", measured: str = MEASURED, **changes: str) -> str:
    """A valid run manifest; `changes` sets keys by their name to other YAML, as in `concurrency="12"`."""
    lines = (RUN + measured).replace("id: probe", f"id: {run_id}").split("\n")
    for key, value in changes.items():
        places = [i for i, line in enumerate(lines) if line.strip(" -").startswith(f"{key}:")]
        assert len(places) == 1, f"{key} occurs {len(places)} times"
        at = places[0]
        lines[at] = lines[at][: lines[at].index(f"{key}:")] + f"{key}: {value}"
    return "\n".join(lines)


def raw(run_id: str, value: str, extra: str = "", **changes: str) -> str:
    """A manifest of one raw run, n = 1, without a span; `extra` is more YAML for its measurement."""
    measured = MEASURED + "".join(f"    {line}\n" for line in extra.split("\n") if line)
    defaults = {"statistic": "single", "value": value, "low": "null", "high": "null", "n": "1"}
    return run(run_id, measured, **(defaults | changes))


def comparison(name: str = "probe", **changes: str) -> str:
    return run(name, COMPARED, **({"version": '"0.21.1"'} | changes))


def figure(figure_id: str, way: str) -> str:
    """One entry of figures.yaml; `way` is the YAML of its selection, measurement or formula."""
    return f"{figure_id}:\n  label: {{ en: {figure_id}, ru: {figure_id} }}\n  question: other\n  {way}\n"


def selecting(figure_id: str = "arm", **where: str) -> str:
    """A figure that selects decode rates by dotted keys, written with two underscores for the dot."""
    keys = {"config.moe_backend_active": "DEEPGEMM_MXFP4"} | {k.replace("__", "."): v for k, v in where.items()}
    inside = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return figure(figure_id, f"select: {{ quantity: decode_rate, where: {{ {inside} }} }}")


def formula(figure_id: str, kind: str, of: Iterable[str], studies: Iterable[str] = (), more: str = "") -> str:
    way = f"kind: {kind}, of: [{', '.join(of)}], studies: [{', '.join(studies)}]{more}"
    return figure(figure_id, f"formula: {{ {way} }}")


def resolve(folder: Path, manifests: dict[str, str], definitions: str) -> dict[str, Figure]:
    """Writes manifests (`runs/a` → text) and figures.yaml into a results folder and resolves its figures."""
    results = folder / "results"
    for name, text in manifests.items():
        path = results / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (results / "figures.yaml").write_text(definitions, "utf-8")
    return figures.resolve(results, dataset.load(results))
