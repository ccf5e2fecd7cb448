import json

from marshmallow import EXCLUDE, INCLUDE, RAISE, Schema, ValidationError, fields, validates_schema


class Line(Schema):
    class Meta:
        unknown = INCLUDE

    sku = fields.Str(required=True, data_key="SKU")
    count = fields.Int(required=True, attribute="stats.count")


class Order(Schema):
    class Meta:
        unknown = EXCLUDE

    ident = fields.Int(required=True, data_key="id")
    lines = fields.List(fields.Nested(Line))
    main = fields.Nested(Line, unknown=RAISE, load_default=dict)

    @validates_schema(skip_on_field_errors=False)
    def review(self, data, **kwargs):
        if "main" not in data:
            raise ValidationError({"main": ["Review."], "id": ["Check."]})


order = {
    "lines": [{"SKU": 1, "count": "7", "note": "x"}, {"count": 2}],
    "main": {"count": True, "colour": "red"},
    "extra": 1,
}
try:
    Order().load(order, unknown=INCLUDE, partial=("ident", "lines.sku"))
except ValidationError as exc:
    errors, valid = exc.messages, exc.valid_data
partial = Order(partial=True)
try:
    Line(many=True).load(["x", {"SKU": "b", "count": 3, "stats": 4}, {"SKU": "c"}])
except ValidationError as exc:
    indexed = [exc.messages, exc.valid_data]

answer = {
    "errors": errors,
    "valid": valid,
    "relaxed": partial.load({"main": {"SKU": "a"}, "more": 2}),
    "refused": partial.validate({"lines": [[], None]}, partial=()),
    "indexed": indexed,
}
print(json.dumps(answer))
