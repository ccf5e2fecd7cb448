"""`revereval report`: what it writes, what it says, and that a fault leaves nothing behind."""

import hashlib
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import ROOT
from tests.loopback import run_here
from tests.report.reading import read_page


def test_it_says_in_one_line_what_it_wrote(reference: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    done = run_here("report", str(reference), "-o", str(path))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"wrote {path}, {path.stat().st_size:,} bytes\n"
    assert [entry.name for entry in tmp_path.iterdir() if "tmp" in entry.name] == []


@pytest.mark.parametrize("kind", ["html", "md"])
def test_without_an_output_it_is_report_in_the_working_folder(
    kind: str, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here("report", reference.name, "--format", kind).code == 0
    assert (tmp_path / f"report.{kind}").is_file()


def test_json_says_path_bytes_digest_and_figures(reference: Path, tmp_path: Path) -> None:
    path, figures = tmp_path / "r.html", tmp_path / "new" / "figures"
    done = run_here("report", str(reference), "-o", str(path), "--figures", str(figures), "--json")
    assert done.code == 0
    data = path.read_bytes()
    assert done.json["path"] == str(path)
    assert done.json["bytes"] == len(data)
    assert done.json["sha256"] == hashlib.sha256(data).hexdigest()
    assert [figure["name"] for figure in done.json["figures"]] == ["flow", "bounds", "pairs"]
    for figure in done.json["figures"]:
        svg, png = map(Path, figure["files"])
        assert svg.read_text("utf-8").startswith("<?xml")
        data = png.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", data[16:20]) == (1500,)
        assert b"tIME" not in data
    without = run_here("report", str(reference), "-o", str(path), "--json")
    assert [figure["files"] for figure in without.json["figures"]] == [[], [], []]


def test_a_report_replaces_an_older_one_with_ordinary_permissions(
    reference: Path, tmp_path: Path
) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    assert run_here("report", str(reference), "-o", str(path)).code == 0
    assert path.read_bytes().startswith(b"<!DOCTYPE html>")
    assert path.stat().st_mode & 0o777 == 0o644 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


FAULTS: dict[str, Callable[[Path], list[str]]] = {
    "a folder": lambda folder: [str(folder / "reference.csv"), "-o", str(folder)],
    "no folder": lambda folder: [str(folder / "reference.csv"), "-o", str(folder / "no" / "r")],
    "the table": lambda folder: [str(folder / "reference.csv"), "-o",
                                 str(folder / "reference.csv")],
    "the ledger": lambda folder: ["--ledger", str(folder / "ledger.sqlite"), "-o",
                                  str(folder / "ledger.sqlite")],
    "a device": lambda folder: [str(folder / "reference.csv"), "-o", "/dev/null"],
    "no table": lambda folder: [str(folder / "missing.csv"), "-o", str(folder / "r")],
    "no ledger": lambda folder: ["--ledger", str(folder / "missing"), "-o", str(folder / "r")],
    "a rule": lambda folder: [str(folder / "reference.csv"), "--rule", "nonsense", "-o",
                              str(folder / "r")],
    "a rule that a row cannot follow": lambda folder: [
        str(folder / "reference.csv"), "--rule", "eligible_bytes >= 1", "-o", str(folder / "r")],
    "a task": lambda folder: [str(folder / "reference.csv"), "--exclude", "nobody", "-o",
                              str(folder / "r")],
    "a format": lambda folder: [str(folder / "reference.csv"), "--format", "pdf", "-o",
                                str(folder / "r")],
    "figures in a file": lambda folder: [str(folder / "reference.csv"), "--figures",
                                         str(folder / "reference.csv"), "-o", str(folder / "r")],
    "a pair of a table": lambda folder: [str(folder / "reference.csv"), "--pair", "1", "-o",
                                         str(folder / "r")],
    "a pair that is not there": lambda folder: [
        "--ledger", str(folder / "ledger.sqlite"), "--pair", "9", "-o", str(folder / "r")],
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_and_nothing_is_written(
    fault: str, reference: Path, ledger: Path
) -> None:
    folder = reference.parent
    arguments = FAULTS[fault](folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    pictures = [] if "--figures" in arguments else ["--figures", str(folder / "pictures")]
    done = run_here("report", *arguments, *pictures)
    assert done.code == 2, done.said
    assert done.err.startswith("revereval: ")
    assert done.err.count("\n") == 1
    after = {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(ledger.name + "-")
    }
    assert {name: after.get(name) for name in before} == before
    assert after.keys() == before.keys()
    assert not (folder / "pictures").exists()


def test_a_full_disk_leaves_the_older_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        from revereval.cli.files import write_whole

        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"r.html"}


def test_imported_rows_are_in_the_frame_and_are_never_followed(
    reference: Path, ledger: Path, tmp_path: Path
) -> None:
    path = tmp_path / "r.html"
    assert run_here("ledger", "import", str(reference), "--ledger", str(ledger)).code == 0
    done = run_here("report", "--ledger", str(ledger), "-o", str(path), "--json")
    assert done.code == 0, done.err
    apart = [f"{name}-{t}" for t in ("t1", "t2") for name in ("flow", "bounds", "pairs")]
    assert [figure["name"] for figure in done.json["figures"]] == [*apart, "run-2"]
    text = path.read_text("utf-8")
    assert "over 2 boundary runs" in text
    assert "over 27 boundary runs" in text
    assert "over 29 boundary runs" not in text
    pooled = run_here("report", "--ledger", str(ledger), "-o", str(path), "--json", "--pool")
    assert [figure["name"] for figure in pooled.json["figures"]][3:] == ["run-2"]
    text = path.read_text("utf-8")
    assert "2 treatments pooled: P minus F in successes, over 29 boundary runs" in text
    assert "27 boundary runs were imported and come without their plans." in text


def test_the_pairs_that_are_named_are_followed(ledger: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    done = run_here("report", "--ledger", str(ledger), "--pair", "1", "--pair", "1", "-o",
                    str(path), "--json")  # fmt: skip
    assert [figure["name"] for figure in done.json["figures"]][3:] == ["run-1"]
    assert "The pairs that were asked for." in path.read_text("utf-8")
    chosen = run_here("report", "--ledger", str(ledger), "-o", str(path), "--json")
    assert [figure["name"] for figure in chosen.json["figures"]][3:] == ["run-2"]
    assert "chosen by rule" in path.read_text("utf-8")


def test_repeats_of_a_tape_are_one_run_of_the_frame_and_are_drawn_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ledger, path = str(tmp_path / "ledger.sqlite"), tmp_path / "r.html"
    made = run_here("run-pair", "h11-framing", "--new", "--repeats", "2", "--ledger", ledger,
                    "--tasks", str(ROOT / "tasks"))  # fmt: skip
    assert made.code == 0, made.err
    assert run_here("report", "--ledger", ledger, "--pair", "2", "-o", str(path)).code == 0
    reader = read_page(path.read_text("utf-8"))
    assert "over 1 boundary runs" in reader.text
    assert "Repeats of one run are shown each" in reader.text
    assert len(reader.tables["Numbers of the pairs, logical tokens (prefix once + suffix)"]) == 3
    assert "P, projected observations, went first" in reader.text, "repeats take turns"
