"""Numbers beside the nouns that they count."""


def amount(number: int | str, noun: str) -> str:
    """`1 run`, `0 runs`, `1,234 runs`; a number that is a text is formatted already."""
    text = number if isinstance(number, str) else f"{number:,}"
    return f"{text} {noun if text == '1' else noun + 's'}"
