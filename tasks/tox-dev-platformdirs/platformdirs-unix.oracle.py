import json
import os

from platformdirs.unix import Unix

os.environ.clear()
os.environ.update(
    {
        "HOME": "/home/ana",
        "XDG_DATA_HOME": "data",
        "XDG_DATA_DIRS": "/srv/a:share:/srv/b:/srv/a/",
        "XDG_CONFIG_DIRS": "etc:",
        "XDG_STATE_HOME": "/srv/state",
    }
)

tool = Unix("tool", "someone", "2.0", multipath=True)
nameless = Unix(version="2.0", multipath=True)

refusals = []
for version, multipath in (("2:0", True), ("2:0", False), ("2/../0", False)):
    try:
        refusals.append(Unix("tool", version=version, multipath=multipath).site_data_dir)
    except ValueError as exc:
        refusals.append(str(exc))

answer = {
    "data": list(tool.iter_data_dirs()),
    "joined": tool.site_data_dir.split(os.pathsep).count("/srv/a/tool/2.0"),
    "others": {
        "log": tool.user_log_dir,
        "config": tool.site_config_dir,
        "fonts": tool.user_fonts_dir,
        "cache": nameless.user_cache_dir,
        "applications": nameless.site_applications_dir,
    },
    "first": str(tool.site_data_path) == tool.site_data_dir,
    "refusals": refusals,
}
print(json.dumps(answer))
