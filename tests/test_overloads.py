"""Overloads: what is declared, what is launched, and where an overload goes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from itertools import combinations
from pathlib import Path

import pytest

from warp_lint.facts.extract import extract
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.overloads import Signature
from warp_lint.rules.overloads.excess_overloads import ExcessOverloads
from warp_lint.settings import Settings
from warp_lint.source import Source

TYPES = [
    "float", "wp.float32", "int", "wp.int32", "bool", "wp.bool", "wp.float16", "wp.float64", "wp.int64",
    "wp.uint64", "wp.uint8", "wp.vec3", "wp.vec3f", "wp.types.vector(3, float)",
    "wp.types.vector(length=3, dtype=wp.float32)", "wp.vec3d", "wp.vec3i", "wp.vec3h", "wp.vec2",
    "wp.types.vector(6, wp.float32)", "wp.spatial_vector", "wp.spatial_vectorf", "wp.mat33", "wp.mat33f",
    "wp.types.matrix((3, 3), float)", "wp.types.matrix(shape=(3, 3), dtype=wp.float64)", "wp.mat33d",
    "wp.mat22", "wp.types.matrix((6, 6), wp.float32)", "wp.spatial_matrix", "wp.quat", "wp.quatf",
    "wp.types.quaternion(float)", "wp.quatd", "wp.vec4", "wp.transform", "wp.transformf",
    "wp.types.transformation(wp.float32)", "wp.transformd", "wp.array(dtype=float)",
    "wp.array(dtype=wp.float32, ndim=1)", "wp.array1d(dtype=float)", "wp.array[float]",
    "wp.array1d[wp.float32]", "wp.array(dtype=float, ndim=2)", "wp.array2d(dtype=wp.float32)",
    "wp.array2d[float]", "wp.array[float, Literal[2]]", "wp.array3d(dtype=float)", "wp.array(dtype=int)",
    "wp.array(dtype=wp.vec3)", "wp.array(dtype=wp.types.vector(3, float))", "wp.indexedarray(dtype=float)",
    "wp.indexedarray(dtype=float, ndim=2)", "wp.indexedarray2d(dtype=float)", "wp.array(dtype=Vec5)",
    "wp.array(dtype=wp.types.vector(5, float))", "Particle", "wp.array(dtype=Particle)", "Other",
]  # fmt: skip
"""Type expressions, many of them for the same type."""

VALUES = [
    ("1", "int"),
    ("-1.5", "float"),
    ("True", "bool"),
    ("wp.float64(1)", "wp.float64"),
    ("float(1)", "float"),
    ("wp.vec3(1.0, 2.0, 3.0)", "wp.vec3"),
    ("wp.quatd()", "wp.quatd"),
    ("Particle()", "Particle"),
    ("wp.zeros(4)", "wp.array(dtype=float)"),
    ("wp.zeros(4, int)", "wp.array(dtype=int)"),
    ("wp.ones((2, 3), dtype=wp.float64)", "wp.array2d(dtype=wp.float64)"),
    ("wp.empty(shape=[2, 3, 4], dtype=wp.vec3)", "wp.array3d(dtype=wp.vec3)"),
    ("wp.full(4, 1)", "wp.array(dtype=int)"),
    ("wp.full(shape=(4,), value=1.0)", "wp.array(dtype=float)"),
    ("wp.full(4, wp.vec2(1.0, 2.0))", "wp.array(dtype=wp.vec2)"),
    ("wp.full(4, 1, wp.uint8)", "wp.array(dtype=wp.uint8)"),
    ("wp.zeros_like(wp.zeros(4, dtype=wp.float16))", "wp.array(dtype=wp.float16)"),
    ("wp.clone(wp.full(4, 2))", "wp.array(dtype=int)"),
    ("wp.zeros(4, dtype=Particle)", "wp.array(dtype=Particle)"),
]
"""What can be an argument of a launch, and its type."""

PREAMBLE = """
from typing import Any, Literal

import warp as wp


@wp.struct
class Particle:
    mass: float


@wp.struct
class Other:
    mass: float


class Vec5(wp.types.vector(length=5, dtype=float)):
    pass


@wp.kernel
def generic(x: Any):
    pass


@wp.kernel
def items(x: wp.array(dtype=Any)):
    x[0] = x[1]

"""

PROBE = f"""
import json, sys
{PREAMBLE}
from warp._src.types import get_type_code, infer_argument_types

types, values = json.load(sys.stdin)
print(json.dumps([
    [get_type_code(eval(one)) for one in types],
    [get_type_code(infer_argument_types([eval(one)], [Any])[0]) for one in values],
]))
"""


@pytest.fixture(scope="module")
def warps_codes(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """What Warp calls the types, and those of the values, in its signatures."""
    types = list(dict.fromkeys([*TYPES, *(type_ for _, type_ in VALUES)]))
    values = [value for value, _ in VALUES]
    probe = tmp_path_factory.mktemp("probe") / "probe.py"
    probe.write_text(PROBE)
    done = subprocess.run(
        [sys.executable, str(probe)],
        input=json.dumps([types, values]),
        capture_output=True,
        text=True,
        check=False,
        cwd=probe.parent,
    )
    assert done.returncode == 0, done.stderr
    of_types, of_values = json.loads(done.stdout.splitlines()[-1])
    return dict(zip(types, of_types, strict=True)), dict(zip(values, of_values, strict=True))


def project_of(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    facts = [extract(Source.read(str(path))) for path in sorted(root.rglob("*.py"))]
    return Project.build(facts, Settings(str(root)))


def findings_in(root: Path, files: dict[str, str]) -> list[Finding]:
    return sorted(ExcessOverloads().check(project_of(root, files)), key=lambda finding: finding.sort_key)


def declared(root: Path, types: list[str], kernel: str = "generic") -> list[Signature | None]:
    """The signatures of the overloads that are declared with these types, in order."""
    lines = "".join(f"wp.overload({kernel}, [{type_}])\n" for type_ in types)
    project = project_of(root, {"program.py": PREAMBLE + lines})
    (declarations,) = project.overloads.declared.values()
    return [declaration.signature for declaration in declarations]


def launched(root: Path, values: list[str], kernel: str = "generic") -> list[frozenset[Signature]]:
    """The signatures that launches with these values have, in order."""
    lines = "".join(f"wp.launch({kernel}, dim=1, inputs=[{value}])\n" for value in values)
    project = project_of(root, {"program.py": PREAMBLE + lines})
    (found,) = (kernel_ for kernel_, definition in project.kernels.items() if definition.name == kernel)
    launches = project.overloads.launches(found)
    assert launches is not None
    return [launch.signatures for launch in sorted(launches, key=lambda launch: launch.site)]


def test_types_are_the_same_where_warp_says_so(
    tmp_path: Path, warps_codes: tuple[dict[str, str], dict[str, str]]
) -> None:
    signatures = dict(zip(TYPES, declared(tmp_path, TYPES), strict=True))
    codes, _ = warps_codes

    assert None not in signatures.values(), signatures
    for first, second in combinations(TYPES, 2):
        assert (signatures[first] == signatures[second]) == (codes[first] == codes[second]), (first, second)


def test_values_have_the_types_that_warp_infers(
    tmp_path: Path, warps_codes: tuple[dict[str, str], dict[str, str]]
) -> None:
    of_types, of_values = warps_codes
    assert [of_values[value] for value, _ in VALUES] == [of_types[type_] for _, type_ in VALUES]

    found = launched(tmp_path / "values", [value for value, _ in VALUES])

    expected = declared(tmp_path / "types", [type_ for _, type_ in VALUES])
    assert found == [frozenset({signature}) for signature in expected]


@pytest.mark.parametrize(
    "value",
    [
        "wp.array([1.0, 2.0])",  # float64, as NumPy has it: nothing says so in the code
        "wp.zeros(4, dtype=dtype)",
        "wp.zeros(4, dtype=other.dtype)",
        "wp.zeros(shape, dtype=float)",  # of how many dimensions?
        "wp.zeros(*given)",
        "wp.zeros(4, **given)",
        "wp.from_numpy(array)",
        "helper()",
        "given",
        "given[0]",
        "*given",
        "None",
        "'text'",
    ],
)
def test_what_cannot_be_read_is_not_guessed(tmp_path: Path, value: str) -> None:
    assert launched(tmp_path, [value]) == [frozenset()]


def test_of_an_array_with_open_items_only_the_items_count(tmp_path: Path) -> None:
    assert launched(tmp_path, ["wp.zeros(shape, dtype=wp.vec3)"], "items") == [frozenset({("vec3f",)})]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("x = wp.zeros(4, dtype=int)", {"int32"}),
        ("x = wp.zeros(4, dtype=int) if flag else wp.zeros(4)", {"int32", "float32"}),
        ("x = wp.zeros(4) if device.is_cpu else wp.zeros(4, dtype=int)", {"int32", "float32"}),
        ("if flag: x = wp.zeros(4)\nelse: x = wp.zeros(4, dtype=int)", {"int32", "float32"}),
        ("x = wp.zeros(4)\nx = wp.zeros(4, dtype=int)", {"int32"}),
        ("x = None\nif flag: x = wp.zeros(4)", {"float32"}),
        ("y = wp.zeros(4)\nx = y", {"float32"}),
        ("y, x = wp.zeros(4), wp.zeros(4, dtype=int)", {"int32"}),
        ("dtype = wp.float64\nx = wp.zeros(4, dtype=dtype)", {"float64"}),
        ("for dtype in (float, wp.float64): pass\nx = wp.zeros(4, dtype=dtype)", {"float32", "float64"}),
        ("x = wp.zeros(4)\nif flag: x = load()", set()),
        ("x = wp.zeros(4)\nx += 1", set()),
        ("for x in load(): pass", set()),
        ("def inner():\n    nonlocal x\n    x = load()\nx = wp.zeros(4)\ninner()", set()),
    ],
)
def test_a_name_stands_for_all_that_it_may_be(tmp_path: Path, lines: str, expected: set[str]) -> None:
    body = textwrap.indent(f"{lines}\nwp.launch(items, dim=1, inputs=[x])\n", "    ")
    project = project_of(tmp_path, {"program.py": f"{PREAMBLE}def run(flag, device, load):\n{body}"})
    (kernel,) = (kernel for kernel, definition in project.kernels.items() if definition.name == "items")

    (launch,) = project.overloads.launches(kernel) or []

    assert launch.signatures == {(type_,) for type_ in expected}


GENERIC = """
from typing import Any

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=Any), factor: Any):
    values[0] = values[0] * factor

"""
TWO = """
wp.overload(scale, [wp.array(dtype=float), float])
wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
"""
USE = "wp.launch(scale, dim=1, inputs=[wp.zeros(4), 2.0])\n"


@pytest.mark.parametrize(
    "use",
    [
        "names = {'scale': scale}\nwp.launch(names[name], dim=1, inputs=given)\n",
        "kernels = [scale]\nrun(*kernels)\n",
        "for kernel in (scale,):\n    wp.launch(kernel, dim=1, inputs=given)\n",
        "class Solver:\n    kernel = scale\n",
        "def make(kernel=scale):\n    return kernel\n",
        "def make():\n    return scale\n",
        "launch = functools.partial(wp.launch, scale)\n",
        "wp.launch(globals()['scale'], dim=1, inputs=given)\n",
        "wp.launch(getattr(holder, 'scale'), dim=1, inputs=given)\n",
        "function = jax_kernel(scale)\n",
        "self.kernel = scale\n",
        "arguments = [wp.zeros(4), 2.0]\narguments[0] = other\nwp.launch(scale, dim=1, inputs=arguments)\n",
        "wp.launch(scale, dim=1, inputs=[wp.zeros(4, dtype=settings.dtype), 2.0])\n",
        "wp.launch(scale, dim=1, **given)\n",
        "module = scale.module\n",
        "def run(kernel):\n    wp.launch(kernel, dim=1, inputs=given)\n\nrun(scale)\n",
        "@wrap\ndef run(kernel):\n    pass\n\nrun(scale)\n",
        "wp.compile_aot_module(__name__)\n",
        "wp.compile_aot_module(given)\n",
    ],
)
def test_a_kernel_out_of_sight_may_need_every_overload(tmp_path: Path, use: str) -> None:
    assert len(findings_in(tmp_path / "without", {"program.py": GENERIC + TWO + USE})) == 1

    assert findings_in(tmp_path / "with", {"program.py": GENERIC + TWO + USE + use}) == []


@pytest.mark.parametrize(
    ("declaration", "uses"),
    [
        ("wp.overload(scale, TYPES)", ""),
        ("double = wp.overload(scale, TYPES)", ""),
        ("double: wp.Kernel = wp.overload(scale, TYPES)", ""),
        ("double = wp.overload(kernel=scale, arg_types=TYPES)", ""),
        ("TABLE = {wp.float64: wp.overload(scale, TYPES)}", ""),
        ("TABLE = {wp.float64: wp.overload(scale, TYPES)}", "wp.launch(TABLE[float], dim=1, inputs=given)"),
        ("TABLE = {}\nTABLE['d'] = wp.overload(scale, TYPES)", "wp.launch(TABLE['f'], dim=1, inputs=given)"),
        ("TABLE = {t: wp.overload(scale, TYPES) for t in (wp.float64,)}", ""),
        ("first, double = None, wp.overload(scale, TYPES)", "print(first)"),
        ("KERNELS = [None, wp.overload(scale, TYPES)]", "wp.launch(KERNELS[0], dim=1, inputs=given)"),
        (
            "double = wp.overload(scale, TYPES)",
            "def run(double):\n    wp.launch(double, dim=1, inputs=given)",
        ),
    ],
)
def test_an_overload_that_comes_to_no_launch_is_in_excess(
    tmp_path: Path, declaration: str, uses: str
) -> None:
    declaration = declaration.replace("TYPES", "[wp.array(dtype=wp.float64), wp.float64]")

    (finding,) = findings_in(tmp_path, {"program.py": f"{GENERIC}{USE}{declaration}\n{uses}\n"})

    assert finding.level is Level.WARNING
    assert finding.redundant_builds == 1
    assert '"scale"' in finding.message
    assert "float64" in finding.message


@pytest.mark.parametrize(
    ("declaration", "uses"),
    [
        ("double = wp.overload(scale, TYPES)", "wp.launch(double, dim=1, inputs=given)"),
        ("double = wp.overload(scale, TYPES)", "alias = double\nwp.launch(alias, dim=1, inputs=given)"),
        ("double = wp.overload(scale, TYPES)", "def run():\n    return double"),
        ("double = wp.overload(scale, TYPES)", "print(double)"),
        ("TABLE = {}\nTABLE['d'] = wp.overload(scale, TYPES)", "wp.launch(TABLE[key], dim=1, inputs=given)"),
        ("TABLE = {}\nTABLE['d'] = wp.overload(scale, TYPES)", "wp.launch(TABLE['d'], dim=1, inputs=given)"),
        (
            "TABLE = {}\nTABLE['d'] = wp.overload(scale, TYPES)",
            "for kernel in TABLE.values():\n    run(kernel)",
        ),
        ("TABLE = {}\nTABLE['d'] = wp.overload(scale, TYPES)", "OTHER = TABLE\nrun(OTHER)"),
        ("TABLE = REGISTRY\nTABLE['d'] = wp.overload(scale, TYPES)", ""),
        ("KERNELS = [wp.overload(scale, TYPES)]", "wp.launch(KERNELS[-1], dim=1, inputs=given)"),
        ("table.setdefault('d', wp.overload(scale, TYPES))", ""),
        ("self.kernel = wp.overload(scale, TYPES)", ""),
        ("class Solver:\n    kernel = wp.overload(scale, TYPES)", ""),
        ("def make():\n    return wp.overload(scale, TYPES)", ""),
        ("def put(table):\n    table['d'] = wp.overload(scale, TYPES)", ""),
        ("wp.launch(wp.overload(scale, TYPES), dim=1, inputs=given)", ""),
    ],
)
def test_an_overload_that_may_come_to_a_launch_is_not(tmp_path: Path, declaration: str, uses: str) -> None:
    declaration = declaration.replace("TYPES", "[wp.array(dtype=wp.float64), wp.float64]")

    assert findings_in(tmp_path, {"program.py": f"{GENERIC}{USE}{declaration}\n{uses}\n"}) == []


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("from kernels import scale\n" + USE, 1),
        ("from kernels import scale as mine\n" + USE.replace("scale", "mine"), 1),
        ("from kernels import *\n" + USE, 1),
        ("import kernels\n" + USE.replace("scale", "kernels.scale"), 1),
        ("import kernels as k\n" + USE.replace("scale", "k.scale"), 1),
        ("from unrelated import scale\nrun(scale)\n", 2),
        ("from kernels import other\nother(scale)\n", 2),
        ("from kernels import scale\nrun(scale)\n", 0),
        ("from kernels import *\nrun(scale)\n", 0),
        ("import kernels\nrun(kernels.scale)\n", 0),
        ("import kernels\nrun(getattr(kernels, name))\n", 0),
        ("import kernels\nkernels.DTYPE = wp.float64\n", 2),
    ],
)
def test_the_whole_project_may_use_a_kernel(tmp_path: Path, other: str, found: int) -> None:
    files = {"kernels.py": GENERIC + TWO, "program.py": f"import warp as wp\n{other}"}

    assert len(findings_in(tmp_path, files)) == found


def test_a_type_that_another_file_sets_is_not_known(tmp_path: Path) -> None:
    launch = "DTYPE = float\n" + USE.replace("wp.zeros(4)", "wp.zeros(4, dtype=DTYPE)")
    setting = "import warp as wp\nimport kernels\nkernels.DTYPE = wp.float64\n"

    assert len(findings_in(tmp_path / "without", {"kernels.py": GENERIC + TWO + launch})) == 1
    assert (
        findings_in(tmp_path / "with", {"kernels.py": GENERIC + TWO + launch, "settings.py": setting}) == []
    )


def test_what_objects_hold_is_read_from_all_that_is_assigned(tmp_path: Path) -> None:
    solver = """
    class Solver:
        def __init__(self):
            self.values = wp.zeros(4)
            self.factor = 2.0

        def step(self):
            wp.launch(scale, dim=1, inputs=[self.values, self.factor])
    """
    derived = """
    class Double(Solver):
        def __init__(self, load):
            self.values = load()
    """
    text = GENERIC + TWO + textwrap.dedent(solver)

    assert len(findings_in(tmp_path / "one", {"program.py": text})) == 1
    assert findings_in(tmp_path / "two", {"program.py": text + textwrap.dedent(derived)}) == []


def test_a_helper_declares_what_its_calls_say(tmp_path: Path) -> None:
    helper = """
    def _declare(kernel, dtype):
        wp.overload(kernel, [wp.array(dtype=dtype), dtype])

    _declare(scale, float)
    _declare(scale, wp.float64)
    """
    text = GENERIC + textwrap.dedent(helper) + USE

    (finding,) = findings_in(tmp_path, {"program.py": text})

    assert (
        finding.location.range.start.line == text[: text.index("_declare(scale, wp.float64)")].count("\n") + 1
    )


@pytest.mark.parametrize(
    ("loops", "declared_there", "used"),
    [
        ("for dtype in (float, wp.float16, wp.float64):", 3, 1),
        ("for dtype in [wp.float16, wp.float64]:", 2, "none"),
        ("for dtype, _ in zip((float, wp.float64), (1, 2)):", 2, 1),
        ("TYPES = (float, wp.float64)\nfor dtype in TYPES:", 2, 1),
        ("for dtype, _ in itertools.product((float, wp.float64), (1,)):", 2, 1),
    ],
)
def test_a_loop_declares_an_overload_each_turn(
    tmp_path: Path, loops: str, declared_there: int, used: int | str
) -> None:
    loop = f"import itertools\n{loops}\n    wp.overload(scale, [wp.array(dtype=dtype), dtype])\n"

    (finding,) = findings_in(tmp_path, {"program.py": GENERIC + loop + USE})

    assert f"{declared_there} overloads" in finding.message
    assert f"{used} of them" in finding.message


def test_loops_beside_each_other_are_loops_of_their_own(tmp_path: Path) -> None:
    loop = "for dtype in (float, wp.float64):\n    wp.overload(scale, [wp.array(dtype=dtype), {}])\n"
    text = GENERIC + loop.format("float") + loop.format("int") + loop.format("bool")
    (declarations,) = project_of(tmp_path, {"program.py": text}).overloads.declared.values()

    assert len(declarations) == 6


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("wp.overload(scale, [wp.array(dtype=float), float])\n" * 2, 1),
        ("if a:\n    wp.overload(scale, [wp.array(dtype=float), float])\n"
         "else:\n    wp.overload(scale, [wp.array(dtype=float), float])\n", 0),
        ("def get():\n    return wp.overload(scale, [wp.array(dtype=float), float])\n" * 2, 0),
        ("wp.overload(scale, [wp.array(dtype=dtype), float])\n" * 2, 0),
        ("for t in (float, int):\n    wp.overload(scale, [wp.array(dtype=float), t])\n"
         "wp.overload(scale, {'values': wp.array(dtype=float), 'factor': int})\n", 1),
    ],
)  # fmt: skip
def test_repeated_signatures(tmp_path: Path, lines: str, found: int) -> None:
    anything = "wp.launch(scale, dim=1, inputs=given)\n"

    assert len(findings_in(tmp_path, {"program.py": GENERIC + lines + anything})) == found


def test_kernels_that_a_function_makes_are_many(tmp_path: Path) -> None:
    factory = """
    def make(n):
        @wp.kernel
        def add(values: wp.array(dtype=Any)):
            values[0] = values[0] + values.dtype(n)

        return add

    first, second = make(1), make(2)
    wp.overload(first, [wp.array(dtype=float)])
    wp.overload(second, [wp.array(dtype=float)])
    """

    assert findings_in(tmp_path, {"program.py": GENERIC + textwrap.dedent(factory)}) == []


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"lib/__init__.py": "", "lib/_kernels.py": ""}, Level.WARNING),
        ({"lib/__init__.py": "from lib._kernels import scale\n", "lib/_kernels.py": ""}, Level.INFO),
        ({"lib/__init__.py": "LAZY = {'scale': 'lib._kernels'}\n", "lib/_kernels.py": ""}, Level.INFO),
        ({"lib/__init__.py": "", "lib/_kernels.py": "__all__ = ['scale']\n"}, Level.INFO),
        ({"lib/__init__.py": "", "lib/kernels.py": ""}, Level.INFO),
        ({"program.py": ""}, Level.WARNING),
    ],
)
def test_what_a_library_offers_is_only_information(
    tmp_path: Path, files: dict[str, str], level: Level
) -> None:
    *packages, last = files
    written = {name: files[name] for name in packages}

    found = findings_in(tmp_path, {**written, last: GENERIC + TWO + USE + files[last]})

    assert [finding.level for finding in found] == [level]


def test_the_fix_deletes_the_statement(tmp_path: Path) -> None:
    stub = """
    @wp.overload
    def scale(values: wp.array(dtype=wp.float16), factor: wp.float16): ...
    """
    kept = "double = wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])\n"
    loop = "for t in (float, int):\n    wp.overload(scale, [wp.array(dtype=t), t])\n"
    text = (
        GENERIC
        + textwrap.dedent(stub)
        + kept
        + loop
        + USE
        + "wp.overload(scale, [wp.array(dtype=int), int])\n"
    )

    found = findings_in(tmp_path, {"program.py": text})

    deleted = [
        text[edit.start : edit.end]
        for finding in found
        if finding.fix is not None
        for edit in finding.fix.edits
    ]
    assert deleted == [textwrap.dedent(stub).lstrip(), "wp.overload(scale, [wp.array(dtype=int), int])\n"]
    assert len(found) == 4
