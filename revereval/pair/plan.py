"""The plan: everything fixed before any outcome is seen, under one digest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from revereval.agent.prompt import CLOSED_BOOK_SYSTEM, SYSTEM, opening
from revereval.agent.tools import tool_specs
from revereval.canonical import canonical_bytes, digest, sha256_hex
from revereval.errors import FaultError, InputError
from revereval.pair.allocation import first_arm
from revereval.pair.config import Config
from revereval.pair.implementation import changed_since, implementation
from revereval.provider import body
from revereval.provider.body import Item
from revereval.provider.wire import WIRES, Wire
from revereval.tasks.spec import Task, load_task, siblings, task_ids
from revereval.terms import ArmName


@dataclass(frozen=True)
class Plan:
    """`document` is what the digest covers; task, config and wire are the same things at work."""

    document: Mapping[str, Any]
    task: Task
    config: Config
    first_arm: ArmName

    @property
    def digest(self) -> str:
        return digest(self.document)

    @property
    def wire(self) -> Wire:
        return WIRES[self.config.provider.protocol]

    @property
    def head(self) -> bytes:
        return _head(self.config)

    @property
    def opening(self) -> list[Item]:
        return _opening(self.task, self.config)

    @cached_property
    def beginning(self) -> bytes:
        """The bytes that every request begins with: head and opening, as the plan's digests say.

        Raises FaultError where the code makes others.
        """
        head, opening = self.head, b",".join(item.data for item in self.opening)
        made = {"head_digest": head, "opening_digest": b"[" + opening + b"]"}
        for field, data in made.items():
            if sha256_hex(data) != self.document[field]:
                raise FaultError(f"{field}: a request would not be as planned: start a new run")
        return head + opening


def make_plan(tasks_dir: Path, task_id: str, config: Config) -> Plan:
    """Raises InputError when the task or a fitting task's id is not as it must be."""
    task = load_task(tasks_dir, task_id)
    known = {known_id for _, known_id in task_ids(tasks_dir)}
    for fitting in config.fitting_tasks:
        if fitting not in known:
            raise InputError("config", "fitting_tasks", f"no task {fitting!r} in {tasks_dir}")
    group = siblings(tasks_dir, task.source.group)
    first = first_arm(config.seed, task.source.group, group, task.id)
    if config.control and config.repeats > 1:
        raise InputError("config", "repeats", "1 with [control]: a control has no arms to repeat")
    settings = config.model_dump(mode="json")
    source = task.source
    document = {
        "version": 1,
        "task": {
            "id": task.id,
            "source_group": source.group,
            "digest": task.digest,
            "package": source.package,
            "version": source.version,
            "split": source.split,
            "files": dict(source.files),
            "keys": {key: str(kind) for key, kind in task.keys.items()},
            "siblings": list(group),
        },
        "snapshot_digest": source.snapshot_digest,
        "gold_digest": task.gold_digest,
        "provider": {**settings["provider"], "wire": config.provider.protocol},
        "head_digest": sha256_hex(_head(config)),
        "opening_digest": _opening_digest(task, config),
        "projection": settings["projection"],
        "limits": settings["limits"],
        "companion": config.companion,
        "endpoint_definition": config.endpoint,
        "contract": config.contract,
        "implementation": implementation(),
        "repeats": config.repeats,
        "seed": config.seed,
        "first_arm": first,
        "fitting": task.id in config.fitting_tasks,
    }
    if config.control:
        document["control"] = config.control.kind
    return Plan(json.loads(canonical_bytes(document)), task, config, first)


def recorded_plan(document: str, tasks_dir: Path) -> Plan:
    """The plan of a recorded run, with its task read again for prompt and gold.

    Raises InputError when the task is gone, or task or implementation are not what was planned.
    """
    planned = json.loads(document)
    task = load_task(tasks_dir, planned["task"]["id"])
    if problem := changed_since(planned.get("implementation")):
        raise InputError(f"task {task.id}", "implementation", f"{problem}: start a new run")
    config = Config.model_validate(_settings(planned))
    plan = Plan(planned, task, config, ArmName(planned["first_arm"]))
    found = {
        "snapshot_digest": (planned["snapshot_digest"], task.source.snapshot_digest),
        "digest": (planned["task"]["digest"], task.digest),
        "gold_digest": (planned["gold_digest"], task.gold_digest),
        "opening_digest": (planned["opening_digest"], _opening_digest(task, config)),
        "head_digest": (planned["head_digest"], sha256_hex(plan.head)),
    }
    for field, (then, now) in found.items():
        if then != now:
            problem = f"was {then[:12]}… in the run's plan and is {now[:12]}…: start a new run"
            raise InputError(f"task {task.id}", field, problem)
    return plan


def _settings(planned: Mapping[str, Any]) -> dict[str, Any]:
    provider = dict(planned["provider"])
    if provider["kind"] != "scripted":
        del provider["wire"]
    return {
        "seed": planned["seed"],
        "companion": planned["companion"],
        "endpoint": planned["endpoint_definition"],
        "contract": planned["contract"],
        "repeats": planned.get("repeats", 1),
        "fitting_tasks": [planned["task"]["id"]] if planned["fitting"] else [],
        "provider": provider,
        "projection": planned["projection"],
        "limits": planned["limits"],
        "control": {"kind": planned["control"]} if "control" in planned else None,
    }


_OF_TOOLS: Final = frozenset({"tool_choice", "parallel_tool_calls", "max_tool_calls"})
"""Sampling fields that servers refuse in a request without tools."""


def _head(config: Config) -> bytes:
    """The body up to its first item: model, tools and sampling, alike in capture, F and P."""
    settings = config.provider
    wire = WIRES[settings.protocol]
    tools, sampling = list(tool_specs(config.projection)), settings.sampling
    if config.control:
        tools = []
        sampling = {name: value for name, value in sampling.items() if name not in _OF_TOOLS}
    return body.head({**wire.settings(settings.model, tools), **sampling}, wire.items_field)


def _opening(task: Task, config: Config) -> list[Item]:
    source, wire = task.source, WIRES[config.provider.protocol]
    package = f"{source.package} {source.version}"
    system, files = (CLOSED_BOOK_SYSTEM, ()) if config.control else (SYSTEM, source.files)
    user = opening(task.prompt, package, files, task.premises, task.keys)
    return [wire.message("system", system), wire.message("user", user)]


def _opening_digest(task: Task, config: Config) -> str:
    return digest([dict(item.value) for item in _opening(task, config)])
