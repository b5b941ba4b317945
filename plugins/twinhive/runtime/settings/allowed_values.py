"""In words what a key may hold: the same words in the reference and in errors."""

import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from twinhive.runtime.settings.value_kinds import Unit

AnnotatedType = tuple[Any, Sequence[Any]]
"""A type with what is said of it: bounds, units."""

_PLAIN: Mapping[Any, str] = {bool: "true, false", str: "text", int: "whole number", float: "number", Any: "any value"}


def kind_of(field: FieldInfo) -> AnnotatedType:
    """Return the kind of a field's values."""
    return field.annotation, field.metadata


def allowed(kind: AnnotatedType) -> str:
    """Return what a value may be, such as `seconds, 1 to 3600`."""
    annotation, metadata = _without_none(kind)
    units = [item.name for item in metadata if isinstance(item, Unit)]
    origin: Any = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is tuple:
        least = ", at least one" if any(isinstance(item, MinLen) for item in metadata) else ""
        return f"list of: {allowed((arguments[0], ()))}{least}"
    if origin is not None:
        return "text → text" if arguments[1] is str else f"any names, below each: {allowed((arguments[1], ()))}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{choice.value}`" for choice in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"keys: {', '.join(f'`{name}`' for name in annotation.model_fields)}"
    return ", ".join([*(units or ([] if _range(metadata) else [_PLAIN[annotation]])), *_range(metadata)])


def _range(metadata: Sequence[Any]) -> list[str]:
    least = next((item.ge for item in metadata if isinstance(item, Ge)), None)
    most = next((item.le for item in metadata if isinstance(item, Le)), None)
    above = next((item.gt for item in metadata if isinstance(item, Gt)), None)
    if above is not None:
        return [f"above {above:,}"]
    if least is None:
        return []
    return [f"{least:,} or more" if most is None else f"{least:,} to {most:,}"]


def kind_at(model: type[BaseModel], location: Sequence[Any]) -> AnnotatedType:
    """Return the kind of what stands at a place of a file, which may be below a name that people choose."""
    kind: AnnotatedType = (model, ())
    for part in location:
        annotation, _ = _without_none(kind)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            kind = kind_of(annotation.model_fields[part])
        else:
            # The items of a list; the values below names.
            inner = get_args(annotation)
            kind = (inner[0] if len(inner) == 2 and inner[1] is Ellipsis else inner[1]), ()
    return _without_none(kind)


def _without_none(kind: AnnotatedType) -> AnnotatedType:
    """Look through `X | None` and `Annotated`."""
    annotation, metadata = kind
    origin: Any = get_origin(annotation)
    if origin in (Union, types.UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    if not hasattr(annotation, "__metadata__"):
        return annotation, metadata
    annotation, *more = get_args(annotation)
    flat = [one for item in more for one in (item.metadata if isinstance(item, FieldInfo) else [item])]
    return annotation, [*metadata, *flat]
