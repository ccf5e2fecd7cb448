import json

from filelock import BaseFileLock

calls, faults, busy = [], [], []


class PlainLock(BaseFileLock):
    def _acquire(self):
        calls.append(f"take {self.lock_counter}")
        if not busy:
            self._mark_descriptor_owned(1)

    def _release(self):
        calls.append("drop")
        if faults:
            raise faults.pop(0)
        self._mark_descriptor_released()


def attempt(use, *errors, path="a.lock", **options):
    lock = PlainLock(path, **options)
    calls.clear()
    faults[:] = errors
    try:
        result = use(lock)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    outcome = [result, " ".join(calls), lock.lock_counter]
    lock.release(force=True)
    return outcome


def body(lock):
    with lock, lock.acquire():
        raise KeyError("body")


nested = attempt(lambda lock: [lock.acquire() and lock.lock_counter for _ in range(3)])
failures = {
    "system": attempt(body, OSError(5, "io"), context_error_policy="group"),
    "chained": attempt(body, ValueError("x")),
    "grouped": attempt(body, ValueError("x"), ValueError("y"), context_error_policy="group"),
}
with PlainLock("a.lock"):
    clash = attempt(PlainLock.acquire, path="./a.lock")
busy.append("elsewhere")
given_up = attempt(lambda lock: lock.acquire(poll_interval=0, cancel_check=lambda: calls[2:]))
given_up += attempt(lambda lock: lock.acquire(0), path="b.lock")
print(json.dumps({"nested": nested, "failures": failures, "clash": clash[0], "given_up": given_up}))
