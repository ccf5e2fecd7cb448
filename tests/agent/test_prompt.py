"""The opening prompt is the same whenever and wherever it is made."""

import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from revereval.agent.prompt import CLOSED_BOOK_SYSTEM, SYSTEM, VERSION, opening
from revereval.tasks.spec import load_task, task_ids

ROOT = Path(__file__).parents[2]
TODAY = datetime.now(UTC).date().isoformat()
MACHINE_OR_MOMENT = re.compile(
    # made-up dates and paths may stand in a question
    rf"{re.escape(str(Path.home()))}/|{re.escape(tempfile.gettempdir())}/(pytest|rever)|"
    rf"site-packages/|{TODAY}"
)
PRINT_OPENINGS = """
import json, sys
from pathlib import Path
from revereval.pair.config import Config
from revereval.pair.plan import make_plan
from revereval.tasks.spec import task_ids
tasks = Path(sys.argv[1])
plans = [make_plan(tasks, task_id, Config()) for _, task_id in task_ids(tasks)]
print(json.dumps([[item.value["content"] for item in plan.opening] for plan in plans]))
"""


def openings(cwd: Path, tasks: str, **env: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_OPENINGS, tasks],
        cwd=cwd,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_no_clock_no_path_and_no_environment_reach_the_opening(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(ROOT / "tasks")
    here = openings(ROOT, "tasks")
    there = openings(
        tmp_path, "elsewhere", HOME=str(tmp_path), USER="somebody", TZ="Asia/Tokyo", LANG="C",
        PYTHONHASHSEED="7", XDG_CACHE_HOME=str(tmp_path / "cache"),
    )  # fmt: skip
    assert here == there
    assert len(here) >= 6
    for system, user in here:
        for text in (system, user):
            assert str(ROOT) not in text
            assert not MACHINE_OR_MOMENT.search(text)


def test_the_opening_names_the_question_the_files_the_premises_and_the_keys() -> None:
    text = opening(
        "\n What is it? \n", "pkg 1.2", ["a.py", "b/c.py"], {"python": "3.11"},
        {"n": "integer", "s": "string"},
    )  # fmt: skip
    assert text == (
        "What is it?\n\n"
        "Source: pkg 1.2. The files you can read:\n- a.py\n- b/c.py\n\n"
        "Premises:\n- python: 3.11\n\n"
        "Answer with one JSON object with exactly these keys and JSON types; null is the answer "
        "for what the source does not decide:\n"
        '- "n": integer\n- "s": string\n'
    )


def test_a_closed_book_opening_is_the_same_but_for_the_files() -> None:
    asked = ("What is it?", "pkg 1.2"), ({"python": "3.11"}, {"n": "integer"})
    with_files = opening(*asked[0], ["a.py"], *asked[1])
    closed = opening(*asked[0], (), *asked[1])
    shown, hidden = "The files you can read:\n- a.py\n", "None of it can be read.\n"
    assert closed == with_files.replace(shown, hidden)


def test_texts_that_change_get_a_new_version() -> None:
    openings = [opening("Q?", "pkg 1", files, {"p": "v"}, {"k": "integer"}) for files in ("f", "")]
    texts = json.dumps([SYSTEM, CLOSED_BOOK_SYSTEM, *openings])
    known = {2: "bf1b262785c33c4f74bb19c765e5d09629aac7c50b9cfa09f7943220ef506da0"}
    assert sha256(texts.encode()).hexdigest() == known[VERSION]


def test_every_shipped_task_tells_its_premises_and_asks_for_its_keys() -> None:
    tasks = ROOT / "tasks"
    for _, task_id in task_ids(tasks):
        task = load_task(tasks, task_id)
        text = opening(task.prompt, "p", task.source.files, task.premises, task.keys)
        for name, value in task.premises.items():
            assert f"\n- {name}: {value}\n" in text
        for key, kind in task.keys.items():
            assert f'\n- "{key}": {kind}\n' in text
        for path in task.source.files:
            assert f"\n- {path}\n" in text


def test_the_system_message_promises_only_what_the_tools_do() -> None:
    assert "search_evidence" in SYSTEM
    assert "recover_evidence" in SYSTEM
    assert "one JSON object" in SYSTEM
    assert "no more need be read than the question needs" in SYSTEM


def test_the_closed_book_system_message_promises_no_tool() -> None:
    assert "evidence" not in CLOSED_BOOK_SYSTEM
    assert "nothing can be read, and there are no tools" in CLOSED_BOOK_SYSTEM
    assert "one JSON object" in CLOSED_BOOK_SYSTEM
