"""The tables of `warp_lint.warp_api` against Warp itself.

What needs Warp runs in a process of its own, which executes this file with the name of a probe and prints
the result as JSON: the installed Warp stays out of the test process, and older releases can stand in for it.
"""

# Device code is not Python to a type checker.
# mypy: disable-error-code="arg-type, no-untyped-call, no-untyped-def, valid-type"

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from warp_lint import warp_api
from warp_lint.warp_api import (
    CONFIG_ATTRIBUTES,
    DEBUG_SETTINGS,
    FORMER_SUBMODULES,
    FUNCTIONS,
    MODULE_OPTIONS,
    MODULES_BY_NAME,
    TILE_LINKS_FOLLOW_MODULE_SINCE,
    TILE_OPERATIONS,
    ConfigAttribute,
    Function,
    ModuleOption,
    OptionEffect,
    ReadTime,
    Value,
    Version,
    Versioned,
    WarpName,
    find,
    history,
)

RELEASES = (
    "1.10.0",
    "1.10.1",
    "1.11.1",
    "1.12.0",
    "1.12.1",
    "1.13.0",
    "1.14.0",
    "1.15.0",
    "1.16.0",
    "1.17.0",
    "1.18.0",
    "1.19.0",
)
TABLES: dict[str, tuple[Versioned, ...]] = {
    "config attributes": CONFIG_ATTRIBUTES,
    "module options": MODULE_OPTIONS,
    "functions": FUNCTIONS,
    "former submodules": FORMER_SUBMODULES,
    "modules by name": MODULES_BY_NAME,
    "tile operations": TILE_OPERATIONS,
    "debug settings": DEBUG_SETTINGS,
}


# --- the tables alone ------------------------------------------------------------------------------------


def every_entry() -> Iterator[Versioned]:
    for table in TABLES.values():
        yield from table
    for function in FUNCTIONS:
        yield from function.parameters


def test_versions_have_no_trailing_zero_and_compare_as_versions_do() -> None:
    for entry in every_entry():
        for version in (entry.since, entry.until or (1,)):
            assert version == warp_api.OLDEST or version[-1] != 0 or len(version) <= 2, entry
        assert entry.until is None or entry.since < entry.until, entry
    assert (1, 12) < (1, 12, 1) < (1, 13)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_entries_of_one_name_do_not_overlap(table: tuple[Versioned, ...]) -> None:
    for entry in table:
        entries = history(table, entry.name)
        for earlier, later in pairwise(entries):
            assert earlier.until is not None, later
            assert earlier.until <= later.since, later


def test_find_gives_the_entry_of_the_version() -> None:
    before, after = (find(CONFIG_ATTRIBUTES, "mode", version) for version in ((1, 8), (1, 8, 1)))
    assert before is not None
    assert before.read is ReadTime.CREATION
    assert after is not None
    assert after.read is ReadTime.FIRST_LOAD


@pytest.mark.parametrize("version", [(1, 18), (1, 18, 0), (1, 19)])
def test_find_knows_what_a_version_lost(version: Version) -> None:
    assert find(CONFIG_ATTRIBUTES, "quiet", version) is None
    assert [entry.until for entry in history(CONFIG_ATTRIBUTES, "quiet")] == [(1, 18)]


@pytest.mark.parametrize(("version", "known"), [((1, 12), False), ((1, 13), True), ((1, 13, 0), True)])
def test_find_knows_what_a_version_gained(version: Version, known: bool) -> None:
    assert (find(MODULE_OPTIONS, "cpu_compiler_flags", version) is not None) is known


def test_a_name_that_no_version_has() -> None:
    assert find(CONFIG_ATTRIBUTES, "fast_math") is None
    assert history(CONFIG_ATTRIBUTES, "fast_math") == []


@pytest.mark.parametrize("operation", TILE_OPERATIONS, ids=attrgetter("name"))
def test_mathdx_switches_are_config_attributes_and_module_options(operation: warp_api.TileOperation) -> None:
    assert history(CONFIG_ATTRIBUTES, operation.switch)
    assert history(MODULE_OPTIONS, operation.switch)


@pytest.mark.parametrize("setting", DEBUG_SETTINGS, ids=attrgetter("name"))
def test_debug_settings_are_config_attributes_that_start_at_another_value(
    setting: warp_api.DebugSetting,
) -> None:
    attributes = history(CONFIG_ATTRIBUTES, setting.name)
    assert attributes
    assert all(attribute.default != setting.value for attribute in attributes)


# --- against the installed Warp, and against releases ----------------------------------------------------


def run_probe(probe: Callable[[], Any], *, packages: Path | None = None) -> Any:
    """What ``probe`` returns in a process of its own; ``packages`` may hold another Warp to import."""
    paths = [str(Path(warp_api.__file__).parent.parent)]
    if packages:
        paths.insert(0, str(packages))
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, probe.__name__],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "WARP_CACHE_PATH": cache},
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.proof
def test_tables_agree_with_the_installed_warp() -> None:
    assert run_probe(disagreements) == []


@pytest.mark.release
@pytest.mark.parametrize("release", RELEASES)
def test_tables_agree_with_released_warp(release: str, tmp_path: Path) -> None:
    """Downloads a wheel of more than 100 MB."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--target", str(tmp_path), f"warp-lang=={release}"], check=True)
    assert run_probe(disagreements, packages=tmp_path) == []


def disagreements() -> list[str]:
    """Where the tables and the Warp of this process differ, a line each."""
    import warp as wp

    version = tuple(map(int, wp.config.version.split(".")))
    return [
        f"Warp {wp.config.version}: {line}"
        for part in (
            _config_disagreements,
            _option_disagreements,
            _function_disagreements,
            _submodule_disagreements,
            _name_disagreements,
            _tile_disagreements,
        )
        for line in part(version)
    ]


def _config_disagreements(version: Version) -> Iterator[str]:
    import warp as wp

    actual = {
        name: value
        for name, value in vars(wp.config).items()
        if not name.startswith("_") and not isinstance(value, type) and not callable(value)
    }
    tabled = {entry.name for entry in CONFIG_ATTRIBUTES if entry.exists_in(version)}
    yield from _set_differences("config attribute", tabled, set(actual))
    for name in sorted(tabled & set(actual) - {"version"}):
        entry = find(CONFIG_ATTRIBUTES, name, version)
        assert entry
        if actual[name] != _value(entry.default):
            yield f"config.{name} starts as {actual[name]!r}, not {entry.default!r}"


def _option_disagreements(version: Version) -> Iterator[str]:
    import warp as wp

    actual = wp.get_module("fresh").options
    tabled = {entry.name for entry in MODULE_OPTIONS if entry.documented and entry.exists_in(version)}
    yield from _set_differences("module option", tabled, set(actual))
    for name in sorted(tabled & set(actual)):
        entry = find(MODULE_OPTIONS, name, version)
        assert entry
        unset = actual[name] is None and entry.inherits
        default = getattr(wp.config, name) if unset else actual[name]
        if default != _value(entry.default):
            yield f"option {name} starts as {default!r}, not {entry.default!r}"
        if entry.inherits and not hasattr(wp.config, name):
            yield f"option {name} cannot inherit, wp.config has no such attribute"


def _function_disagreements(version: Version) -> Iterator[str]:
    for name in sorted({function.name for function in FUNCTIONS}):
        if name.startswith("jax_experimental."):
            continue  # importing it needs JAX
        function = find(FUNCTIONS, name, version)
        actual = _resolve(name)
        if (actual is None) != (function is None):
            yield f"{name} is {'missing' if actual is None else 'there'}"
        elif function and function.parameters and actual is not None:
            yield from _parameter_disagreements(function, inspect.signature(actual), version)


def _parameter_disagreements(
    function: Function, signature: inspect.Signature, version: Version
) -> Iterator[str]:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    actual = [
        (parameter.name, parameter.kind is inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.kind not in variable and parameter.name != "self"
    ]
    if not actual:
        return  # it passes everything on, as launch_tiled does
    tabled = [
        (parameter.name, parameter.keyword_only)
        for parameter in function.parameters
        if parameter.exists_in(version)
    ]
    positional = [name for name, keyword_only in actual if not keyword_only]
    if positional != [name for name, keyword_only in tabled if not keyword_only]:
        yield f"{function.name} takes {positional} by position"
    keywords = {name for name, keyword_only in actual if keyword_only}
    if keywords != {name for name, keyword_only in tabled if keyword_only}:
        yield f"{function.name} takes {sorted(keywords)} by keyword only"


def _name_disagreements(version: Version) -> Iterator[str]:
    import warp as wp

    attempts = {
        "kernel.module": lambda: _fresh_kernel("named"),
        "get_module_options.module": lambda: wp.get_module_options(module="named"),
        "set_module_options.module": lambda: wp.set_module_options({}, module="named"),
    }
    for entry in MODULES_BY_NAME:
        try:
            attempts[entry.name]()
            is_taken = True
        except (AttributeError, TypeError, ValueError):
            is_taken = False
        if is_taken != entry.exists_in(version):
            yield f"{entry.name} {'takes' if is_taken else 'does not take'} a name"


def _submodule_disagreements(version: Version) -> Iterator[str]:
    for entry in FORMER_SUBMODULES:
        is_there = importlib.util.find_spec(f"warp.{entry.name}") is not None
        if is_there != entry.exists_in(version):
            yield f"warp.{entry.name} is {'there' if is_there else 'missing'}"


def _tile_disagreements(version: Version) -> Iterator[str]:
    from warp._src.context import builtin_functions

    kernels = _tile_kernels()
    tabled = {entry.name for entry in TILE_OPERATIONS if entry.exists_in(version)}
    yield from _set_differences("tile operation", tabled, set(kernels) & set(builtin_functions))
    follows_module = version >= TILE_LINKS_FOLLOW_MODULE_SINCE
    for name in sorted(tabled & set(builtin_functions)):
        entry = find(TILE_OPERATIONS, name, version)
        assert entry
        forward = _links(kernels[name], config=False, option=False)
        both = _links(kernels[name], config=True, option=True)
        if not forward:
            yield f"{name} links nothing"
        if (both > forward) != (entry.backward_since is not None and entry.backward_since <= version):
            yield f"{name} links {forward} without and {both} with the backward pass"
        if _links(kernels[name], config=True, option=False) != (forward if follows_module else both):
            yield f"{name} takes enable_backward from somewhere else"


def _links(function: Callable[..., None], *, config: bool, option: bool) -> int:
    """How often MathDx is linked for a kernel when ``enable_backward`` stands so in config and module."""
    import warp as wp
    from warp._src import build, context

    links: list[str] = []

    def link(*_arguments: Any, **_keywords: Any) -> tuple[str, bytes]:
        links.append("link")
        return "symbol", b""

    def link_fft(*_arguments: Any, **_keywords: Any) -> tuple[str, bytes, int]:
        return *link(), 0

    build.build_lto_dot = build.build_lto_solver = link
    build.build_lto_fft = link_fft
    wp.init()
    wp.config.enable_backward = config
    module = context.Module(f"links.{function.__name__}", None)
    module.options["enable_backward"] = option
    kernel = context.Kernel(function, key=function.__name__, module=module)
    _build_for_cuda(kernel.module)
    return len(links)


def _build_for_cuda(module: Any) -> Any:
    """The builder of the module's CUDA source, for block dimension 128."""
    import warp as wp
    from warp._src import context

    options = (
        module.resolve_options(wp.config) if hasattr(type(module), "resolve_options") else module.options
    )
    options = options | {"output_arch": 90, "block_dim": 128}
    return context.ModuleBuilder(module, options)


def _tile_kernels() -> dict[str, Callable[..., None]]:
    """A kernel for each tile operation that has to do with linear algebra or Fourier transforms."""
    import warp as wp

    def matmul(a: wp.array2d(dtype=float)):
        tile = wp.tile_load(a, shape=(16, 16))
        wp.tile_store(a, wp.tile_matmul(tile, tile))

    def fft(a: wp.array2d(dtype=wp.vec2f)):
        tile = wp.tile_load(a, shape=(1, 512))
        wp.tile_fft(tile)
        wp.tile_store(a, tile)

    def ifft(a: wp.array2d(dtype=wp.vec2f)):
        tile = wp.tile_load(a, shape=(1, 512))
        wp.tile_ifft(tile)
        wp.tile_store(a, tile)

    def cholesky(a: wp.array2d(dtype=float)):
        wp.tile_store(a, wp.tile_cholesky(wp.tile_load(a, shape=(16, 16))))

    def cholesky_inplace(a: wp.array2d(dtype=float)):
        tile = wp.tile_load(a, shape=(16, 16))
        wp.tile_cholesky_inplace(tile)
        wp.tile_store(a, tile)

    def cholesky_solve(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        wp.tile_store(b, wp.tile_cholesky_solve(wp.tile_load(a, shape=(16, 16)), wp.tile_load(b, shape=16)))

    def cholesky_solve_inplace(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        tile = wp.tile_load(b, shape=16)
        wp.tile_cholesky_solve_inplace(wp.tile_load(a, shape=(16, 16)), tile)
        wp.tile_store(b, tile)

    def lower_solve(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        wp.tile_store(b, wp.tile_lower_solve(wp.tile_load(a, shape=(16, 16)), wp.tile_load(b, shape=16)))

    def lower_solve_inplace(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        tile = wp.tile_load(b, shape=16)
        wp.tile_lower_solve_inplace(wp.tile_load(a, shape=(16, 16)), tile)
        wp.tile_store(b, tile)

    def upper_solve(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        wp.tile_store(b, wp.tile_upper_solve(wp.tile_load(a, shape=(16, 16)), wp.tile_load(b, shape=16)))

    def upper_solve_inplace(a: wp.array2d(dtype=float), b: wp.array(dtype=float)):
        tile = wp.tile_load(b, shape=16)
        wp.tile_upper_solve_inplace(wp.tile_load(a, shape=(16, 16)), tile)
        wp.tile_store(b, tile)

    return {f"tile_{name}": function for name, function in locals().items() if name != "wp"}


def _set_differences(what: str, tabled: set[str], actual: set[str]) -> Iterator[str]:
    for name in sorted(tabled - actual):
        yield f"{what} {name} is in the table only"
    for name in sorted(actual - tabled):
        yield f"{what} {name} is in Warp only"


def _value(value: Value) -> Any:
    import warp as wp

    return attrgetter(value.dotted)(wp) if isinstance(value, WarpName) else value


def _resolve(name: str) -> Any:
    """The function or class of Warp, or None."""
    import warp as wp

    if name.startswith("Module."):  # the class of what get_module gives, exported or not
        return getattr(type(wp.get_module("fresh")), name.partition(".")[2], None)
    try:
        return pkgutil.resolve_name(f"warp.{name}")
    except (AttributeError, ImportError):
        return None


# --- when Warp reads what --------------------------------------------------------------------------------

OTHER_VALUES: dict[str, Any] = {
    "block_dim": 128,
    "cluster_dim": 2,
    "cpu_compiler_flags": "",
    "cuda_arch_suffix": "a",
    "cuda_max_registers": 64,
    "cuda_output": "ptx",
    "deterministic": WarpName("DeterministicMode.RUN_TO_RUN"),
    "deterministic_max_records": 3,
    "kernel_cache_dir": "elsewhere",
    "launch_array_access_mode": WarpName("config.LaunchArrayAccessMode.STRICT"),
    "launch_bounds": 128,
    "load_module_max_workers": 2,
    "log_level": WarpName("LOG_ERROR"),
    "max_unroll": 4,
    "mode": "debug",
    "optimization_level": 1,
    "ptx_target_arch": 90,
    "version": "0.0",
}
"""Values that are not the defaults; truth values are turned over."""


def _other_value(entry: ConfigAttribute | ModuleOption) -> Any:
    import warp as wp

    if entry.name == "extra_build_options":
        return wp.ModuleBuildOptions(extra_cpu_preamble="// nothing")
    if entry.name in OTHER_VALUES:
        return _value(OTHER_VALUES[entry.name])
    return not entry.default


def _fresh_kernel(name: str) -> Any:
    """A kernel, always the same, alone in the module of that name."""
    import warp as wp

    def triple(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 3.0 * x[i]

    return wp.kernel(triple, module=name)


def _launch(kernel: Any) -> None:
    import warp as wp

    wp.launch(kernel, dim=4, inputs=[wp.ones(4, dtype=float, device="cpu")], device="cpu")


@contextmanager
def _config(name: str, value: Any) -> Iterator[None]:
    import warp as wp

    before = getattr(wp.config, name)
    setattr(wp.config, name, value)
    try:
        yield
    finally:
        setattr(wp.config, name, before)


def identities_after_config_changes() -> dict[str, list[bool]]:
    """For each attribute whether the module gets another identity when the attribute changes before the
    module is created, between creation and load, after the load, and after the load with an option set."""
    import warp as wp

    wp.init()
    usual = _fresh_kernel("usual").module.get_module_hash(1)
    loaded = _fresh_kernel("loaded")
    _launch(loaded)
    changes = {}
    for attribute in CONFIG_ATTRIBUTES:
        if not attribute.exists_in(warp_api.NEWEST):
            continue
        created = _fresh_kernel(f"created.{attribute.name}").module
        with _config(attribute.name, _other_value(attribute)):
            hashes = [
                _fresh_kernel(f"new.{attribute.name}").module.get_module_hash(1),
                created.get_module_hash(1),
                loaded.module.get_module_hash(1),
            ]
            wp.set_module_options({}, module="loaded")
            hashes.append(loaded.module.get_module_hash(1))
        wp.set_module_options({}, module="loaded")
        _launch(loaded)
        assert loaded.module.get_module_hash(1) == usual
        changes[attribute.name] = [identity != usual for identity in hashes]
    return changes


EFFECT_BY_READ_TIME = {
    ReadTime.CREATION: [True, False, False, False],
    ReadTime.FIRST_LOAD: [True, True, False, True],
    ReadTime.USE: [False, False, False, False],
    ReadTime.INIT: [False, False, False, False],
    ReadTime.NEVER: [False, False, False, False],
}


@pytest.mark.proof
def test_config_attributes_are_read_when_the_table_says() -> None:
    assert run_probe(identities_after_config_changes) == {
        attribute.name: EFFECT_BY_READ_TIME[attribute.read]
        for attribute in CONFIG_ATTRIBUTES
        if attribute.exists_in(warp_api.NEWEST)
    }


def config_reads() -> dict[str, list[str]]:
    """The functions of Warp that read each attribute of ``wp.config``, found in its source."""
    import warp as wp

    reads = defaultdict(set)
    for path in (Path(wp.__file__).parent / "_src").rglob("*.py"):
        for scope in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(scope, ast.ClassDef | ast.Module):
                for function in scope.body:
                    if isinstance(function, ast.FunctionDef):
                        where = f"{getattr(scope, 'name', '')}.{function.name}".lstrip(".")
                        for node in ast.walk(function):
                            if (
                                isinstance(node, ast.Attribute)
                                and isinstance(node.ctx, ast.Load)
                                and ast.unparse(node.value).split(".")[-1] == "config"
                            ):
                                reads[node.attr].add(where)
    return {name: sorted(functions) for name, functions in reads.items()}


@pytest.mark.proof
def test_only_initialization_reads_the_attributes_of_initialization() -> None:
    reads = run_probe(config_reads)
    initialization = {"init", "Runtime.__init__", "Device.__init__"}
    for attribute in CONFIG_ATTRIBUTES:
        if attribute.exists_in(warp_api.NEWEST) and attribute.read in (ReadTime.INIT, ReadTime.USE):
            only_there = set(reads[attribute.name]) <= initialization
            assert only_there == (attribute.read is ReadTime.INIT), reads[attribute.name]


def builds_of_unique_kernel() -> dict[str, bool]:
    """Whether a unique kernel is built with an attribute that changes after its definition and before the
    first launch, for the module's own block dimension and for another."""
    import warp as wp

    wp.init()
    usual = {block_dim: _fresh_kernel("usual").module.get_module_hash(block_dim) for block_dim in (1, 256)}
    kernel = _fresh_kernel("unique")
    with _config("verify_fp", True):
        return {
            str(block_dim): kernel.module.get_module_hash(block_dim) != identity
            for block_dim, identity in usual.items()
        }


@pytest.mark.proof
def test_unique_kernel_resolves_its_own_block_dim_at_the_definition() -> None:
    assert run_probe(builds_of_unique_kernel) == {"1": True, "256": False}


def identities_after_option_changes() -> dict[str, dict[str, bool]]:
    """For each option, and for one that Warp does not know, whether the module gets another identity or
    other CUDA source when the option is set, by which means and when."""
    import warp as wp

    wp.init()
    entries = [entry for entry in MODULE_OPTIONS if entry.exists_in(warp_api.NEWEST)]
    changes = {}
    for entry in [*entries, ModuleOption("no_such_option", False)]:
        value = _other_value(entry)
        options = {entry.name: value}

        usual_kernel = _fresh_kernel(f"usual.{entry.name}")
        usual = usual_kernel.module.get_module_hash()
        usual_source = _build_for_cuda(usual_kernel.module).codegen("cuda")

        wp.set_module_options(options, module=f"before.{entry.name}")
        before_creation = _fresh_kernel(f"before.{entry.name}").module.get_module_hash()

        created = _fresh_kernel(f"created.{entry.name}").module
        wp.set_module_options(options, module=created)

        written = _fresh_kernel(f"written.{entry.name}").module
        wp.get_module(written.name).options[entry.name] = value

        loaded = _fresh_kernel(f"loaded.{entry.name}").module
        loaded.get_module_hash(256)
        wp.get_module_options(loaded)[entry.name] = value
        written_late = loaded.get_module_hash(256)
        wp.set_module_options(options, module=loaded)

        changes[entry.name] = {
            "set before creation": before_creation != usual,
            "set after creation": created.get_module_hash() != usual,
            "set after load": loaded.get_module_hash() != usual,
            "written after creation": written.get_module_hash() != usual,
            "written after load": written_late != usual,
            "source": _build_for_cuda(created).codegen("cuda") != usual_source,
        }
    return changes


@pytest.mark.proof
def test_module_options_have_the_effect_that_the_table_says() -> None:
    changes = run_probe(identities_after_option_changes)
    effects = {entry.name: entry for entry in MODULE_OPTIONS if entry.exists_in(warp_api.NEWEST)}
    assert set(changes) == {*effects, "no_such_option"}
    for name, change in changes.items():
        effect = effects[name].effect if name in effects else OptionEffect.IGNORED
        changes_identity = effect is not OptionEffect.OVERWRITTEN
        assert change["set before creation"] is changes_identity, name
        assert change["set after creation"] is changes_identity, name
        assert change["set after load"] is changes_identity, name
        assert change["written after creation"] is changes_identity, name
        assert change["written after load"] is False, name
        if effect is not OptionEffect.REAL or not effects[name].documented:
            assert change["source"] is (effect is OptionEffect.REAL), name


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
