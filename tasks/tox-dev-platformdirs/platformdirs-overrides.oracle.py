import json
import os

from platformdirs.windows import Windows, get_win_folder, get_win_folder_from_env_vars

os.environ.clear()
os.environ.update({"ALLUSERSPROFILE": "E:\\All", "APPDATA": "", "PROGRAMDATA": ""})


def override(value):
    os.environ["WIN_PD_OVERRIDE_LOCAL_APPDATA"] = value
    try:
        return get_win_folder("CSIDL_LOCAL_APPDATA")
    except NotImplementedError:
        return None


def lookup(csidl_name):
    try:
        return get_win_folder_from_env_vars(csidl_name)
    except (KeyError, ValueError) as exc:
        return type(exc).__name__ + ": " + str(exc.args[0])


values = ("C:Temp", "\\Temp", "\\\\host\\share", "\\\\host\\.", "C:\\", "\t D:/Local ")
overrides = [override(value) for value in values]

try:
    Windows("tool", "some..one\\..")
except ValueError as exc:
    refusal = str(exc)

names = ("CSIDL_COMMON_PROGRAMS", "CSIDL_APPDATA", "CSIDL_MYVIDEO", "CSIDL_FONTS")
answer = {
    "overrides": overrides,
    "cache": Windows("tool", version="2.0").user_cache_dir,
    "log": Windows("tool", False, "2.0", opinion=True).user_log_dir,
    "lookups": {name: lookup(name) for name in names},
    "refusal": refusal,
}
print(json.dumps(answer))
