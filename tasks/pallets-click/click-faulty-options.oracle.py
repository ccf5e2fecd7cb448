import json

from click import Option

calls = {
    "endless": (["--size"], {"nargs": -1}),
    "pair": (["--pair"], {"type": (int, str), "nargs": 3}),
    "pairs": (["--pair"], {"type": (int, str), "multiple": True}),
    "plain-switch": (["--on/--off"], {"is_flag": False}),
    "text-switch": (["--on/--off"], {"flag_value": "x"}),
    "inverse-switch": (["--on/--off"], {"flag_value": False}),
    "twice": (["--on/--on"], {}),
    "slash": (["/debug;/no-debug"], {}),
    "counter": (["-v"], {"count": True, "multiple": True}),
    "counter-flag": (["-v"], {"count": True, "is_flag": True}),
    "counter-int": (["-v"], {"count": True, "type": int, "is_flag": False}),
    "counter-switch": (["-v/-q"], {"count": True}),
    "old-required": (["--old"], {"deprecated": True, "required": True}),
    "old-prompt": (["--old"], {"deprecated": "use --new", "prompt": "Old?"}),
    "secret": (["--secret"], {"is_flag": True, "prompt": True, "hide_input": True}),
    "secret-text": (["--secret"], {"prompt": True, "hide_input": True}),
    "bare": (["name"], {}),
    "digit": (["--1"], {}),
    "hidden-digit": (["--1"], {"expose_value": False}),
    "silent-prompt": (["--1"], {"expose_value": False, "prompt": True}),
    "named-digit": (["--1", "one"], {}),
    "two-names": (["--a", "b", "c"], {}),
}
raised = {TypeError: {}, ValueError: {}}
for name, (declarations, options) in calls.items():
    try:
        Option(declarations, **options)
    except (TypeError, ValueError) as exc:
        raised[type(exc)][name] = str(exc)
switch = raised[TypeError]["counter-switch"]
names = {"type_errors": sorted(raised[TypeError]), "value_errors": sorted(raised[ValueError])}
print(json.dumps({**names, "switch": switch}))
