"""Compute a property when it is first asked for, and keep it.

`functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes: where it asks
a server that is silent, every thread that asks another server waits, too. This one has no lock: threads that ask at the
same moment may compute twice, and the last result is kept.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy_property(Generic[T]):
    """Decorate a method without arguments whose result is the instance's own for good."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._compute(instance)
        return found
