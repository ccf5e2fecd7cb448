import json
import os

from traitlets import Float, Int, List, Unicode, Union
from traitlets.config import Application, Config, Configurable


class Book(Configurable):
    pages = Int(1).tag(config=True)
    title = Unicode("untitled", allow_none=True).tag(config=True)
    shelf = Union([Int(), Unicode()], default_value="none").tag(config=True)
    tags = List(Unicode(), allow_none=True).tag(config=True)
    ratio = Float(1.0).tag(config=True)


class Novel(Book):
    pass


class BookShelf(Application):
    name = "book-shelf"


os.environ.update(
    BOOK_SHELF__Book__pages="120",
    BOOK_SHELF__BookShelf__Book__pages="90",
    BOOK_SHELF__Novel__pages="40",
    BOOK_SHELF__Novel__title="None",
    BOOK_SHELF__Book__title="Dune",
    BOOK_SHELF2__Novel__shelf="07",
    BOOK_SHELF__Novel__tags="first",
    BOOK_SHELF__Novel__ratio="0.5",
)
app = BookShelf()
app.cli_config = Config({"Book": {"ratio": 0.25}})
app.load_config_environ()
novel = Novel(parent=app)

values = {name: getattr(novel, name) for name in ("pages", "title", "shelf", "tags", "ratio")}
stored = type(app.config["Novel"]["pages"]).__name__
converter = type(Novel.tags).from_string.__qualname__
assert Novel.tags.from_string("first") is values["tags"]
print(json.dumps({"novel": values, "stored": stored, "converter": converter}))
