import json
import math
from decimal import Decimal
from fractions import Fraction

from filelock import BaseFileLock


class PlainLock(BaseFileLock):
    _acquire = _release = lambda self: None


class ShortLock(PlainLock):
    def __init__(self, lock_file, timeout=-1):
        super().__init__(lock_file, timeout)


def refused(cls, path="a.lock", **options):
    try:
        cls(path, **options)
    except (TypeError, ValueError) as error:
        return ";".join(line.strip() for line in str(error).split("\n")[-4:])


refusals = [
    refused(PlainLock, lifetime=True, poll_interval=-1, blocking=1, timeout="1"),
    refused(PlainLock, poll_interval=-1, blocking=1, timeout="1"),
    refused(PlainLock, blocking=1, timeout="1"),
    refused(PlainLock, mode=0o1400, context_error_policy="tree"),
    refused(PlainLock, mode=0o444, context_error_policy="tree"),
    refused(ShortLock, poll_interval=0.05, mode=0o600, is_singleton=True, blocking=True),
    refused(ShortLock, timeout="soon", mode=0o444),
]

first = PlainLock("gone/../a.lock", timeout=-1, is_singleton=True)
nan = PlainLock("n.lock", timeout=math.nan, is_singleton=True)
tiny = PlainLock("t.lock", timeout=Fraction(-1, 10**400), is_singleton=True)
shared = {
    "infinite": refused(PlainLock, timeout=math.inf, is_singleton=True),
    "dotted": PlainLock("./a.lock", -7, is_singleton=True) is first,
    "plain": PlainLock("a.lock") is first,
    "nan": PlainLock("n.lock", timeout=Decimal("sNaN"), is_singleton=True) is nan,
    "tiny": refused(PlainLock, "t.lock", is_singleton=True),
}
differing = dict(timeout=0, mode=0o644, blocking=False, poll_interval=5e-2, fallback_to_soft=True)
mismatches = refused(PlainLock, context_error_policy="group", is_singleton=True, **differing)
answers = {"refusals": refusals, "shared": shared, "mismatches": mismatches.split(";")}
print(json.dumps(answers | {"negative": tiny.timeout < 0}))
