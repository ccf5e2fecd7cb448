"""Which arm goes first: a deterministic balance rule, not randomisation (DESIGN §4)."""

import hashlib
from collections.abc import Iterable

from revereval.terms import ArmName


def first_arm(seed: str, source_group: str, siblings: Iterable[str], task_id: str) -> ArmName:
    """F iff (b_g + j) is even.

    b_g: SHA-256 of `seed NUL source_group` (UTF-8) as an integer, mod 2; j: rank of the task among
    the sorted ids of its group's tasks. Raises ValueError when the task is not a sibling.
    """
    parity = hashlib.sha256(f"{seed}\0{source_group}".encode()).digest()[-1] % 2
    rank = sorted(siblings).index(task_id)
    return ArmName.F if (parity + rank) % 2 == 0 else ArmName.P
