import json

import sqlparse
from sqlparse.exceptions import SQLParseError
from sqlparse.formatter import validate_options

cased = sqlparse.format(
    'select "Foo bar", `Ab`, %(Key)s, cast(x as VarChar) from T.Items order   by fooBar Desc',
    keyword_case="capitalize",
    identifier_case="upper",
)
truncated = sqlparse.format("select 'abcd', 'abc', '''abcdef', \"abcdef\"", truncate_strings="3")
stripped = sqlparse.format(
    "select/* a */1 -- b\n, f(/* c */2) /*+ d */ from t --e", strip_comments=True
)

complaints = []
for options in (
    {"reindent_aligned": "yes", "reindent": True, "indent_width": 0},
    {"reindent_aligned": "yes"},
    {"strip_comments": 1, "truncate_strings": "1"},
    {"right_margin": 9.9, "wrap_after": "-1"},
    {"right_margin": "9.9", "keyword_case": ""},
):
    try:
        sqlparse.format("select 1", **options)
        complaints.append("none")
    except SQLParseError as error:
        complaints.append(str(error))

given = {"indent_columns": True, "truncate_strings": "7", "indent_tabs": 1, "wrap_after": 3.7}
completed = {key: value for key, value in validate_options(given).items() if value}

values = {"cased": cased, "truncated": truncated, "stripped": stripped}
print(json.dumps({**values, "complaints": complaints, "completed": completed}))
