import enum
import json

from marshmallow import ValidationError, fields
from marshmallow.validate import Length, OneOf, Range


class Level(enum.Enum):
    LOW = 1
    BASE = 1
    UNSET = None


def attempt(field, value):
    try:
        return field.deserialize(value)
    except ValidationError as exc:
        return exc.messages


digit = Range(min=1, max=9, max_inclusive=False)
choice = OneOf((2, 4, 11), error="{input} is no choice of {choices}")
table = fields.Dict(
    keys=fields.Str(validate=Length(min=2)), values=fields.Int(validate=[digit, choice])
)
try:
    table.deserialize({"a": 4, "bb": 9, "cc": "2", 3: True})
except ValidationError as exc:
    errors, kept = exc.messages, exc.valid_data

blank = {"pre_load": lambda value: value or None}
by_value = fields.Enum(Level, by_value=fields.Int())
answer = {
    "errors": errors,
    "kept": kept,
    "levels": [
        attempt(by_value, "7"),
        attempt(by_value, None),
        attempt(fields.Enum(Level), "low"),
        attempt(fields.Enum(Level), None),
    ],
    "blanks": [
        attempt(fields.Int(**blank), ""),
        attempt(fields.Int(**blank, load_default=None, post_load=str), ""),
        attempt(fields.Constant(5, validate=Range(min=6)), "x"),
        attempt(fields.Email(validate=Length(max=3)), "ana.example"),
    ],
    "digit": repr(digit),
}
print(json.dumps(answer))
