"""`analyze bounds` and `selector` on a million boundary rows against reading their Parquet file."""

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 1_000_000
ROUNDS = 3
AIM = 10.0
AIM_MEMORY = 2 * 2**30
_RULE = "history_bytes >= 90000"
_ENDPOINTS = ("correct", "wrong", "capped", "stopped", "unexecuted")
_SHARES = (0.5, 0.15, 0.15, 0.1, 0.1)
_READ = "import sys, pyarrow.parquet; pyarrow.parquet.read_table(sys.argv[1])"
_OURS = "from revereval.cli.app import main; main()"
_MEASURED = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
taken = time.perf_counter() - start
print(taken, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A process of its own for each figure: the peak of children never goes down."""


def run(folder: Path) -> Iterator[str]:
    path = folder / "million.parquet"
    write(path, ROWS)
    programs = {
        "read": ["-c", _READ, str(path)],
        "bounds": ["-c", _OURS, "analyze", "bounds", str(path)],
        "selector": ["-c", _OURS, "analyze", "selector", _RULE, str(path)],
    }
    measured = {name: _measured(program) for name, program in programs.items()}
    base, base_memory = measured.pop("read")
    yield (
        f"analysis {ROWS:,} rows, {path.stat().st_size / 2**20:.0f} MiB of Parquet: read_table "
        f"{base:.2f} s, peak {base_memory / 2**20:.0f} MiB"
    )
    for name, (seconds, memory) in measured.items():
        yield (
            f"analysis {name}: {seconds:.2f} s, ratio {seconds / base:.2f} (aim: at most "
            f"{AIM:.0f}), peak {memory / 2**20:.0f} MiB (aim: below {AIM_MEMORY / 2**20:.0f})"
        )


def _measured(program: list[str]) -> tuple[float, int]:
    """The fastest of the rounds in seconds, start-up included, and the highest peak in bytes."""
    seconds, peaks = [], []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, *program],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        taken, kibibytes = done.stdout.split()
        seconds.append(float(taken))
        peaks.append(int(kibibytes) * 1024)
    return min(seconds), max(peaks)


def write(path: Path, rows: int, seed: int = 1) -> None:
    """Synthetic boundary rows with what the analysis reads, and the texts a ledger has besides."""
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    random = np.random.default_rng(seed)

    def text(values: tuple[str, ...] | list[str], codes: np.ndarray) -> Any:
        codes_array = arrow.array(codes.astype(np.int32), mask=codes < 0)
        return arrow.DictionaryArray.from_arrays(codes_array, list(values)).cast(arrow.string())

    def number(values: np.ndarray, known: np.ndarray | None = None) -> Any:
        return arrow.array(values, mask=None if known is None else ~known)

    tasks = random.integers(0, 20_000, rows)
    columns: dict[str, Any] = {
        "flow": text(["paired"], np.zeros(rows)),
        "task_id": text([f"task-{i}" for i in range(20_000)], tasks),
        "source_group": text([f"group-{i}" for i in range(5_000)], tasks // 4),
        "first_arm": text(["F", "P"], random.integers(0, 2, rows)),
        "history_bytes": number(random.integers(20_000, 200_000, rows)),
        "fitting": number(tasks < 400),
        "split": text(["development", "confirmation"], tasks // 4 % 2),
        "run_id": number(np.arange(1, rows + 1)),
        "created_at": text(
            [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 29)], random.integers(0, 28, rows)
        ),
        "plan_digest": text([f"{i:064x}" for i in range(20_000)], tasks),
        "seal": arrow.array([f"{i:064x}" for i in range(rows)]),
        "treatment": text(["ab" * 32], np.zeros(rows)),
        "treatment_settings": text(['{"limits":{"suffix_requests":12}}'], np.zeros(rows)),
        "model": text(["made-up-1"], np.zeros(rows)),
        "contract": text(["extracted"], np.zeros(rows)),
        "endpoint_definition": text(["request", "joint"], random.integers(0, 2, rows)),
        "prefix_tokens": number(random.integers(1_000, 50_000, rows)),
        "prefix_requests": number(random.integers(2, 13, rows)),
        "eligible_bytes": number(random.integers(10_240, 100_000, rows)),
        "eligible_count": number(random.integers(1, 6, rows)),
        "last_cached_fraction": number(random.random(rows)),
    }
    for arm in "fp":
        columns |= {f"{arm}_{name}": cells for name, cells in _arm(random, rows, text, number)}
    parquet.write_table(arrow.table(columns), path, compression="zstd")


def _arm(
    random: np.random.Generator, rows: int, text: Any, number: Any
) -> Iterator[tuple[str, Any]]:
    endpoint = random.choice(len(_ENDPOINTS), rows, p=_SHARES)
    idle, capped = endpoint == 4, endpoint == 2
    strict = np.where((endpoint == 0) & (random.random(rows) < 0.05), 1, endpoint)
    requests = np.where(idle, 0, np.where(capped, 12, random.integers(1, 12, rows)))
    uncached, cached, output = (random.integers(1, 30_000, rows) for _ in range(3))
    answered, known = endpoint < 2, ~idle
    reasons = ["budget", "provider_error", "companion_rule"]
    reason = np.where(endpoint == 3, random.integers(0, 2, rows), np.where(idle, 2, -1))
    yield "endpoint", text(_ENDPOINTS, endpoint)
    yield "endpoint_extracted", text(_ENDPOINTS, endpoint)
    yield "endpoint_strict", text(_ENDPOINTS, strict)
    yield "reason", text(reasons, reason)
    yield "extracted", number(endpoint == 0, answered)
    yield "strict", number(strict == 0, answered)
    yield "allowed_requests", number(np.full(rows, 12))
    yield "suffix_requests", number(requests)
    yield "suffix_tokens", number(uncached + cached + output, known)
    yield "suffix_uncached_tokens", number(uncached, known)
    yield "suffix_cached_tokens", number(cached, known)
    yield "suffix_output_tokens", number(output, known)
    yield "first_request_digest", text([f"{i:064x}" for i in range(20_000)], requests * 7)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for row in run(Path(folder)):
            sys.stdout.write(row + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
