"""Foreign text is text wherever a report shows it: page, Markdown, SVG, terminal, CSV."""

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from revereval.report.plain import shown
from tests.cli.process import ROOT, unsafe
from tests.loopback import Done, Loopback, run_here
from tests.report.hostile import ACTING, SAID, cleaned, replies
from tests.report.reading import Reader, read_page

TASK = "h11-framing"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A boundary table whose tasks, groups, providers, models and plans are all hostile."""
    path = tmp_path_factory.mktemp("table") / "hostile<img src=x>.jsonl"
    ends = [("correct", "correct"), ("correct", "capped"), ("wrong", "correct"),
            ("correct", "stopped")]  # fmt: skip
    rows = []
    for number, text in enumerate(ACTING):
        f, p = ends[number % 4]
        rows.append({
            "task_id": text, "source_group": text, "first_arm": "FP"[number % 2],
            "f_endpoint": f, "p_endpoint": p,
            "p_reason": "provider_error" if p == "stopped" else None,
            "f_suffix_tokens": 1000 + number, "p_suffix_tokens": 2000 - number,
            "f_suffix_requests": 3, "p_suffix_requests": 12, "prefix_tokens": 500,
            "history_bytes": 60_000 + number, "fitting": number < 2,
            "provider": text, "model": text, "plan_digest": text, "run_id": number + 1,
        })  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A ledger of a hostile model, with hostile plans."""
    folder = tmp_path_factory.mktemp("recorded")
    ledger = folder / "ledger.sqlite"
    with pytest.MonkeyPatch.context() as patch, Loopback(replies(TASK)) as server:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        config = folder / "config.toml"
        config.write_text(
            f"[provider]\nkind = 'openai-chat'\nbase_url = '{server.url}'\nmodel = 'm'\n"
        )
        done = run_here("run-pair", TASK, "--config", str(config), "--ledger", str(ledger),
                        "--tasks", str(ROOT / "tasks"))  # fmt: skip
    assert done.code == 0, done.err
    kept = SAID.encode("utf-8", "backslashreplace").decode()
    with closing(sqlite3.connect(ledger)) as connection, connection:
        names = ("task_id", "source_group", "provider", "model")
        for name in names:
            connection.execute(f"UPDATE plan SET {name} = ?", (kept,))
    yield ledger


def reported(folder: Path, *arguments: str) -> tuple[Done, bytes]:
    path = folder / "report"
    figures = str(folder / "figures")
    done = run_here("report", *arguments, "-o", str(path), "--figures", figures, "--json")
    assert done.code == 0, done.err
    return done, path.read_bytes()


def assert_text_only(data: bytes) -> str:
    text = data.decode("utf-8")
    assert not unsafe(text)
    return text


def seen(reader: Reader) -> str:
    return "".join(reader.text.split())


def test_a_hostile_table_is_text_in_the_page(table: Path, tmp_path: Path) -> None:
    done, data = reported(tmp_path, str(table), "--rule", "history_bytes >= 60005")
    reader = read_page(assert_text_only(data))
    for text in ACTING:
        assert cleaned(text) in seen(reader), f"{text!r} is not shown as it is"
    listed = {cell for row in reader.tables["Providers and models"] for cell in row}
    assert {shown(text) for text in ACTING} <= listed
    assert not unsafe(done.out)
    assert not unsafe(done.err)


def test_a_hostile_model_is_text_in_the_page(recorded: Path, tmp_path: Path) -> None:
    done, data = reported(tmp_path, "--ledger", str(recorded), "--pair", "1")
    text = assert_text_only(data)
    reader = read_page(text)
    for part in ("<img src=x onerror=alert(1)>", "</script><script>", "=1+1", "\x1b[2J", "\u202e",
                 "a\x00b"):  # fmt: skip
        assert cleaned(part) in seen(reader)
    pairs = next(rows for title, rows in reader.tables.items() if title.startswith("Run 1,"))
    did = " ".join(row[5] for row in pairs)
    assert "answers: " in did
    assert "<b>tool</b>" in did
    assert "refused" in did
    assert not unsafe(done.out)


@pytest.mark.parametrize("source", ["table", "recorded"])
def test_hostile_text_is_text_in_every_picture(
    source: str, table: Path, recorded: Path, tmp_path: Path
) -> None:
    arguments = [str(table)] if source == "table" else ["--ledger", str(recorded), "--pair", "1"]
    reported(tmp_path, *arguments)
    found = sorted((tmp_path / "figures").glob("*.svg"))
    assert len(found) >= 3
    for path in found:
        root = ElementTree.fromstring(assert_text_only(path.read_bytes()))  # noqa: S314 - ours
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "g", "path", "use", "text", "defs", "clipPath", "rect", "pattern",
                        "title", "desc", "style"}  # fmt: skip
        names = {name for element in root.iter() for name in element.attrib}
        assert not [name for name in names if name.startswith("on")]
        for element in root.iter():
            assert element.get("href", "#").startswith("#")
    if source == "table":
        drawn = "".join((tmp_path / "figures" / "pairs.svg").read_text("utf-8").split())
        assert "&lt;imgsrc=xonerror=alert(1)&gt;" in drawn


MARKUP = re.compile(r"(?<!\\)[`*_\[\]|~$]|<(?!!-- -->)|(?<!<!--)(?<! --)>")
"""What can act in Markdown and is not escaped."""


def test_a_hostile_table_is_text_in_markdown(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    done = run_here("report", str(table), "--format", "md", "-o", str(path))
    assert done.code == 0, done.err
    lines = assert_text_only(path.read_bytes()).split("\n")
    start = lines.index("**Providers and models**")
    rows = [line for line in lines[start + 2 :] if line.startswith("|")]
    texts = {shown(text): None for text in ACTING}
    for line in lines[start + 4 : start + 4 + len(ACTING)]:
        cells = re.split(r"(?<!\\)\|", line)
        assert len(cells) == 6, line
        for cell in cells[1:3]:
            assert not MARKUP.search(cell), cell
            assert not re.search(r"\w(://|@)|www\.|:[a-z]+:", cell), cell
    assert len(rows) >= len(texts)
    assert all(not line.startswith(("# heading", "1. item", "- item", "# two")) for line in lines)


@pytest.mark.parametrize("command", ["report", "analyze"])
def test_a_hostile_table_is_text_on_the_terminal(command: str, table: Path, tmp_path: Path) -> None:
    extra = ["-o", str(tmp_path / "\x1b[2J\u202ereport.html")] if command == "report" else []
    done = run_here(command, str(table), *extra)
    assert done.code == 0, done.err
    assert not unsafe(done.out)
    assert not unsafe(done.err)
    if command == "report":
        assert "\\x1b[2J\\u202ereport.html" in done.err


def test_a_hostile_fault_is_one_line_of_text(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = run_here("report", str(table), "--relax", "\x1b[2J<b>\u202e:F", "-o", str(path))
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert not unsafe(done.err)
    assert not path.exists()


def test_formulas_stay_text_in_csv(recorded: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(recorded)) as connection, connection:
        (before,) = connection.execute("SELECT task_id FROM plan").fetchone()
        try:
            connection.execute("UPDATE plan SET task_id = '=1+1', model = '@SUM(A1)'")
            connection.commit()
            done = run_here("ledger", "export", "--ledger", str(recorded), "-o",
                            str(tmp_path / "out.csv"))  # fmt: skip
            assert done.code == 0, done.err
            again = run_here("report", "--ledger", str(recorded), "-o", str(tmp_path / "r.html"))
            assert again.code == 0, again.err
        finally:
            connection.execute("UPDATE plan SET task_id = ?, model = ?", (before, before))
    text = (tmp_path / "out.csv").read_text("utf-8")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["task_id"] == "'=1+1"
    assert row["model"] == "'@SUM(A1)"
    assert "=1+1" in (tmp_path / "r.html").read_text("utf-8")
