"""Where an oracle runs: the standard surroundings, and each way in which they can be perturbed.

An answer that changes with them depends on more than the source; the task then declares a premise
of the perturbation's name, which the prompt shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Surroundings:
    name: str
    """What is out of the ordinary: the name of the premise that declares it."""
    environment: Mapping[str, str]
    """The whole environment: nothing is inherited."""
    folder: str = "empty"
    """Name of the working directory."""
    windows: bool = False
    """`os.name`, `os.sep`, `os.altsep`, `os.pathsep`, `os.linesep` and `sys.platform` say so."""


STANDARD: Final = Surroundings(
    "",
    {
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    },
)


def _with(name: str, **environment: str) -> Surroundings:
    return replace(STANDARD, name=name, environment={**STANDARD.environment, **environment})


PERTURBED: Final = (
    # without UTF-8 mode, text files and streams are ASCII; gettext looks at LANGUAGE first
    _with("locale", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", LANGUAGE="de"),
    _with("time_zone", TZ="<+1345>-13:45"),  # spelled out: needs no time zone database
    _with("hash_seed", PYTHONHASHSEED="1"),
    _with("hash_seed", PYTHONHASHSEED="4242"),
    _with("columns", COLUMNS="37", LINES="9"),
    _with("colour", FORCE_COLOR="1", CLICOLOR_FORCE="1", TERM="xterm", COLORTERM="truecolor"),
    _with("optimisation", PYTHONOPTIMIZE="2"),  # neither assertions nor docstrings
    replace(STANDARD, name="working_directory", folder="another folder, with a file"),
    replace(STANDARD, name="platform", windows=True),
)
"""One thing at a time, so that a change has one cause; two hash seeds, as small sets can agree."""
