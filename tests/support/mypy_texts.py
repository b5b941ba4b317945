"""For mypy: a text that has words for several readers becomes a string by `render` alone, never by an f-string."""

from collections.abc import Callable

from mypy.nodes import TypeInfo
from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.types import Instance, ProperType, Type, UnionType, get_proper_type

_PHRASE = "twinhive.core.model.text.Phrase"
_REFUSED = "A text in an f-string or str() has the words of policies alone: use render(), or + to make a longer text"


class _Texts(Plugin):
    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        return _refused if fullname == "builtins.str.format" else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _refused if fullname in ("builtins.str", "builtins.repr", "builtins.print") else None


def _refused(context: MethodContext | FunctionContext) -> Type:
    given = (get_proper_type(one) for some in context.arg_types for one in some)
    if any(map(_holds_a_phrase, given)):
        context.api.fail(_REFUSED, context.context)
    return context.default_return_type


def _holds_a_phrase(given: ProperType) -> bool:
    if isinstance(given, UnionType):
        return any(_holds_a_phrase(get_proper_type(item)) for item in given.items)
    return isinstance(given, Instance) and _is_phrase(given.type)


def _is_phrase(info: TypeInfo) -> bool:
    return info.has_base(_PHRASE)


def plugin(version: str) -> type[Plugin]:
    """Return what mypy asks for its hooks."""
    return _Texts
