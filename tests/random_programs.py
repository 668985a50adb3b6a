"""Programs at random, from a small grammar of what people write with Warp, in many styles of writing.

Each is a module that Python imports and Warp accepts. What would build kernels stands in it too, so a test
that imports one replaces the calls that build.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

_COMMENTS = ("# plain", "#no blank", "# größer 🙂", "# a = 'string", "# wp.launch(kernel, dim=1)", "#")
_OPTIONS = (
    '"enable_backward": False',
    '"enable_backward": True',
    '"max_unroll": 4',
    "'fast_math': True",
    '"block_dim": 64',
)
_KERNEL_ARGUMENTS = (
    "",
    "()",
    "(enable_backward=False)",
    "(module=None)",
    '(module="unique")',
    '(module="shared")',
    "( enable_backward = True , )",
    "(\n    enable_backward=False,  # no gradients\n)",
    "(\n    # above\n    enable_backward=True\n)",
    '(\n    module="unique",\n    module_options={"max_unroll": 2},\n    # below\n)',
    "(enable_backward=(\n    False))",
)
_BLOCK_DIMS = ("", "", ", block_dim=64", ", block_dim=128", ", block_dim=BLOCK")
_LATE = (
    'wp.set_module_options({"max_unroll": 8})',
    'wp.set_module_options({"enable_backward": False})',
    "wp.load_module()",
    "wp.config.verify_fp = True",
    "wp.clear_kernel_cache()",
    "wp.config.max_unroll = 8",
)


@st.composite
def programs(draw: DrawFn) -> bytes:
    """The bytes of a program."""
    text = _Program(draw).text()
    indentation = draw(st.sampled_from(("    ", "    ", "\t", "  ")))
    lines = text.split("\n")
    text = "\n".join(_with_indentation(line, indentation) for line in lines)
    text = text.replace("wp", draw(st.sampled_from(("wp", "wp", "warp", "ωp"))))
    text = text.replace("import warp as warp\n", "import warp\n")
    if draw(st.booleans()):
        text = text.rstrip("\n")
    line_end = draw(st.sampled_from(("\n", "\n", "\r\n", "\r")))
    encoding = draw(st.sampled_from(("utf-8", "utf-8", "utf-8-sig")))
    return text.replace("\n", line_end).encode(encoding)


def _with_indentation(line: str, indentation: str) -> str:
    code = line.lstrip(" ")
    blanks = len(line) - len(code)
    return indentation * (blanks // 4) + " " * (blanks % 4) + code


class _Program:
    """Draws the statements of one program; names are numbered, so that none is defined twice."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._lines: list[str] = []
        self._count = 0
        self._kernels: list[str] = []

    def text(self) -> str:
        if self._chance():
            self._write(0, '"""What this is.\n\n# no comment\n"""')
        self._write(0, "import warp as wp")
        if self._chance():
            self._write(0, "import numpy as np; import math")
        self._write(0, "BLOCK = 256")
        parts: tuple[Callable[[], None], ...] = (
            self._options,
            self._options,
            self._kernel_at_top,
            self._kernel_at_top,
            self._function,
            self._function,
            self._function,
            self._launch_at_top,
            self._late_statement,
            self._device_function,
            self._generic_kernel,
            self._class,
        )
        for _ in range(self._draw(st.integers(1, 6))):
            self._draw(st.sampled_from(parts))()
        if self._chance():
            self._main()
        return "\n".join(self._lines) + "\n"

    # -- statements of the module ----------------------------------------------------------------------

    def _options(self) -> None:
        options = self._draw(
            st.lists(st.sampled_from(_OPTIONS), min_size=1, max_size=2, unique_by=lambda option: option[:9])
        )
        if self._chance():
            self._write(0, f"wp.set_module_options({{{', '.join(options)}}})")
        else:
            entries = "".join(f"    {option},  # why\n" for option in options)
            self._write(0, f"wp.set_module_options({{\n{entries}}})")

    def _kernel_at_top(self) -> None:
        self._kernels.append(self._kernel(0))

    def _device_function(self) -> None:
        self._write(0, f"@wp.func\ndef {self._name('helper')}(x: float):\n    return x * 2.0")

    def _generic_kernel(self) -> None:
        from_any = self._name("generic")
        self._write(0, f"from typing import Any\n@wp.kernel\ndef {from_any}(x: wp.array(dtype=Any)):")
        self._write(0, "    x[wp.tid()] = x[wp.tid()]")
        if self._chance():
            self._write(0, f"wp.overload({from_any}, [wp.array(dtype=float)])")

    def _launch_at_top(self) -> None:
        if self._kernels:
            self._launch(0, self._draw(st.sampled_from(self._kernels)))

    def _late_statement(self) -> None:
        self._write(0, self._draw(st.sampled_from(_LATE)))

    def _function(self) -> None:
        """A function that makes kernels, launches some, and does what comes too late."""
        name = self._name("run")
        self._write(0, f"def {name}(scale=2.0):")
        self._body(4)
        if self._chance():
            self._write(0, f"{name}()")

    def _class(self) -> None:
        self._write(0, f"class {self._name('Solver')}:\n    size = 3\n\n    def run(self, scale=1.0):")
        self._body(8)

    def _main(self) -> None:
        self._write(0, 'if __name__ == "__main__":')
        for kernel in self._kernels[:2]:
            self._launch(4, kernel)
        self._write(4, "pass")

    # -- what stands in functions -----------------------------------------------------------------------

    def _body(self, indentation: int) -> None:
        if self._chance():
            self._write(indentation, '"""Compute."""')
        kernels = list(self._kernels)
        last = ""
        for _ in range(self._draw(st.integers(1, 3))):
            choice = self._draw(st.integers(0, 4))
            if choice <= 1:
                last = self._kernel(indentation, captured=self._draw(st.sampled_from(("", "", "scale"))))
                kernels.append(last)
            elif choice == 2:
                self._write(indentation, self._draw(st.sampled_from(_LATE)))
            elif choice == 3:
                self._write(indentation, "first = 1; second = 2  # two on a line")
            elif kernels:
                self._launch(indentation, self._draw(st.sampled_from(kernels)))
        if last:
            self._launch(indentation, last)
        self._write(indentation, self._draw(st.sampled_from(("return None", "pass", "return  # done"))))

    def _kernel(self, indentation: int, captured: str = "") -> str:
        name = self._name("kernel")
        arguments = self._draw(st.sampled_from(_KERNEL_ARGUMENTS))
        factor = captured or "3.0"
        self._blank_lines()
        self._comment(indentation)
        self._write(indentation, f"@wp.kernel{arguments}{self._draw(st.sampled_from(('', '  # made here')))}")
        if self._chance():
            self._comment(indentation)
        body = self._draw(
            st.sampled_from(
                (
                    f"    i = wp.tid()\n    x[i] = x[i] * {factor}",
                    f"    i = wp.tid(); x[i] = {factor}  # both",
                    f"    # the body\n    i = wp.tid()\n\n    for k in range(3):\n        x[i] += {factor}",
                )
            )
        )
        self._write(indentation, f"def {name}(x: wp.array(dtype=float)):\n{body}")
        if self._chance():
            self._comment(indentation)
        return name

    def _launch(self, indentation: int, kernel: str) -> None:
        block_dim = self._draw(st.sampled_from(_BLOCK_DIMS))
        call = f"wp.launch({kernel}, dim=4, inputs=[wp.zeros(4)]{block_dim})"
        self._write(
            indentation, self._draw(st.sampled_from((call, f"{call}  # go", f"{call}; {call}", f"{call};")))
        )

    # -- words ------------------------------------------------------------------------------------------

    def _write(self, indentation: int, text: str) -> None:
        self._lines += [" " * indentation + line if line else "" for line in text.split("\n")]

    def _comment(self, indentation: int) -> None:
        if self._chance():
            self._write(indentation, self._draw(st.sampled_from(_COMMENTS)))

    def _blank_lines(self) -> None:
        self._lines += [""] * self._draw(st.integers(0, 3))

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def _chance(self) -> bool:
        return self._draw(st.booleans())
