"""`verify --perturb`: an answer may change with its surroundings only where a premise says so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from revereval.tasks.oracle import Fault, OracleError, TaskCheck, run_oracle, verify_task
from revereval.tasks.snapshot import open_snapshot
from revereval.tasks.spec import load_task
from revereval.tasks.surroundings import PERTURBED, STANDARD, Surroundings
from tests.tasks.build import FILES, GOLD, ORACLE, TASK, install, write_task
from tests.tasks.test_lint import revereval

NAMES = (
    "locale", "time_zone", "hash_seed", "columns", "colour", "optimisation", "working_directory",
    "platform",
)  # fmt: skip
LETTERS = "''.join({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'})"
DEPENDING = [
    # perturbation, what the oracle prints as `name`, its value in the standard surroundings
    ("locale", "locale.getpreferredencoding(False).lower()", "utf-8"),
    ("locale", "open(tinypkg.__file__).encoding.lower()", "utf-8"),
    ("locale", "sys.stdout.encoding", "utf-8"),
    ("time_zone", "str(time.localtime(0).tm_hour)", "0"),
    ("columns", "str(shutil.get_terminal_size().columns)", "80"),
    ("columns", "os.environ['COLUMNS']", "80"),
    ("colour", "str(os.environ.get('FORCE_COLOR'))", "None"),
    ("optimisation", "str(json.loads.__doc__)[:11]", "Deserialize"),
    ("optimisation", "str(__debug__)", "True"),
    ("working_directory", "str(os.listdir())", "[]"),
    ("working_directory", "os.path.basename(os.getcwd())", "empty"),
    ("platform", "os.sep", "/"),
    ("platform", "os.name", "posix"),
    ("platform", "sys.platform", "linux"),
]
IMPORTS = "import locale, os, shutil, sys, time\n"
NO_LUCK = "exit code 1: ValueError: no luck"


@pytest.fixture(autouse=True)
def _installed(site: Path) -> None:
    """For the snapshot only: no oracle has our sys.path."""
    install(site)


def write(
    tasks_dir: Path, printed: str = "tinypkg.NAME", gold: str = "tiny", *, premises: str = ""
) -> None:
    """A task whose key `name` is what `printed` gives, with more premises than Python's."""
    write_task(
        tasks_dir,
        task=TASK.replace('python = "any"', f'python = "any"\n{premises}'),
        oracle=IMPORTS + ORACLE.replace("tinypkg.NAME", printed),
        gold=GOLD.replace('"tiny"', json.dumps(gold)),
    )


def premises(*names: str) -> str:
    return "\n".join(f'{name} = "as declared"' for name in names)


def perturbed(tasks_dir: Path) -> TaskCheck:
    return verify_task(tasks_dir, "tiny-add", perturb=True)


def undeclared(tasks_dir: Path, name: str, change: str) -> Fault:
    problem = f"not declared, but another {name} {change}"
    return Fault(f"{tasks_dir}/tiny/tiny-add.toml", f"premises.{name}", problem)


def look(tasks_dir: Path, printed: str, under: Surroundings) -> object:
    """What an oracle sees in some surroundings."""
    write_task(tasks_dir, oracle=f"{IMPORTS}import json, tinypkg\nprint(json.dumps({printed}))\n")
    task = load_task(tasks_dir, "tiny-add")
    return run_oracle(task.oracle, open_snapshot(task.source), under=under).printed


@pytest.mark.parametrize(("name", "printed", "gold"), DEPENDING)
def test_an_answer_that_depends_on_its_surroundings_needs_the_premise(
    tasks_dir: Path, name: str, printed: str, gold: str
) -> None:
    change = "changes the answer (name)"
    write(tasks_dir, printed, gold)
    assert perturbed(tasks_dir).faults == (undeclared(tasks_dir, name, change),)
    assert verify_task(tasks_dir, "tiny-add").faults == (), "only --perturb looks"
    write(tasks_dir, printed, gold, premises=premises(*(n for n in NAMES if n != name)))
    assert perturbed(tasks_dir).faults == (undeclared(tasks_dir, name, change),)
    write(tasks_dir, printed, gold, premises=premises(name))
    assert perturbed(tasks_dir).faults == ()


def test_the_order_of_a_set_needs_the_premise_of_a_hash_seed(tasks_dir: Path) -> None:
    standard = subprocess.run(
        [sys.executable, "-c", f"print({LETTERS}, end='')"],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    write(tasks_dir, LETTERS, standard)
    assert verify_task(tasks_dir, "tiny-add").faults == ()
    fault = undeclared(tasks_dir, "hash_seed", "changes the answer (name)")
    assert perturbed(tasks_dir).faults == (fault,), "once for both seeds"
    write(tasks_dir, LETTERS, standard, premises=premises("hash_seed"))
    assert perturbed(tasks_dir).faults == ()


@pytest.mark.parametrize("seed", ["1", "4242"])
def test_one_hash_seed_that_differs_is_enough(tasks_dir: Path, seed: str) -> None:
    write(tasks_dir, f"str(os.environ['PYTHONHASHSEED'] == '{seed}')", "False")
    fault = undeclared(tasks_dir, "hash_seed", "changes the answer (name)")
    assert perturbed(tasks_dir).faults == (fault,)


@pytest.mark.parametrize("declared", [(), NAMES])
def test_an_answer_that_depends_on_nothing_holds(
    tasks_dir: Path, declared: tuple[str, ...]
) -> None:
    write(tasks_dir, premises=premises(*declared))
    check = perturbed(tasks_dir)
    assert check.faults == ()
    assert [(key.key, key.ok) for key in check.keys] == [
        ("half", True),
        ("name", True),
        ("sum", True),
    ]
    assert check.used == FILES.keys()


def test_every_key_and_every_surrounding_that_changes_is_named(tasks_dir: Path) -> None:
    write(tasks_dir, "os.name + os.environ['TZ']", "posixUTC")
    oracle = tasks_dir / "tiny/tiny-add.oracle.py"
    oracle.write_text(oracle.read_text().replace("tinypkg.add(1, 2) / 2", "len(os.name) - 3.5"))
    assert perturbed(tasks_dir).faults == (
        undeclared(tasks_dir, "time_zone", "changes the answer (name)"),
        undeclared(tasks_dir, "platform", "changes the answer (half, name)"),
    )


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ("answer['sum'] = 3.0", "sum"),
        ("answer['half'] = '1.5'", "half"),
        ("answer['more'] = None", "more"),
        ("del answer['name']", "name"),
    ],
)
def test_another_type_a_new_key_and_a_lost_key_are_changes(
    tasks_dir: Path, change: str, keys: str
) -> None:
    oracle = (
        f"import json, os, tinypkg\nanswer = {{**{GOLD.strip()}}}\n"
        f"if os.name == 'nt':\n    {change}\nprint(json.dumps(answer))\n"
    )
    write_task(tasks_dir, oracle=oracle)
    fault = undeclared(tasks_dir, "platform", f"changes the answer ({keys})")
    assert perturbed(tasks_dir).faults == (fault,)


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("locale", "os.environ.get('LANGUAGE') == 'de'"),
        ("optimisation", "not __debug__"),
        ("working_directory", "os.listdir()"),
        ("platform", "os.sep != '/'"),
    ],
)
def test_an_oracle_that_ends_in_other_surroundings_needs_the_premise_too(
    tasks_dir: Path, name: str, condition: str
) -> None:
    crash = f"import os\nif {condition}:\n    raise ValueError('no luck')\n"
    write_task(tasks_dir, oracle=crash + ORACLE)
    fault = undeclared(tasks_dir, name, f"ends the oracle ({NO_LUCK})")
    assert perturbed(tasks_dir).faults == (fault,)
    declared = TASK.replace('"any"', f'"any"\n{premises(name)}')
    write_task(tasks_dir, oracle=crash + ORACLE, task=declared)
    assert perturbed(tasks_dir).faults == ()


def test_an_oracle_that_fails_at_home_is_one_fault(tasks_dir: Path) -> None:
    write_task(tasks_dir, oracle=ORACLE + "raise ValueError('no luck')\n")
    file = f"{tasks_dir}/tiny/tiny-add.oracle.py"
    assert perturbed(tasks_dir).faults == (Fault(file, "", NO_LUCK),)


def test_a_wrong_gold_does_not_hide_the_dependence(tasks_dir: Path) -> None:
    write(tasks_dir, "os.sep", "|")
    assert perturbed(tasks_dir).faults == (
        undeclared(tasks_dir, "platform", "changes the answer (name)"),
        Fault(f"{tasks_dir}/tiny/tiny-add.gold.json", "name", 'gold says "|", oracle printed "/"'),
    )


def test_the_command_prints_the_fault_and_ends_with_code_2(tasks_dir: Path, site: Path) -> None:
    write(tasks_dir, "os.sep", "/")
    path = f"{Path(__file__).parents[2]}:{site}"
    done = revereval(tasks_dir.parent, "verify", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    done = revereval(tasks_dir.parent, "verify", "--perturb", "tiny-add", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr == (
        "tasks/tiny/tiny-add.toml: premises.platform: not declared, but another platform changes "
        "the answer (name)\n"
    )
    assert "faults" in done.stdout


CHANGES: dict[str, tuple[set[str], str, bool]] = {
    # what differs from the standard: environment variables, the folder, whether it is Windows
    "locale": ({"LC_ALL", "PYTHONCOERCECLOCALE", "PYTHONUTF8", "LANGUAGE"}, "empty", False),
    "time_zone": ({"TZ"}, "empty", False),
    "hash_seed": ({"PYTHONHASHSEED"}, "empty", False),
    "columns": ({"COLUMNS", "LINES"}, "empty", False),
    "colour": ({"FORCE_COLOR", "CLICOLOR_FORCE", "TERM", "COLORTERM"}, "empty", False),
    "optimisation": ({"PYTHONOPTIMIZE"}, "empty", False),
    "working_directory": (set(), "another folder, with a file", False),
    "platform": (set(), "empty", True),
}


def test_exactly_one_thing_differs_in_each_of_the_perturbed_surroundings() -> None:
    assert [under.name for under in PERTURBED if under.name != "hash_seed"] == [
        name for name in NAMES if name != "hash_seed"
    ]
    assert {under.name for under in PERTURBED} == set(NAMES)
    standard = STANDARD.environment.items()
    for under in PERTURBED:
        assert STANDARD.environment.keys() <= under.environment.keys()
        changed = {name for name, _ in under.environment.items() - standard}
        assert (changed, under.folder, under.windows) == CHANGES[under.name]


def test_an_oracle_sees_its_surroundings_and_nothing_of_ours(
    tasks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "made-up-777")
    sight = (
        "{'env': dict(os.environ), 'folder': os.path.basename(os.getcwd()), 'in it': os.listdir(),"
        "'system': [os.name, os.sep, os.altsep, os.pathsep, os.linesep, sys.platform]}"
    )
    for under in (STANDARD, *PERTURBED):
        _, folder, windows = CHANGES.get(under.name, (set(), "empty", False))
        assert look(tasks_dir, sight, under) == {
            "env": dict(under.environment),
            "folder": folder,
            "in it": [] if folder == "empty" else ["note.txt"],
            "system": ["nt", "\\", "/", ";", "\r\n", "win32"]
            if windows
            else ["posix", "/", None, ":", "\n", "linux"],
        }


def test_pretending_windows_keeps_the_report_of_what_was_opened(
    tasks_dir: Path, tmp_path: Path
) -> None:
    (windows,) = (under for under in PERTURBED if under.name == "platform")
    copy = install(tmp_path / "copy")
    lead = f"import os, sys\nif os.name == 'nt':\n    sys.path.insert(0, {str(copy)!r})\n"
    write_task(tasks_dir)
    task = load_task(tasks_dir, "tiny-add")
    snapshot = open_snapshot(task.source)
    ran = run_oracle(task.oracle, snapshot, under=windows)
    assert ran.used == FILES.keys()
    assert ran.printed["sum"] == 3
    task.oracle.write_text(lead + ORACLE)
    assert run_oracle(task.oracle, snapshot).used == FILES.keys()
    with pytest.raises(OracleError, match="module 'tinypkg' did not come from the snapshot"):
        run_oracle(task.oracle, snapshot, under=windows)


def test_ordinary_modules_can_be_imported_while_it_pretends(tasks_dir: Path) -> None:
    (windows,) = (under for under in PERTURBED if under.name == "platform")
    names = "asyncio concurrent.futures dataclasses email http.client inspect json logging pathlib"
    names += " re subprocess tempfile typing unittest urllib.request zipfile"
    printed = f"{{'n': len([__import__(name) for name in {names.split()}])}}"
    assert look(tasks_dir, printed, windows) == {"n": len(names.split())}
