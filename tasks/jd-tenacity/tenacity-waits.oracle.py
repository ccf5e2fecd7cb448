import json
from datetime import timedelta

import tenacity
from tenacity import wait_chain, wait_exponential, wait_fixed, wait_incrementing, wait_none


class Lines(list):
    def log(self, level, message):
        self.append(message)


def flaky():
    raise OSError("no answer")


def sleeps(wait, stop=None):
    slept, stop = [], stop or tenacity.stop_after_attempt(5)
    try:
        tenacity.Retrying(sleep=slept.append, stop=stop, wait=wait)(flaky)
    except (tenacity.RetryError, TypeError) as exc:
        slept.append(type(exc).__name__)
    return slept


minute, four = timedelta(minutes=1), lambda state: 4
soon = tenacity.stop_before_delay(minute) | tenacity.stop_after_attempt(4)
late = tenacity.stop_before_delay(minute) & tenacity.stop_after_attempt(4)
growing = {
    "plain": sleeps(wait_exponential(multiplier=3, max=20, min=4)),
    "crossed": sleeps(wait_exponential(multiplier=5, max=minute, min=90), late),
    "callable first": sleeps(four + wait_exponential(multiplier=14), soon),
}
others = {
    "falling": sleeps(wait_incrementing(timedelta(seconds=9), -4, 7)),
    "chain": sleeps(wait_chain(wait_none() + four, sum([wait_fixed(2), wait_fixed(3)]), four)),
    "nothing": sleeps(sum([]), soon),
}

lines, slept = Lines(), []
retrying = tenacity.Retrying(
    sleep=slept.append,
    stop=tenacity.stop_after_attempt(3),
    wait=wait_exponential(multiplier=1234.5, exp_base=0.5),
    retry=tenacity.retry_if_exception_type(LookupError),
    before=tenacity.before_log(lines, 10),
    before_sleep=tenacity.before_sleep_log(lines, 10),
    name="job",
)
for attempt in retrying:
    with attempt:
        if len(slept) < 2:
            raise KeyError("door") if slept else IndexError("row", 7)
statistics = {key: retrying.statistics[key] for key in ("attempt_number", "idle_for")}
print(json.dumps({"growing": growing, "others": others, "lines": lines, "statistics": statistics}))
