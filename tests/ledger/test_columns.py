"""The documented columns are the columns. `python -m tests.ledger.test_columns` writes the file."""

from pathlib import Path

from revereval.ledger import columns
from revereval.ledger.columns import TABLES
from revereval.ledger.sources import SOURCES

DOCUMENT = Path(columns.__file__).with_name("COLUMNS.md")
INTRODUCTION = """# Columns of `revereval ledger export`

Every column can be empty: unknown, or it does not apply; never zero. Tokens are as the provider
reports them: U uncached input, C cached input (part of the input), O output; a total is empty as
soon as one request leaves its part unknown, and the count beside it says how many do. Metered
tokens are bytes sent over 4, rounded up, and always known. Times are ISO 8601 in UTC, digests
SHA-256 in hex.

| | CSV | JSON lines | Parquet |
|---|---|---|---|
| unknown | empty cell | `null` | NULL |
| boolean | `1`, `0` | `true`, `false` | BOOLEAN |
| integer | digits | number | INT64 |
| number | shortest decimal that reads back the same | number | DOUBLE |
| text | UTF-8, quoted where needed | ASCII with escapes, exact | UTF-8 string |

In CSV alone, a text that begins with `=`, `+`, `-`, `@`, tab or carriage return gets a leading
apostrophe, so that no spreadsheet runs it. Lone surrogates, which UTF-8 cannot hold, are written as
`\\udXXX` in CSV and Parquet. JSON lines keep every text exactly.

Rows come in the order in which the ledger got them. An export reads page by page: it holds what was
recorded when a page's turn came, and no run is left out.
"""


def rendered() -> str:
    parts = [INTRODUCTION]
    for name, table in TABLES.items():
        parts.append(f"\n## {name}\n\n{table.doc}\n\n| column | type | meaning |\n|---|---|---|\n")
        parts += [f"| `{c.name}` | {c.type} | {c.doc} |\n" for c in table.columns]
    return "".join(parts)


def test_every_column_is_documented_as_it_is_in_the_code() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == rendered()


def test_no_column_is_named_twice_and_each_has_its_expression() -> None:
    for name, table in TABLES.items():
        assert len(set(table.names)) == len(table.names)
        assert set(SOURCES[name].expressions) >= set(table.names)


def test_boundaries_begin_with_the_columns_of_the_reference_record() -> None:
    reference = [
        "flow",
        "task_id",
        "source_group",
        "first_arm",
        "history_bytes",
        "f_endpoint",
        "p_endpoint",
        "f_endpoint_strict",
        "p_endpoint_strict",
        "f_suffix_tokens",
        "p_suffix_tokens",
        "prefix_tokens",
        "f_suffix_requests",
        "p_suffix_requests",
        "fitting",
    ]
    assert TABLES["boundaries"].names[: len(reference)] == reference


if __name__ == "__main__":
    DOCUMENT.write_text(rendered(), encoding="utf-8")
