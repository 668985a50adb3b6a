"""The kernels that a corpus creates in functions, counted with `ast` alone.

Nothing of the linter is used: this is what its findings are held against. Like a reader who goes through
the files one at a time, the count takes ``@wp.kernel``, ``@wp.kernel(…)``, ``wp.kernel(f, …)`` and
``wp.kernel(…)(f)`` for kernels, under every name that the file gives to Warp, and asks of each where it
stands and whether it has a module of its own.
"""

from __future__ import annotations

import ast
import enum
import functools
from pathlib import Path
from typing import NamedTuple, TypeAlias

_Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


class Place(enum.Enum):
    """Where a kernel is created."""

    MODULE = enum.auto()
    CLASS = enum.auto()
    """In the body of a class, and of no function: when the file is imported."""
    FUNCTION = enum.auto()


class Home(enum.Enum):
    """The Warp module that a kernel joins."""

    OWN = enum.auto()
    """That of its file: there is no ``module=``."""
    UNIQUE = enum.auto()
    LITERAL = enum.auto()
    """One that is named by a string."""
    COMPUTED = enum.auto()
    """One that is named by a variable or any other expression."""


class Kernel(NamedTuple):
    """A kernel, at the line of its decorator or of the call that makes it."""

    path: str
    """From the top of the corpus, with slashes."""
    line: int
    function: str
    """Qualified as in `__qualname__`, without ``<locals>``; for a call, the function that it stands in."""
    place: Place
    home: Home


@functools.cache
def kernels(root: Path) -> tuple[Kernel, ...]:
    """Every kernel in the Python files under ``root``, by path and line."""
    found: list[Kernel] = []
    for file in root.rglob("*.py"):
        text = file.read_bytes()
        if b"kernel" in text:
            tree = ast.parse(text)
            reader = _Reader(file.relative_to(root).as_posix(), _names_of_warp(tree))
            reader.visit(tree)
            found += reader.kernels
    return tuple(sorted(found, key=lambda kernel: (kernel.path, kernel.line)))


def nested_kernels(root: Path) -> list[Kernel]:
    """The kernels that are created in a function and have no ``module=``."""
    return [kernel for kernel in kernels(root) if (kernel.place, kernel.home) == (Place.FUNCTION, Home.OWN)]


def _names_of_warp(tree: ast.Module) -> set[str]:
    """What the file calls the kernel decorator: ``wp.kernel``, ``warp.kernel``, ``kernel``.

    What comes with ``from anywhere import *`` or as ``from anywhere import wp`` is taken for Warp as well.
    """
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {f"{alias.asname or 'warp'}.kernel" for alias in node.names if alias.name == "warp"}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name in ("wp", "*"):
                    names.add(f"{alias.asname or 'wp'}.kernel")
                elif alias.name == "kernel" and node.module == "warp":
                    names.add(alias.asname or "kernel")
    return names


class _Reader(ast.NodeVisitor):
    def __init__(self, path: str, decorators: set[str]) -> None:
        self.kernels: list[Kernel] = []
        self._path = path
        self._decorators = decorators
        self._scopes: list[_Scope] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            if self._is_warp_kernel(decorator):
                self._add(decorator, [*self._scopes, node])
            else:
                self.visit(decorator)
        node.decorator_list = []
        self._visit_scope(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_scope(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_scope(node)

    def visit_Call(self, node: ast.Call) -> None:
        if node.args and self._is_warp_kernel(node.func):  # wp.kernel(f, …) or wp.kernel(…)(f)
            self._add(node, self._scopes)
        self.generic_visit(node)

    def _visit_scope(self, node: _Scope) -> None:
        self._scopes.append(node)
        self.generic_visit(node)
        self._scopes.pop()

    def _is_warp_kernel(self, node: ast.expr) -> bool:
        """Whether it is ``wp.kernel`` or ``wp.kernel(…)``."""
        return _dotted(node.func if isinstance(node, ast.Call) else node) in self._decorators

    def _add(self, maker: ast.expr, named: list[_Scope]) -> None:
        function = ".".join(getattr(scope, "name", "<lambda>") for scope in named)
        self.kernels.append(Kernel(self._path, maker.lineno, function, self._place(), _home(maker)))

    def _place(self) -> Place:
        if all(isinstance(scope, ast.ClassDef) for scope in self._scopes):
            return Place.CLASS if self._scopes else Place.MODULE
        return Place.FUNCTION


def _dotted(node: ast.expr) -> str | None:
    """The text of ``a`` or ``a.b``."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(name), attribute):
            return f"{name}.{attribute}"
    return None


def _home(maker: ast.expr) -> Home:
    while isinstance(maker, ast.Call):
        for keyword in maker.keywords:
            if keyword.arg == "module":
                match keyword.value:
                    case ast.Constant(None):
                        return Home.OWN
                    case ast.Constant("unique"):
                        return Home.UNIQUE
                    case ast.Constant():
                        return Home.LITERAL
                return Home.COMPUTED
        maker = maker.func
    return Home.OWN
