"""TOML files read into pydantic models; a fault names the file, the field and what is allowed."""

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from revereval.errors import InputError


class Strict(BaseModel):
    """A table of a file: unknown fields are faults, values are not coerced, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


M = TypeVar("M", bound=BaseModel)


def load_toml(path: Path, model: type[M]) -> M:
    """Read and validate one file. Raises InputError."""
    try:
        raw = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file") from None
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise InputError(path, "", "not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, "", f"not TOML: {error}") from None
    return validated(path, raw, model)


def validated(source: Path | str, raw: object, model: type[M]) -> M:
    """Raises InputError for the first fault found."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(source, field, first["msg"]) from None
