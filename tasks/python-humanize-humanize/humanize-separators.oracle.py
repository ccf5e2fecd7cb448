import datetime as dt
import gettext
import json

import humanize
from humanize import i18n

for name in ("de_DE", "en_US", "nl_NL"):
    i18n._TRANSLATIONS[name] = gettext.NullTranslations()


def under(locale, function, *args, **options):
    humanize.activate(locale, "no/catalogues/here")
    return function(*args, **options)


amounts = [
    under("de_DE", humanize.intcomma, "1.234,5"),
    under("de_DE", humanize.intcomma, "1234.50"),
    under("nl_NL", humanize.intcomma, "12345.10"),
    under("de_DE", humanize.intcomma, 1e6, 1),
    under("de_DE", humanize.intcomma, "1,5 kg"),
]
words = [
    under("de_DE", humanize.intword, "-1500", "%.0f"),
    under("de_DE", humanize.intword, 999_999),
    under("de_DE", humanize.clamp, 7e9, humanize.intword, ceil=2.5e6),
    under("de_DE", humanize.metric, -999.9, "V"),
    under("de_DE", humanize.fractional, -2.25),
]
sizes = humanize.natural_list(
    under("de_DE", humanize.naturalsize, size, **options)
    for size, options in (
        (-999_999, {}),
        (1_048_575, {"gnu": True}),
        ("1536", {"binary": True, "format": "%.2f"}),
        (-1, {}),
    )
)
age = under("de_DE", humanize.precisedelta, dt.timedelta(days=365_000, seconds=0.5))
try:
    under("sv_SE", humanize.intcomma, 1)
except FileNotFoundError:
    kept = {"decimal": humanize.decimal_separator()}
kept["thousands"] = under("en_US", humanize.thousands_separator)
print(json.dumps({"amounts": amounts, "words": words, "sizes": sizes, "age": age, "kept": kept}))
