"""What an expression can stand for once names are resolved: a small abstract domain.

An evaluation gives a tuple of values: the alternatives seen in the code, `UNKNOWN` among them where some
way to a value was not understood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

PlainValue: TypeAlias = str | int | float | bool | None


class Unknown(msgspec.Struct, frozen=True, gc=False):
    """Nothing is known."""


class Constant(msgspec.Struct, frozen=True, gc=False):
    value: PlainValue
    kind: str = ""
    """The name of the value's type: keeps ``1``, ``1.0`` and ``True`` apart."""


def constant(value: PlainValue) -> Constant:
    """A constant that is equal only to constants of its own type."""
    return Constant(value, type(value).__name__)


class External(msgspec.Struct, frozen=True, gc=False):
    """Something of a package outside the project, by its dotted name; Warp's own are always external."""

    name: str


class ExternalResult(msgspec.Struct, frozen=True, gc=False):
    """What a call of something external gave back: ``wp.Tape()`` is the result of ``warp.Tape``."""

    name: str


class PythonModule(msgspec.Struct, frozen=True, gc=False):
    """A file of the project, as a module."""

    file: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda of the project. ``environment`` is what its free names were bound to where it
    was created by a call that is being followed."""

    file: int
    scope: int
    environment: Environment = field(default_factory=dict, compare=False, repr=False)


class DeviceFunction(msgspec.Struct, frozen=True, gc=False):
    """A ``wp.func``."""

    file: int
    scope: int


class Kernel(msgspec.Struct, frozen=True, gc=False):
    """A Warp kernel, by the function that is its body, and by the call that made it (file and index) where
    it was no decorator: one function can become several kernels."""

    file: int
    scope: int
    call: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True)
class KernelDecorator:
    """What ``wp.kernel(module=…)`` gives back: the next call makes the kernel."""

    arguments: Arguments = field(compare=False, repr=False)
    call: tuple[int, int] = (-1, -1)


class ModuleOf(msgspec.Struct, frozen=True):
    """``kernel.module``, or ``wp.get_module(name)`` where ``kernel`` is None."""

    kernel: Kernel | None
    name: str = ""


class OptionsOf(msgspec.Struct, frozen=True):
    """The dict of a module's options; ``module`` is None for that of the file that asks."""

    module: ModuleOf | None


class Class(msgspec.Struct, frozen=True, gc=False):
    file: int
    scope: int


class Instance(msgspec.Struct, frozen=True):
    """An object of a class of the project."""

    of: Class


class Method(msgspec.Struct, frozen=True):
    """A function looked up on an object or class: the first argument is bound."""

    function: Function
    owner: Instance | Class


@dataclass(frozen=True, slots=True)
class Partial:
    function: Value
    arguments: Arguments = field(compare=False, repr=False)


class Collection(msgspec.Struct, frozen=True):
    """A tuple, list or set whose items are known; each item has alternatives."""

    kind: str
    items: tuple[Values, ...]


class Dictionary(msgspec.Struct, frozen=True):
    """A dict whose keys are constants. ``open``: it may have other items too."""

    items: tuple[tuple[PlainValue, Values], ...]
    open: bool = False

    def get(self, key: PlainValue) -> Values | None:
        for item_key, values in reversed(self.items):
            if item_key == key and type(item_key) is type(key):
                return values
        return None


class ParameterValue(msgspec.Struct, frozen=True, gc=False):
    """A parameter that no call being followed has bound."""

    file: int
    scope: int
    name: str


class Symbol(msgspec.Struct, frozen=True, gc=False):
    """An unknown value that is told apart by how it is computed: ``tuned("forward")`` and
    ``tuned("backward")`` are two symbols."""

    text: str


Value: TypeAlias = (
    Unknown
    | Constant
    | External
    | ExternalResult
    | PythonModule
    | Function
    | DeviceFunction
    | Kernel
    | KernelDecorator
    | ModuleOf
    | OptionsOf
    | Class
    | Instance
    | Method
    | Partial
    | Collection
    | Dictionary
    | ParameterValue
    | Symbol
)
Values: TypeAlias = tuple[Value, ...]
Environment: TypeAlias = dict[tuple[int, int], dict[str, Values]]
"""Names bound by the calls and loops that are being followed, by file and scope."""

UNKNOWN = Unknown()
MOST_ALTERNATIVES = 24
"""With more alternatives than this a value counts as unknown."""


class Arguments(msgspec.Struct, frozen=True):
    """The evaluated arguments of a call. ``open``: there may be others (``*unknown``, ``**unknown``)."""

    positional: tuple[Values, ...] = ()
    keywords: tuple[tuple[str, Values], ...] = ()
    open: bool = False

    def keyword(self, name: str) -> Values | None:
        for keyword, values in self.keywords:
            if keyword == name:
                return values
        return None

    def get(self, position: int, name: str) -> Values | None:
        """An argument by position or name; None when it is not given."""
        if 0 <= position < len(self.positional):
            return self.positional[position]
        return self.keyword(name)

    def merged(self, later: Arguments) -> Arguments:
        """The arguments of a ``functools.partial`` followed by those of its call."""
        given = {keyword for keyword, _ in later.keywords}
        kept = tuple(item for item in self.keywords if item[0] not in given)
        return Arguments(self.positional + later.positional, kept + later.keywords, self.open or later.open)


def distinct(values: Values | list[Value]) -> Values:
    """The values, each once, in the order first seen; just `UNKNOWN` when there are too many."""
    if len(values) < 2:
        return tuple(values)
    result = tuple(dict.fromkeys(values))
    return result if len(result) <= MOST_ALTERNATIVES else (UNKNOWN,)


def known_constants(values: Values) -> list[PlainValue]:
    """The constants among the alternatives."""
    return [value.value for value in values if isinstance(value, Constant)]


def only_constant(values: Values | None) -> Constant | None:
    """The constant that the values can only be; None when there are others or none."""
    if values is not None and len(values) == 1 and isinstance(values[0], Constant):
        return values[0]
    return None
