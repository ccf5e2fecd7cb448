"""Tables as CSV, JSONL and Parquet: one meaning, and every bad cell named."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from revereval.ledger.boundary_files import read_boundaries
from tests.analysis.rows import REFERENCE, Row, analyzed, reference_rows, refused, row, write
from tests.analysis.test_checks import FULL, rows
from tests.loopback import run_here

HEADER = "task_id,source_group,first_arm,f_endpoint,p_endpoint"
SOUND = "a,g,F,correct,wrong"
arrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")


def csv_file(folder: Path, *lines: str) -> Path:
    path = folder / "t.csv"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def jsonl_file(folder: Path, *lines: str) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def parquet_file(folder: Path, **columns: Any) -> Path:
    """Two sound rows; `columns` are added or take the place of one."""
    path = folder / "t.parquet"
    texts = {"task_id": ["a", "b"], "source_group": ["g", "h"], "first_arm": ["F", "P"],
             "f_endpoint": ["correct", "wrong"], "p_endpoint": ["wrong", "wrong"]}  # fmt: skip
    arrays = {name: arrow.array(cells) for name, cells in texts.items()} | columns
    parquet.write_table(arrow.table(arrays), path)
    return path


@pytest.mark.parametrize("record", ["full", "reference"])
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_one_table_says_the_same_from_every_kind_of_file(
    record: str, how: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = reference_rows() if record == "reference" else rows({})
    said = []
    monkeypatch.chdir(tmp_path)  # a short name, and of one length: lines are folded alike
    for name in ("aaaaa.csv", "aaa.jsonl", "a.parquet"):
        write(Path(name), table)
        done = run_here("analyze", name, "--rule", "history_bytes >= 93641", *how)
        assert (done.code, done.err) == (0, "")
        assert name in done.out
        said.append(done.out.replace(name, "NAME"))
    assert said[0] == said[1] == said[2]


def test_a_file_may_have_any_case_of_suffix_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "T.CSV"
    path.write_text(f"\ufeff{HEADER}\r\n{SOUND}\r\n", encoding="utf-8")
    assert analyzed("frame", str(path)).says("The frame is 1")


def test_whole_floats_last_blank_lines_and_a_byte_order_mark_are_alike_in_every_kind(
    tmp_path: Path,
) -> None:
    counts = ["12.0", "1e3", "-0.0", "7"]
    lines = [f"{n},{SOUND[2:]},{count},1.0" for n, count in zip("abcd", counts, strict=True)]
    text = "\ufeff" + "\r\n".join([HEADER + ",history_bytes,fitting", *lines, "", "  ", "", ""])
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    records = [
        "{" + RECORD.replace('"a"', f'"{n}"') + f',"history_bytes":{count},"fitting":true}}'
        for n, count in zip("abcd", counts, strict=True)
    ]
    text = "\ufeff" + "\n".join([*records, "", " \t", ""])
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8")
    whole = arrow.array([12.0, 1000.0])
    parquet_file(tmp_path, history_bytes=whole, fitting=arrow.array([True, True]))
    for name, expected in (("t.csv", 4), ("t.jsonl", 4), ("t.parquet", 2)):
        found = read_boundaries(tmp_path / name, {"task_id", "history_bytes", "fitting"})
        numbers, flags = found["history_bytes"], found["fitting"]
        assert isinstance(numbers, np.ndarray)
        assert isinstance(flags, np.ndarray)
        assert list(numbers) == [12, 1000, 0, 7][:expected]
        assert list(flags) == [1] * expected


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "colour=red" / "a#b?c%20"
    folder.mkdir(parents=True)
    assert analyzed("frame", str(parquet_file(folder))).says("The frame is 2")


NO_COUNTS = (
    "\u0663", "\uff11\uff12", "\u00b2", "1_000", "+5", " 5", "5 ", "0x5",
    "5.5", "5.", "5e-1", "9007199254740990.5", "--5",
)  # fmt: skip
NO_FRACTIONS = ("\u0660.\u0663", "0.1_0", ".5", "inf", " 0.5", "1e")
CSV: dict[str, tuple[list[str], str]] = {
    "an unknown column": ([HEADER + ",colour", SOUND + ",red"], "colour: unknown column"),
    "a misspelt column": ([HEADER + ",p_reasons", SOUND + ","], "close: p_reason"),
    "a column twice": ([HEADER + ",task_id", SOUND + ",a"], "task_id: a column"),
    "a missing column": (
        [HEADER.replace(",p_endpoint", ""), "a,g,F,correct"], "p_endpoint: missing",
    ),
    "a cell too few": ([HEADER, SOUND, "b,g,F,correct"], "row 2: 4 cells, the header has 5"),
    "a cell too many": ([HEADER, SOUND + ","], "row 1: 6 cells, the header has 5"),
    "an empty line": ([HEADER, SOUND, "", SOUND], "row 2: 0 cells"),
    "semicolons": ([HEADER.replace(",", ";"), SOUND.replace(",", ";")], "separated by semicolons"),
    "quoted semicolons": (
        ['"' + HEADER.replace(",", '";"') + '"'], "separated by semicolons; allowed: commas",
    ),
    "tabs": ([HEADER.replace(",", "\t"), SOUND.replace(",", "\t")], "separated by tabs"),
    "a word for a count": ([HEADER + ",history_bytes", SOUND + ",many"], "row 1: history_bytes"),
    "a fraction for a count": ([HEADER + ",history_bytes", SOUND + ",1.5"], "row 1: history_bytes"),
    "not a number": ([HEADER + ",history_bytes", SOUND + ",nan"], "row 1: history_bytes"),
    "no fraction": ([HEADER + ",last_cached_fraction", SOUND + ",nan"], "last_cached_fraction"),
    "an endless fraction": ([HEADER + ",last_cached_fraction", SOUND + ",1e999"], "row 1: last_c"),
    "a count beyond doubles": (
        [HEADER + ",history_bytes", f"{SOUND},{2**53 + 1}"], "row 1: history_bytes",
    ),
    "a count of 5000 digits": ([HEADER + ",history_bytes", SOUND + "," + "9" * 5000], "row 1: "),
    **{
        f"a count as {cell!r}": ([f"{HEADER},history_bytes", f"{SOUND},{cell}"], "row 1: history_")
        for cell in (*NO_COUNTS, 2**53, -(2**53), 2**53 - 1 + 10**16)
    },
    **{
        f"a fraction as {cell!r}": (
            [f"{HEADER},last_cached_fraction", f"{SOUND},{cell}"], "row 1: last_cached_fraction",
        )
        for cell in NO_FRACTIONS
    },
    "a word for a flag": ([HEADER + ",fitting", SOUND + ",yes"], "row 1: fitting: allowed: 1, 0"),
    "an open quote": ([HEADER, '"a,g,F,correct,wrong'], "not CSV"),
    "text after a quote": ([HEADER, '"a"b,g,F,correct,wrong'], "not CSV"),
    "no header": ([], "header"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CSV)
def test_a_bad_csv_file_is_one_line(kind: str, tmp_path: Path) -> None:
    lines, said = CSV[kind]
    path = csv_file(tmp_path, *lines)
    found = refused(str(path))
    assert found.startswith(f"revereval: {path}: ")
    assert said in found


RECORD = ('"task_id":"a","source_group":"g","first_arm":"F","f_endpoint":"correct",'
          '"p_endpoint":"wrong"')  # fmt: skip
JSONL = {
    "an unknown column": (f'{{{RECORD},"colour":"red"}}', "colour: unknown column"),
    "text for a count": (f'{{{RECORD},"history_bytes":"5"}}', "row 2: history_bytes: allowed"),
    "a fraction for a count": (
        f'{{{RECORD},"history_bytes":5.5}}',
        "row 2: history_bytes: allowed: a whole number, or",
    ),
    "a flag for a count": (f'{{{RECORD},"history_bytes":true}}', "row 2: history_bytes"),
    "a count for a flag": (f'{{{RECORD},"fitting":1}}', "row 2: fitting: allowed"),
    "a list for text": ('{"task_id":["a"]}', "row 2: task_id: allowed: a text"),
    "a number for text": ('{"task_id":5}', "row 2: task_id: allowed: a text"),
    "not a number": (f'{{{RECORD},"last_cached_fraction":NaN}}', "row 2: last_cached_fraction"),
    "endless": (f'{{{RECORD},"last_cached_fraction":1e999}}', "row 2: last_cached_fraction"),
    "a count beyond doubles": (f'{{{RECORD},"history_bytes":{2**53 + 1}}}', "row 2: history"),
    "a count as far as doubles": (f'{{{RECORD},"history_bytes":{2**53}}}', "row 2: history"),
    "a key twice": (f'{{{RECORD},"task_id":"b"}}', "row 2: not a JSON object"),
    "a key twice, spaced": (f'{{{RECORD},"task_id" :"b"}}', "row 2: not a JSON object"),
    "a key twice, escaped": (f'{{{RECORD}, "task\\u005fid"\t: "a" }}', "row 2: not a JSON object"),
    "a key twice, deep": ('{"task_id":{"a":1,"a":1}}', "row 2: not a JSON object"),
    "objects too deep": ('{"task_id":' * 200_000, "row 2: not a JSON object"),
    "a list": ("[1]", "row 2: not a JSON object"),
    "a word": ('"a"', "row 2: not a JSON object"),
    "null": ("null", "row 2: not a JSON object"),
    "half an object": ('{"task_id":', "row 2: not a JSON object"),
    "an empty line": ("\n{" + RECORD + "}", "row 2: not a JSON object"),
    "too deep": ("[" * 200_000, "row 2: not a JSON object"),
}


@pytest.mark.parametrize("kind", JSONL)
def test_a_bad_jsonl_file_is_one_line(kind: str, tmp_path: Path) -> None:
    line, said = JSONL[kind]
    path = jsonl_file(tmp_path, "{" + RECORD.replace('"a"', '"z"') + "}", line)
    found = refused(str(path))
    assert found.startswith(f"revereval: {path}: ")
    assert said in found


def test_a_key_may_be_left_out_of_a_jsonl_row_and_is_then_unknown(tmp_path: Path) -> None:
    path = jsonl_file(
        tmp_path, f'{{{RECORD},"history_bytes":5}}', "{" + RECORD.replace('"a"', '"b"') + "}"
    )
    assert "row 2 (b): history_bytes: unknown" in refused(
        "selector", "history_bytes >= 1", str(path)
    )


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("history_bytes", ["1", "2"], "history_bytes: of type string"),
        ("history_bytes", [1.5, 2.0], "row 1: history_bytes"),
        ("history_bytes", [1.0, float("inf")], "row 2: history_bytes"),
        ("history_bytes", [1, 2**53 + 2], "row 2: history_bytes"),
        ("history_bytes", [1, 2**53 + 1], "row 2: history_bytes"),
        ("history_bytes", [1, 2**53], "row 2: history_bytes"),
        ("history_bytes", [True, False], "history_bytes: of type bool"),
        ("fitting", [1, 0], "fitting: of type int64"),
        ("task_id", [1, 2], "task_id: of type int64"),
        ("task_id", [b"a", b"b"], "task_id: of type binary"),
        ("task_id", [["a"], ["b"]], "task_id: of type list"),
        ("colour", ["red", "blue"], "colour: unknown column"),
        ("p_endpoint", [None, "wrong"], "row 1 (a): p_endpoint: empty"),
    ],
)
def test_a_bad_parquet_file_is_one_line(
    column: str, cells: list[Any], said: str, tmp_path: Path
) -> None:
    path = parquet_file(tmp_path, **{column: arrow.array(cells)})
    found = refused(str(path))
    assert found.startswith(f"revereval: {path}: ")
    assert said in found


KINDS = {
    "nullable": lambda: arrow.array([5, None]),
    "floats": lambda: arrow.array([5.0, None]),
    "narrow": lambda: arrow.array([5, None], arrow.uint8()),
    "half": lambda: arrow.array([5.0, None], arrow.float32()),
    "dictionary": lambda: arrow.array([5, None]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_parquet_type_are_the_same_numbers(kind: str, tmp_path: Path) -> None:
    cells = KINDS[kind]()
    said = refused(
        "selector", "history_bytes >= 1", str(parquet_file(tmp_path, history_bytes=cells))
    )
    assert "row 2 (b): history_bytes: unknown" in said or "history_bytes: of type" in said
    sound = parquet_file(tmp_path, history_bytes=arrow.array([5, 7], arrow.int64()))
    found = analyzed("selector", "history_bytes >= 6", str(sound))
    assert found.row("Rule minus always full, as recorded", "all boundaries")[1] == "1"


def test_texts_of_every_parquet_type_are_the_same_texts(tmp_path: Path) -> None:
    plain = arrow.array(["a", "b"])
    chunks = arrow.chunked_array([plain.slice(0, 1), plain.slice(1).cast(arrow.string())])
    for cells in (plain, plain.cast(arrow.large_string()), plain.dictionary_encode(), chunks):
        path = parquet_file(tmp_path, task_id=cells)
        assert analyzed("bounds", str(path)).says("Every outcome is known.")
    nothing = parquet_file(tmp_path, f_reason=arrow.nulls(2), history_bytes=arrow.nulls(2))
    assert "row 1 (a): history_bytes: unknown" in refused(
        "selector", "history_bytes >= 1", str(nothing)
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_largest_count_is_read_to_the_last_digit(suffix: str, tmp_path: Path) -> None:
    rows_ = [row("a", history_bytes=2**53 - 1), row("b", history_bytes=2**53 - 2)]
    path = str(write(tmp_path / f"t{suffix}", rows_))
    found = analyzed("selector", f"history_bytes >= {2**53 - 1}", path)
    [chosen] = found.rows("Contributions of the runs where P runs")
    assert chosen[:2] == ["row 1 (a)", "9007199254740991"]


def test_a_table_without_rows_is_an_empty_frame(tmp_path: Path) -> None:
    assert "the frame is empty" in refused(str(csv_file(tmp_path, HEADER)))
    empty = arrow.table({name: arrow.array([], arrow.string()) for name in HEADER.split(",")})
    parquet.write_table(empty, tmp_path / "t.parquet")
    assert "the frame is empty" in refused(str(tmp_path / "t.parquet"))
    assert str(tmp_path / "t.jsonl") in refused(str(jsonl_file(tmp_path)))


def test_what_is_no_table_is_one_line(tmp_path: Path) -> None:
    assert "no such file" in refused(str(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    assert str(tmp_path / "folder.csv") in refused(str(tmp_path / "folder.csv"))
    for name in ("t.xlsx", "t", "t.csv.gz", "t.json"):
        (tmp_path / name).write_text("x")
        assert "allowed: .csv, .jsonl, .parquet" in refused(str(tmp_path / name))
    for suffix in (".csv", ".jsonl"):
        (tmp_path / f"bytes{suffix}").write_bytes(b"\xff\xfe" + HEADER.encode())
        assert "not UTF-8" in refused(str(tmp_path / f"bytes{suffix}"))
    for data in (b"", b"PAR1", b"text, not Parquet", b"PAR1" + b"\x00" * 50 + b"PAR1"):
        (tmp_path / "t.parquet").write_bytes(data)
        assert str(tmp_path / "t.parquet") in refused(str(tmp_path / "t.parquet"))
    (tmp_path / "late.csv").write_bytes(f"{HEADER}\n{SOUND}\n".encode() + b"\xe9,g,F,wrong,wrong\n")
    assert "not UTF-8" in refused(str(tmp_path / "late.csv"))


def test_a_damaged_parquet_file_is_one_line(tmp_path: Path) -> None:
    path = parquet_file(tmp_path, history_bytes=arrow.array([5, 7]))
    raw = path.read_bytes()
    for cut in (len(raw) // 2, len(raw) - 1, 10):
        path.write_bytes(raw[:cut])
        assert str(path) in refused(str(path))
    path.write_bytes(raw[:4] + b"\x00" * 60 + raw[64:])
    assert str(path) in refused(str(path))


@pytest.mark.parametrize("task", ["=1+1", "+a", "-a", "@a", "\ta", "'quoted", "'", "''=x"])
def test_the_exports_guard_against_formulas_comes_back_off(task: str, tmp_path: Path) -> None:
    guarded = "'" + task if task.startswith(("=", "+", "-", "@", "\t", "\r")) else task
    by_csv = read_boundaries(write(tmp_path / "t.csv", [row(guarded)]))["task_id"]
    by_json = read_boundaries(write(tmp_path / "t.jsonl", [row(task)]))["task_id"]
    assert by_csv[1] == by_json[1] == (task,)


def test_texts_of_a_table_are_printed_as_text(tmp_path: Path) -> None:
    hostile = "[red]\x1b[2J\u202e=1+1"
    path = write(tmp_path / "t.jsonl", [row(hostile), row("b", "capped", "unexecuted")])
    done = run_here("analyze", str(path))
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    bad = write(tmp_path / "t.jsonl", [row(hostile, "\x1b[2J")])
    assert "\x1b" not in refused(str(bad))


def test_every_documented_column_may_be_in_a_file(tmp_path: Path) -> None:
    assert analyzed("frame", str(write(tmp_path / "t.csv", [FULL]))).says("The frame is 1")
    assert analyzed("frame", str(REFERENCE)).says("The frame is 27")


def test_an_unwanted_column_is_checked_for_its_name_alone(tmp_path: Path) -> None:
    rows_: list[Row] = [row("a", seal="x", p_archive_calls=1)]
    assert analyzed("frame", str(write(tmp_path / "t.csv", rows_))).says("The frame is 1")


def test_repeats_can_be_read_from_a_file(tmp_path: Path) -> None:
    repeats = [row("a", "correct", "wrong", run_id=1, repeat=number) for number in (1, 2)]
    path = write(tmp_path / "t.csv", repeats)
    assert analyzed("frame", str(path)).says("The frame is 1")
