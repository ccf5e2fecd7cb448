import json

from marshmallow import Schema, fields


class Author(Schema):
    name = fields.Str()
    mail = fields.Str()
    born = fields.Int()


class Tag(Schema):
    id = fields.Int()
    label = fields.Str()


class Book(Schema):
    title = fields.Str()
    author = fields.Nested("Author", only=("name", "mail"))
    tags = fields.List(fields.Nested(lambda: Tag))
    part = fields.Nested({"a": fields.Str(), "b": fields.Int()})
    owner = fields.Nested("Nobody")


arguments = {
    "a": {"only": ("title",)},
    "b": {"only": "title"},
    "c": {"only": ("titel",)},
    "d": {"only": ("writer.name",)},
    "e": {"exclude": ("writer", "owner")},
    "f": {"exclude": ("writer.name", "owner")},
    "g": {"only": ("author.born",)},
    "h": {"only": ("author.age",)},
    "i": {"exclude": ("author.age", "owner")},
    "j": {"only": ("title.length",)},
    "k": {"only": ("tags.label",)},
    "l": {"only": ("tags.colour",)},
    "m": {"exclude": ("tags.id", "owner")},
    "n": {"only": ("owner",)},
    "o": {"only": ("part.c", "part.a")},
    "p": {"only": ("author..name",)},
    "q": {"only": (".title",)},
    "r": {"only": ("title",), "exclude": ("writer.name",)},
    "s": {"only": ("title",), "exclude": ("author.age",)},
    "t": {"only": ("title",), "load_only": ("titel",)},
    "u": {"only": ("author", "author.name")},
}
at_once, later, types, author = [], [], {}, {}
for letter, given in arguments.items():
    try:
        book = Book(**given)
    except Exception as error:
        at_once.append(letter)
        types[letter] = type(error).__name__
        continue
    try:
        for field in book.fields.values():
            field = getattr(field, "inner", field)
            if isinstance(field, fields.Nested):
                field.schema
    except Exception as error:
        later.append(letter)
        types[letter] = type(error).__name__
    if letter in "gpu":
        author[letter] = sorted(book.fields["author"].schema.fields)
types = {letter: types[letter] for letter in "bcflnq"}
print(json.dumps({"at_once": at_once, "later": later, "types": types, "author": author}))
