"""``lazy``: attributes that are computed at first use."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - used like property
    """``functools.cached_property`` without its lock (one per class before Python 3.12): threads need not wait."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, thing: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, thing: object, owner: type) -> Value: ...
    def __get__(self, thing: object | None, owner: type) -> "lazy[Value] | Value":
        if thing is None:
            return self
        value = self._function(thing)
        thing.__dict__[self._name] = value
        return value
