import json

import tenacity
from tenacity import TryAgain, stop_after_attempt


def run(outcomes, **options):
    remaining = list(outcomes)

    def step():
        value = remaining.pop(0)
        if isinstance(value, BaseException):
            raise value
        return value

    try:
        end = tenacity.Retrying(**{"stop": stop_after_attempt(3), **options})(step)
    except Exception as exc:
        end = type(exc).__name__
    return [len(outcomes) - len(remaining), end]


def linked(error, cause=None, context=None):
    error.__cause__, error.__context__ = cause, context
    return error


order, asked, inner = [], [], KeyError("inner")
causes = tenacity.retry_if_exception_cause_type(LookupError)
busy = tenacity.retry_if_exception_message(match="bu")
never, always = tenacity.retry_never, tenacity.retry_always
ends = {
    "not message": run([1, 2, 3], retry=tenacity.retry_if_not_exception_message("no")),
    "match": run([OSError("busy"), OSError(5, "busy"), 3], retry=busy),
    "cause": run([linked(OSError(), inner), linked(OSError(), None, inner), 3], retry=causes),
    "never": run([TryAgain(), 0], retry=never),
    "reraise": run([7, 7, 7], retry=always, reraise=True),
}
last = [linked(TryAgain(), OSError(), inner), linked(TryAgain(), None, inner), TryAgain()]
surfaced = [
    run([0, error], retry=always, reraise=True, stop=stop_after_attempt(2)) for error in last
]


def mark(label, verdict):
    return lambda state: order.append(label) or verdict


left = mark("a", False) | (never | mark("b", False))
right = (mark("c", True) & always) & mark("d", False) | mark("e", True)
retry = left | right | mark("f", True)
counts = [len(retry.retries), run([1, 2], retry=retry, stop=stop_after_attempt(2))]
waiting = {"wait": lambda state: asked.append(state.attempt_number) or 0, "retry": always}
kept = run("xyz", **waiting, retry_error_callback=lambda state: state.outcome.result())
counts, order = [*counts, kept, len(asked)], "".join(order)
print(json.dumps({"ends": ends, "surfaced": surfaced, "order": order, "counts": counts}))
