"""Small programs of several files at random, in which things happen in the right or in the wrong order.

Each program is a package ``app`` with kernels in three files, and a ``main.py`` that launches them, sets
options, declares overloads, loads modules and imports files on all the ways that the Timeline claims to
follow. Which branches it takes depends on the environment alone.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

FLAGS = ("FLAG_1", "FLAG_2", "FLAG_3")
"""Environment variables, each of which decides about one branch: set to anything it is taken."""

_OPTIONS = ('"max_unroll": 8', '"fast_math": True', '"enable_backward": False')
_SAME = ('"max_unroll": 16', '"fast_math": False', '"enable_backward": True')


@dataclass
class Program:
    """The files of a program, by their paths."""

    seed: int
    files: dict[str, str] = field(default_factory=dict)


def program(seed: int) -> Program:
    """The program of a seed: always the same."""
    return _Writer(seed).program()


def _kernel(name: str, factor: int) -> str:
    return f"@wp.kernel\ndef {name}(x: wp.array(dtype=float)):\n    x[wp.tid()] = {factor}.0\n"


class _Writer:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seed = seed
        self._count = 0
        self._flags = list(FLAGS)
        self._definitions: list[str] = []
        """The functions that ``main.py`` defines above its flow."""
        self._kernels: list[str] = []
        """Its kernels there, above the functions."""
        self._letters = ["a", "b"]

    def program(self) -> Program:
        main = self._main_file()
        files = {f"app/kernels_{letter}.py": self._kernels_file(letter, main) for letter in self._letters}
        files["app/generic.py"] = self._generic_file(main)
        if "app.late" in main:
            files["app/late.py"] = self._late_file()
        files["app/launching.py"] = _LAUNCHING
        files["app/__init__.py"] = self._init_file()
        files["main.py"] = main
        return Program(self._seed, files)

    def _chance(self, share: float = 0.5) -> bool:
        return self._random.random() < share

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    # -- the files of the package ------------------------------------------------------------------------

    def _kernels_file(self, letter: str, main: str) -> str:
        """What no one calls is not there: the linter would judge it as if somebody did."""
        parts = ["import warp as wp\n"]
        if self._chance(0.3):
            parts.append(f"wp.set_module_options({{{self._random.choice(_OPTIONS)}}})\n")
        parts.append(_kernel(f"fill_{letter}", 1))
        if f"kernels_{letter}.configure" in main:
            options = self._random.choice(_OPTIONS)
            parts.append(f"def configure():\n    wp.set_module_options({{{options}}})\n")
        parts.append(f"def run(x):\n    wp.launch(fill_{letter}, dim=1, inputs=[x], device='cpu')\n")
        second = _kernel(f"scale_{letter}", 2)
        if self._chance(0.15):  # late, when the file is imported
            x = "wp.zeros(1, dtype=float, device='cpu')"
            parts.append(f"wp.launch(fill_{letter}, dim=1, inputs=[{x}], device='cpu')\n")
            if self._chance():
                second = f"def make():\n{textwrap.indent(second, '    ')}    return scale_{letter}\n"
                second += f"scale_{letter} = make()\n"
        parts.append(second)
        return "\n\n".join(parts)

    def _generic_file(self, main: str) -> str:
        parts = ["from typing import Any", "import warp as wp\n"]
        parts.append("@wp.kernel\ndef copy(x: wp.array(dtype=Any)):\n    x[wp.tid()] = x[wp.tid()]\n")
        parts.append("wp.overload(copy, [wp.array(dtype=float)])\n")
        if "generic.declare()" in main:
            parts.append("def declare():\n    wp.overload(copy, [wp.array(dtype=int)])\n")
        if "generic.declare_again()" in main:
            parts.append("def declare_again():\n    wp.overload(copy, [wp.array(dtype=float)])\n")
        parts.append("def run(x):\n    wp.launch(copy, dim=1, inputs=[x], device='cpu')\n")
        return "\n\n".join(parts)

    def _late_file(self) -> str:
        """A file that is imported late: what it defines joins its own module, what it sets another's."""
        parts = ["import warp as wp", "from app import kernels_a\n", _kernel("late", 3)]
        if self._chance():
            parts.append(f"wp.set_module_options({{{self._random.choice(_OPTIONS)}}}, module=kernels_a)")
        return "\n\n".join(parts) + "\n"

    def _init_file(self) -> str:
        if self._chance(0.3):
            return "from app.kernels_a import fill_a as exported\n"
        return ""

    # -- the program -------------------------------------------------------------------------------------

    def _main_file(self) -> str:
        steps = [self._block(2) for _ in range(self._random.randint(2, 5))]
        body = "\n".join(steps)
        if self._chance(0.6):
            way = self._random.choice(
                (self._as_function, self._as_method, self._as_generator, self._as_async)
            )
            body = way(body)
        text = "\n".join((_IMPORTS, "\n\n".join((*self._kernels, *self._definitions)), body, _FINALLY))
        return text if text.endswith("\n") else text + "\n"

    def _as_function(self, body: str) -> str:
        return f"def main(x):\n{textwrap.indent(body, '    ')}\n\n\nif __name__ == '__main__':\n    main(x)\n"

    def _as_method(self, body: str) -> str:
        method = textwrap.indent(f"def run(self, x):\n{textwrap.indent(body, '    ')}", "    ")
        if self._chance():
            return f"class Base:\n{method}\n\n\nclass App(Base):\n    pass\n\n\nApp().run(x)\n"
        base = f"class Base:\n{method}\n\n\nclass App(Base):\n    def run(self, x):\n        super().run(x)\n"
        return f"{base}\n\napp = App()\napp.run(x)\n"

    def _as_generator(self, body: str) -> str:
        inner = textwrap.indent(body, "    ")
        return f"def steps(x):\n{inner}\n    yield x\n\n\nfor _ in steps(x):\n    pass\n"

    def _as_async(self, body: str) -> str:
        inner = textwrap.indent(body, "    ")
        start = "async def start(x):\n    await main(x)\n"
        return f"async def main(x):\n{inner}\n\n\n{start}\n\nasyncio.run(start(x))\n"

    def _block(self, depth: int) -> str:
        """One or a few steps with what stands around them."""
        if depth == 0 or self._chance(0.55):
            return self._step()
        shapes: list[Callable[[int], str]] = [self._loop, self._try, self._with]
        if self._flags:
            shapes += [self._if, self._if_else, self._match, self._leaving]
        return self._random.choice(shapes)(depth)

    def _flag(self) -> str:
        return f"os.environ.get('{self._flags.pop()}')"

    def _loop(self, depth: int) -> str:
        return f"for _ in range(2):\n{self._inner(depth)}\n{self._inner(depth)}"

    def _try(self, depth: int) -> str:
        return f"try:\n{self._inner(depth)}\nfinally:\n{self._inner(depth)}"

    def _with(self, depth: int) -> str:
        return f"with wp.ScopedTimer('x', print=False):\n{self._inner(depth)}"

    def _if(self, depth: int) -> str:
        return f"if {self._flag()}:\n{self._inner(depth)}"

    def _if_else(self, depth: int) -> str:
        return f"if {self._flag()}:\n{self._inner(depth)}\nelse:\n{self._inner(depth)}"

    def _inner(self, depth: int) -> str:
        return textwrap.indent(self._block(depth - 1), "    ")

    def _match(self, depth: int) -> str:
        flag = self._flag()
        first, second = (textwrap.indent(self._inner(depth), "    ") for _ in range(2))
        return f"match {flag}:\n    case None:\n{first}\n    case _:\n{second}"

    def _leaving(self, depth: int) -> str:
        """A function that leaves early."""
        name, flag = self._name("leave"), self._flag()
        early = textwrap.indent(self._inner(depth), "    ")
        body = f"    if {flag}:\n{early}\n        return\n{self._inner(depth)}\n"
        self._definitions.append(f"def {name}(x):\n{body}")
        return f"{name}(x)"

    def _step(self) -> str:
        steps: tuple[Callable[[], str], ...] = (
            self._launch,
            self._launch,
            self._launch,
            self._set_options,
            self._set_options,
            self._overload,
            self._load,
            self._define,
            self._import_late,
        )
        return self._random.choice(steps)()

    def _launch(self) -> str:
        letter = self._random.choice(self._letters)
        kernel = f"kernels_{letter}.{self._random.choice(('fill', 'scale'))}_{letter}"
        name = self._name("way")
        ways: tuple[Callable[[], str], ...] = (
            lambda: f"wp.launch({kernel}, dim=1, inputs=[x], device='cpu')",
            lambda: f"kernels_{letter}.run(x)",
            lambda: f"launching.launch({kernel}, x)",
            lambda: f"launching.Launcher({kernel}).run(x)",
            lambda: f"launching.call(kernels_{letter}.run, x)",
            lambda: f"launching.call_later(kernels_{letter}.run, x)",
            lambda: f"functools.partial(launching.launch, {kernel})(x)",
            lambda: f"{{'run': kernels_{letter}.run}}['run'](x)",
            lambda: f"for {name} in ({kernel},):\n    wp.launch({name}, dim=1, inputs=[x], device='cpu')",
            lambda: f"for {name} in [kernels_{letter}.run]:\n    {name}(x)",
            lambda: f"[kernels_{letter}.run(x) for _ in range(1)]",
            lambda: f"list(launching.launch_each([{kernel}], x))",
            lambda: f"(lambda: kernels_{letter}.run(x))()",
            lambda: self._in_function(f"kernels_{letter}.run(x)"),
            lambda: self._in_decorated(f"kernels_{letter}.run(x)"),
            lambda: "generic.run(x)",
        )
        return self._random.choice(ways)()

    def _in_function(self, statement: str) -> str:
        name, outer = self._name("inner"), self._name("outer")
        self._definitions.append(f"def {name}(x):\n    {statement}\n\n\ndef {outer}(x):\n    {name}(x)\n")
        return f"{outer}(x)"

    def _in_decorated(self, statement: str) -> str:
        name = self._name("decorated")
        self._definitions.append(f"@launching.passing\ndef {name}(x):\n    {statement}\n")
        return f"{name}(x)"

    def _set_options(self) -> str:
        letter = self._random.choice(self._letters)
        options = self._random.choice((*_OPTIONS, *_SAME))
        ways = (
            f"kernels_{letter}.configure()",
            f"launching.call_without(kernels_{letter}.configure)",
            f"wp.set_module_options({{{options}}}, module=kernels_{letter})",
            f"launching.configure(kernels_{letter}, {{{options}}})",
        )
        return self._random.choice(ways)

    def _overload(self) -> str:
        ways = (
            "generic.declare()",
            "generic.declare_again()",
            "wp.overload(generic.copy, [wp.array(dtype=int)])",
            "wp.overload(generic.copy, [wp.array(dtype=wp.float64)])",
        )
        return self._random.choice(ways)

    def _load(self) -> str:
        return f"wp.load_module({self._random.choice(('kernels_a', 'kernels_b', 'generic'))}, device='cpu')"

    def _define(self) -> str:
        """Kernels of ``main.py`` itself: one above the flow, one in it."""
        name = self._name("own")
        launch = f"wp.launch({name}, dim=1, inputs=[x], device='cpu')"
        if self._chance(0.4):
            self._kernels.append(_kernel(name, 4))
            return launch
        return f"{_kernel(name, 5)}{launch}"

    def _import_late(self) -> str:
        return "import app.late\nwp.launch(app.late.late, dim=1, inputs=[x], device='cpu')"


_IMPORTS = """\
import asyncio
import functools
import os

import warp as wp

import app
from app import generic, kernels_a, kernels_b, launching

x = wp.zeros(1, dtype=float, device='cpu')

"""
_FINALLY = """
# Whatever was changed is used once more.
wp.launch(kernels_a.fill_a, dim=1, inputs=[x], device='cpu')
wp.launch(kernels_b.fill_b, dim=1, inputs=[x], device='cpu')
wp.launch(generic.copy, dim=1, inputs=[x], device='cpu')
"""
_LAUNCHING = """\
import functools

import warp as wp


def launch(kernel, x):
    wp.launch(kernel, dim=1, inputs=[x], device='cpu')


class Launcher:
    def __init__(self, kernel):
        self.kernel = kernel

    def run(self, x):
        wp.launch(self.kernel, dim=1, inputs=[x], device='cpu')


def call(function, x):
    function(x)


def call_later(callback, x):
    def inner():
        return callback(x)

    return call_without(inner)


def call_without(function):
    return function()


def launch_each(kernels, x):
    for kernel in kernels:
        wp.launch(kernel, dim=1, inputs=[x], device='cpu')
        yield x


def configure(module, options):
    wp.set_module_options(options, module=module)


def passing(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper
"""
