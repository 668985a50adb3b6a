"""What an expression can stand for once names are resolved: a small abstract domain.

An evaluation gives a tuple of values: the alternatives seen in the code, `UNKNOWN` among them where some
way to a value was not understood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

PlainValue: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


@dataclass(frozen=True, slots=True)
class Constant:
    value: PlainValue
    kind: str = ""
    """The name of the value's type: keeps ``1``, ``1.0`` and ``True`` apart."""


def constant(value: PlainValue) -> Constant:
    """A constant that is equal only to constants of its own type."""
    return Constant(value, type(value).__name__)


@dataclass(frozen=True, slots=True)
class External:
    """Something of a package outside the project, by its dotted name; Warp's own are always external."""

    name: str


@dataclass(frozen=True, slots=True)
class ExternalResult:
    """What a call of something external gave back: ``wp.Tape()`` is the result of ``warp.Tape``."""

    name: str


@dataclass(frozen=True, slots=True)
class PythonModule:
    """A file of the project, as a module."""

    file: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda of the project. ``environment`` is what its free names were bound to where it
    was created by a call that is being followed."""

    file: int
    scope: int
    environment: Environment = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A ``wp.func``."""

    file: int
    scope: int


@dataclass(frozen=True, slots=True)
class Kernel:
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


@dataclass(frozen=True, slots=True)
class ModuleOf:
    """``kernel.module``, or ``wp.get_module(name)`` where ``kernel`` is None."""

    kernel: Kernel | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class OptionsOf:
    """The dict of a module's options; ``module`` is None for that of the file that asks."""

    module: ModuleOf | None


@dataclass(frozen=True, slots=True)
class Class:
    file: int
    scope: int


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the project."""

    of: Class


@dataclass(frozen=True, slots=True)
class Method:
    """A function looked up on an object or class: the first argument is bound."""

    function: Function
    owner: Instance | Class


@dataclass(frozen=True, slots=True)
class Partial:
    function: Value
    arguments: Arguments = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Collection:
    """A tuple, list or set whose items are known; each item has alternatives."""

    kind: str
    items: tuple[Values, ...]


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dict whose keys are constants. ``open``: it may have other items too."""

    items: tuple[tuple[PlainValue, Values], ...]
    open: bool = False

    def get(self, key: PlainValue) -> Values | None:
        for item_key, values in reversed(self.items):
            if item_key == key and type(item_key) is type(key):
                return values
        return None


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """A parameter that no call being followed has bound."""

    file: int
    scope: int
    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
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


@dataclass(frozen=True, slots=True)
class Arguments:
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
