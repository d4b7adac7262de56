"""Dataclasses to plain JSON values and back, strictly typed by their annotations."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Unreadable(ValueError):
    """The JSON does not have the shape the dataclass asks for; the text names the field."""


def to_json(value: Any) -> Any:  # noqa: ANN401 - any of our words, to any JSON value
    """Plain dict/list/str/number of a dataclass (defaults are kept, so that readers need no schema)."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(item) for item in value)
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    return value


def from_json(kind: type[T], data: Any, where: str = "") -> T:  # noqa: ANN401 - JSON
    """The dataclass ``kind`` from JSON values. Unknown fields are ignored (newer writers).

    Raises:
        Unreadable: a field is missing or has the wrong type; the text names it.
    """
    return cast("T", _read(kind, data, where or kind.__name__))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(kind: Any, data: Any, where: str) -> Any:  # noqa: ANN401
    if kind is Any:
        return data
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _read_union(kind, data, where)
    if origin in (tuple, list, frozenset):
        if not isinstance(data, list):
            raise Unreadable(f"{where}: expected a list, got {data!r:.80}")
        items = [_read(typing.get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(data)]
        return origin(items)
    if origin is dict:
        if not isinstance(data, dict):
            raise Unreadable(f"{where}: expected an object, got {data!r:.80}")
        value_kind = typing.get_args(kind)[1]
        return {key: _read(value_kind, item, f"{where}.{key}") for key, item in data.items()}
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(cast("type", kind), data, where)
    return _read_plain(kind, data, where)


def _read_union(kind: Any, data: Any, where: str) -> Any:  # noqa: ANN401
    options = typing.get_args(kind)
    if data is None and type(None) in options:
        return None
    problem = Unreadable(f"{where}: expected a value, got {data!r:.80}")
    for option in options:
        if option is type(None):
            continue
        try:
            return _read(option, data, where)
        except Unreadable as error:
            problem = error
    raise problem


def _read_dataclass(kind: type, data: Any, where: str) -> Any:  # noqa: ANN401
    if not isinstance(data, dict):
        raise Unreadable(f"{where}: expected an object, got {data!r:.80}")
    hints, values = _hints(kind), {}
    for field in dataclasses.fields(kind):
        if field.name in data:
            values[field.name] = _read(hints[field.name], data[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Unreadable(f"{where}.{field.name}: missing")
    return kind(**values)


def _read_plain(kind: Any, data: Any, where: str) -> Any:  # noqa: ANN401
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            known = ", ".join(str(member.value) for member in kind)
            raise Unreadable(f"{where}: {data!r} is none of: {known}") from None
    if kind is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        return float(data)
    if isinstance(data, kind) and not (kind is int and isinstance(data, bool)):
        return data
    raise Unreadable(f"{where}: expected {kind.__name__}, got {data!r:.80}")
