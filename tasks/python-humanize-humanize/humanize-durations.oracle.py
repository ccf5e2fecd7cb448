import datetime as dt
import json

import humanize

NOON = dt.datetime(2024, 3, 1, 12)


def told(value, **options):
    return humanize.naturaltime(value, when=NOON, **options)


def exact(**parts):
    options = {
        key: parts.pop(key) for key in ("minimum_unit", "suppress", "format") if key in parts
    }
    return humanize.precisedelta(dt.timedelta(**parts), **options)


tenses = [
    told(-30.5),
    told(dt.timedelta(seconds=-90)),
    told(NOON - dt.timedelta(milliseconds=999), future=True),
    told(1.5, future=True),
    told("1.5"),
]
fuzzy = {
    str(days): humanize.naturaldelta(dt.timedelta(days=days))
    for days in (15, 351, 366, 725, 930, 447_100)
}
carried = [
    exact(seconds=3599.996),
    exact(seconds=3599.996, suppress=["hours"]),
    exact(days=30, hours=23, minutes=59, minimum_unit="hours", format="%d"),
    exact(days=30, hours=23, minutes=59, minimum_unit="hours", format="%.0f"),
    exact(days=59, minimum_unit="days", suppress=["days"]),
]
ages = " / ".join(
    exact(days=365 * 1200 + extra, minimum_unit=unit)
    for extra, unit in ((146, "years"), (146, "months"), (0, "days"))
)
agrees = told(dt.timedelta(hours=23.5)) == humanize.naturaldelta(dt.timedelta(days=1)) + " ago"
print(
    json.dumps(
        {"tenses": tenses, "fuzzy": fuzzy, "carried": carried, "ages": ages, "agrees": agrees}
    )
)
