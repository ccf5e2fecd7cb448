"""What a person asks on the command line, turned into terms of the analysis."""

from fractions import Fraction

from revereval.analysis.boundaries import FEATURES
from revereval.analysis.resources import Prices
from revereval.errors import InputError
from revereval.terms import ArmName


def parse_relaxation(text: str) -> tuple[str, ArmName]:
    """`TASK:F` or `TASK:P`. Raises InputError."""
    task, _, arm = text.rpartition(":")
    if not task or arm not in list(ArmName):
        raise InputError("--relax", text, "allowed: TASK:F or TASK:P")
    return task, ArmName(arm)


def parse_prices(text: str) -> Prices:
    """`U,C,O`, prices of a million tokens. Raises InputError."""
    try:
        u, c, o = (Fraction(part) for part in text.split(","))
    except (ValueError, ZeroDivisionError):
        u = c = o = Fraction(-1)
    if min(u, c, o) < 0:
        raise InputError("--prices", text, "allowed: three prices of 0 or more, as 1.25,0.125,10")
    return Prices(u, c, o)


def feature_named(name: str) -> str:
    """Raises InputError for a feature that no row has."""
    if name not in FEATURES:
        raise InputError("--feature", name, f"allowed: {', '.join(FEATURES)}")
    return name
