"""The house of DESIGN §2: who may import whom, what the pure parts never touch, what stays lazy."""

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "revereval"
EVERYONE = {"terms", "canonical", "errors", "validated_toml", "words"}
"""Modules that all others may import."""
MAY_IMPORT = {
    "cli": {"campaign", "report", "analysis", "pair", "ledger", "tasks", "provider"},
    "campaign": {"pair"},
    "report": {"analysis"},
    "analysis": set[str](),
    "pair": {"agent", "projection", "provider", "tasks", "ledger"},
    "agent": {"provider.wire", "provider.body"},
    "projection": set[str](),
    "tasks": set[str](),
    "provider": set[str](),
    "ledger": set[str](),
}
AUDIT_ALSO = {
    "provider.wire", "provider.usage", "provider.body", "provider.no_answer", "tasks.scoring",
    "tasks.spec",
}  # fmt: skip
"""What `ledger/audit*.py` may import besides: it recomputes what they computed."""
IO_MODULES = {
    "os", "io", "pathlib", "shutil", "tempfile", "socket", "ssl", "select", "selectors",
    "subprocess", "multiprocessing", "threading", "asyncio", "sqlite3", "sqlmodel", "sqlalchemy",
    "httpx", "urllib", "http", "time", "datetime", "random", "secrets", "uuid", "sys", "logging",
    "locale", "platform", "signal", "fcntl",
}  # fmt: skip
SOURCES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """The module's name inside the package; "" for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str) -> Iterator[str]:
    """Every module or member that a source imports anywhere: in functions and for types too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = {name_of(path): path for path in SOURCES}


def ours(path: Path) -> set[str]:
    """The modules of this package that one of its files imports, by their names in it."""
    found = set()
    for name in imported(path.read_text(encoding="utf-8")):
        if name == "revereval" or name.startswith("revereval."):
            inner = name.removeprefix("revereval").removeprefix(".")
            while inner not in MODULES:  # a member of a module
                inner = inner.rpartition(".")[0]
            found.add(inner)
    return found


def allowed(module: str, target: str) -> bool:
    room = module.partition(".")[0]
    if target in EVERYONE:
        return True
    if room in EVERYONE or room not in MAY_IMPORT:
        return False
    may = MAY_IMPORT[room] | {room}
    if module.startswith("ledger.audit"):
        may = may | AUDIT_ALSO
    return target in may or target.partition(".")[0] in may


def test_the_rules_cover_every_file_of_the_house() -> None:
    assert len(MODULES) > 30
    rooms = {name.partition(".")[0] for name in MODULES} - {""}
    assert rooms <= MAY_IMPORT.keys() | EVERYONE


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_every_import_points_the_way_the_design_gives(module: str) -> None:
    wrong = sorted(target for target in ours(MODULES[module]) if not allowed(module, target))
    assert not wrong, f"{module} imports {', '.join(wrong)}"


def test_the_rule_would_see_an_import_inside_a_function_and_one_for_types() -> None:
    source = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from revereval.pair.gate import Gate\n"
        "def f():\n    import revereval.cli.app\n"
    )
    assert set(imported(source)) >= {"revereval.pair.gate.Gate", "revereval.cli.app"}
    assert not allowed("ledger.tables", "pair.gate")
    assert not allowed("ledger.tables", "provider.wire")
    assert allowed("ledger.audit_exchanges", "provider.wire")
    assert not allowed("ledger.audit_exchanges", "provider.http")
    assert not allowed("agent.loop", "provider.http")
    assert not allowed("terms", "errors_of_others")
    assert allowed("pair.gate", "agent.loop")


def test_no_module_imports_itself_over_others() -> None:
    graph = {name: ours(path) - {name, ""} for name, path in MODULES.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if path.parent.name in ("projection", "analysis")],
    ids=lambda path: name_of(path),
)
def test_pure_decisions_import_nothing_that_reaches_outside(path: Path) -> None:
    outside = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
    assert not outside & IO_MODULES
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "print", "input", "__import__", "exec", "eval"}


LAZY = {
    "sqlmodel", "sqlalchemy", "httpx", "pydantic", "rich", "pyarrow", "tenacity", "numpy",
    "matplotlib",
}  # fmt: skip
START = """
import sys
from revereval.cli.app import main
sys.argv = ["revereval", *sys.argv[1:]]
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["run-pair", "--help"], ["ledger", "--help"]])
def test_help_loads_none_of_the_heavy_packages(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Usage:" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded, "the probe sees what is loaded"
    # Typer itself checks the options of a sub-command with pydantic
    assert loaded & LAZY <= (set() if arguments == ["--help"] else {"pydantic"})


@pytest.mark.parametrize("path", ["revereval", "tests"])
def test_no_file_is_longer_than_400_lines(path: str) -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (ROOT / path).rglob("*.py")
    }
    assert not {file: length for file, length in lengths.items() if length > 400}
