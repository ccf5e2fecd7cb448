"""The same report as Markdown: tables that are tables, and foreign text that is text."""

import re
from pathlib import Path

import pytest

from revereval.report.plain import in_markdown
from revereval.report.whole import sections
from tests.loopback import run_here
from tests.report.conftest import study_of


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a | b", "a \\| b"),
        ("`code`", "\\`code\\`"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("[x](y)", "\\[x\\](y)"),
        ("a\\|b", "a\\\\\\|b"),
        ("*a* _b_ ~c~ $d$", "\\*a\\* \\_b\\_ \\~c\\~ \\$d\\$"),
        ("http://x.invalid", "http:<!-- -->//x.invalid"),
        ("www.x.invalid", "www<!-- -->.x.invalid"),
        ("a@x.invalid", "a<!-- -->@x.invalid"),
        (":warning:", ":<!-- -->warning:"),
        ("# one", "\\# one"),
        ("- one", "\\- one"),
        ("---", "\\---"),
        ("12. one", "12\\. one"),
        ("+1", "+1"),
        ("0.661", "0.661"),
        ("−9 to +1", "−9 to +1"),
        ("a\nb\x1b\u202e", "a\\\\nb\\\\x1b\\\\u202e"),
        ("a\x00b", "a\\\\x00b"),
        ("attrs-define", "attrs-define"),
    ],
)
def test_foreign_text_cannot_become_markup(text: str, escaped: str) -> None:
    expected = escaped.replace("http:<!-- -->//", "http<!-- -->://")
    assert in_markdown(text) == expected


def test_every_number_of_the_sections_is_in_the_tables(reference: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    assert run_here("report", str(reference), "--format", "md", "-o", str(path)).code == 0
    text = path.read_text("utf-8")
    for section in sections(study_of(reference)):
        assert in_markdown(section.title) in text
        for table in section.tables:
            assert f"**{in_markdown(table.title)}**" in text
            for row in (table.columns, *table.rows):
                assert "| " + " | ".join(map(in_markdown, row)) + " |" in text
        for sentence in section.sentences:
            assert in_markdown(sentence) in text


def test_every_row_of_a_table_has_the_cells_of_its_head(ledger: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    assert run_here("report", "--ledger", str(ledger), "--format", "md", "-o", str(path)).code == 0
    blocks = path.read_text("utf-8").split("\n\n")
    tables = [block.strip().split("\n") for block in blocks if block.startswith("|")]
    assert len(tables) > 15
    for lines in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(widths) == 1, lines[0]
        assert re.fullmatch(r"\|( (:--|--:) \|)+", lines[1])


def test_pictures_are_linked_where_they_are_written_and_told_in_words_where_not(
    reference: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    path, pictures = folder / "report.md", tmp_path / "my <figures>"
    done = run_here("report", str(reference), "--format", "md", "-o", str(path),
                    "--figures", str(pictures))  # fmt: skip
    assert done.code == 0, done.err
    links = re.findall(r"^!\[.*\]\(<([^>]*)>\)$", path.read_text("utf-8"), re.MULTILINE)
    assert links == [f"../my%20%3Cfigures%3E/{name}.svg" for name in ("flow", "bounds", "pairs")]
    assert run_here("report", str(reference), "--format", "md", "-o", str(path)).code == 0
    plain = path.read_text("utf-8")
    assert "![" not in plain
    assert "27 reached a boundary (leaving: 7 F's outcome unknown" in plain
