"""The one parser of `Retry-After`: seconds from now, or nothing; it never raises."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from revereval.provider.http import retry_after_s

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("2.5", 2.5),
        (" 7 ", 7.0),
        ("86400", 86400.0),
        ("-4", 0.0),
        ("-0.0", 0.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sunday, 01-Mar-26 12:00:30 GMT", 30.0),
        ("Sun Mar  1 12:00:30 2026", 30.0),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30.0),
        ("Sun, 01 Mar 2026 13:00:30 +0100", 30.0),
        ("Sun, 01 Mar 2026 12:00:00 GMT", 0.0),
        ("Sat, 01 Mar 2025 12:00:00 GMT", 0.0),
        ("Mon, 01 Mar 2027 12:00:00 GMT", 365 * 86400.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("-nan", None),
        ("1e999", None),
        ("12 seconds", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Sun, 01 Mar 2026 25:00:00 GMT", None),
        ("Sun, 31 Feb 2026 12:00:00 GMT", None),
        ("Sun, 01 Mar 2026 12:00:00 +9999999999", None),
        ("1_000", None),
        ("٣", None),
    ],
)
def test_a_header_asks_for_seconds_or_says_nothing(
    value: str | None, seconds: float | None
) -> None:
    assert retry_after_s(value, NOW) == seconds


HEADERS = (
    st.text(st.characters(max_codepoint=255), max_size=40)
    | st.builds(
        "{}, {} {} {} {} {}".format,
        st.sampled_from(["Mon", "X", ""]),
        st.integers(0, 99),
        st.sampled_from(["Jan", "Feb", "Foo"]),
        st.integers(0, 99999),
        st.sampled_from(["00:00:00", "99:99:99", "7"]),
        st.sampled_from(["GMT", "-0000", "+2400", "+99999999999", "Z"]),
    )
    | st.floats().map(str)
    | st.integers().map(str)
)


@settings(max_examples=200, deadline=None)
@given(HEADERS, st.datetimes(timezones=st.just(UTC)))
def test_no_header_raises_or_asks_for_a_negative_or_endless_wait(value: str, now: datetime) -> None:
    wait = retry_after_s(value, now)
    assert wait is None or 0 <= wait < float("inf")


@settings(deadline=None)
@given(st.timedeltas(timedelta(0), timedelta(days=900)))
def test_a_date_ahead_is_the_time_until_it(ahead: timedelta) -> None:
    until = (NOW + ahead).replace(microsecond=0)
    header = until.strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert retry_after_s(header, NOW) == (until - NOW).total_seconds()
