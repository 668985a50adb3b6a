"""What the comparison with real packages stands on: the cache of corpora, and the count with `ast`."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from zipfile import ZipFile

import pytest

from tests.wild.corpora import Corpus, fetch
from tests.wild.counts import as_toml, committed
from tests.wild.independent_counts import Home, Kernel, Place, kernels, nested_kernels

PACKAGE = Corpus("some-package", "1.0")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has the wheel of a package."""
    (tmp_path / "wheels").mkdir()
    with ZipFile(tmp_path / "wheels" / "some_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("some_package/__init__.py", "import warp as wp\n")
        wheel.writestr("some_package/types.pyi", "x: int\n")
        wheel.writestr("some_package/bin/warp.so", b"\0")
    monkeypatch.setenv("WARP_LINT_WILD_CACHE", str(tmp_path))
    return tmp_path


def files_under(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_only_sources_are_unpacked(cache: Path) -> None:
    folder = fetch(PACKAGE)

    assert folder == cache / "some-package-1.0"
    assert files_under(folder) == ["some_package/__init__.py", "some_package/types.pyi"]


def test_an_unpacked_corpus_is_used_again(cache: Path) -> None:
    fetch(PACKAGE)
    (cache / "wheels" / "some_package-1.0-py3-none-any.whl").unlink()

    assert fetch(PACKAGE) == cache / "some-package-1.0"


def test_another_process_may_unpack_at_the_same_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def extract_while_another_is_done(*_: object) -> None:
        (cache / "some-package-1.0" / "some_package").mkdir(parents=True)
        (cache / "some-package-1.0" / "some_package" / "__init__.py").write_text("of the other")

    monkeypatch.setattr(ZipFile, "extractall", extract_while_another_is_done)

    assert (fetch(PACKAGE) / "some_package" / "__init__.py").read_text() == "of the other"
    assert sorted(path.name for path in cache.iterdir()) == ["some-package-1.0", "wheels"]


def counted(root: Path, source: str) -> list[Kernel]:
    (root / "file.py").write_text(dedent(source))
    return list(kernels(root))


def test_kernels_of_every_form_are_counted(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        """\
        import warp
        import warp as wp
        from warp import kernel as k

        @wp.kernel
        def at_the_top(): ...

        class Solver:
            @staticmethod
            @wp.kernel(enable_backward=False)
            def of_a_class(): ...

            def make(self):
                @k
                def of_a_method(): ...

        def make(size, module):
            @wp.kernel(module="unique")
            def unique(): ...

            @warp.kernel(module=None)
            def own(): ...

            if size:
                @wp.kernel(module="named")
                def literal(): ...
            first = wp.kernel(literal, module=module)
            return wp.kernel(enable_backward=False)(own), lambda f: wp.kernel(f)

        table = {size: wp.kernel(make(size, None)) for size in (1, 2)}
        """,
    )

    assert [(kernel.line, kernel.function, kernel.place, kernel.home) for kernel in found] == [
        (5, "at_the_top", Place.MODULE, Home.OWN),
        (10, "Solver.of_a_class", Place.CLASS, Home.OWN),
        (14, "Solver.make.of_a_method", Place.FUNCTION, Home.OWN),
        (18, "make.unique", Place.FUNCTION, Home.UNIQUE),
        (21, "make.own", Place.FUNCTION, Home.OWN),
        (25, "make.literal", Place.FUNCTION, Home.LITERAL),
        (27, "make", Place.FUNCTION, Home.COMPUTED),
        (28, "make", Place.FUNCTION, Home.OWN),
        (28, "make.<lambda>", Place.FUNCTION, Home.OWN),
        (30, "", Place.MODULE, Home.OWN),
    ]
    assert [kernel.line for kernel in nested_kernels(tmp_path)] == [14, 21, 28, 28]


@pytest.mark.parametrize("line", ["from helpers import *", "from helpers import wp", "import warp as wp"])
def test_warp_may_come_from_elsewhere(tmp_path: Path, line: str) -> None:
    found = counted(tmp_path, f"{line}\n\n@wp.kernel\ndef at_the_top(): ...\n")

    assert [kernel.function for kernel in found] == ["at_the_top"]


def test_look_alikes_are_not_counted(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        """\
        import taichi as ti
        import warp as wp
        from library import cache_kernel

        @ti.kernel
        def other(): ...

        @cache_kernel
        def factory():
            options = wp.kernel(enable_backward=False)
            return kernel(options)
        """,
    )

    assert found == []


def test_the_table_is_written_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"newton-1.8.0": {"WRP101": 10, "WRP201": 3}, "xlb-0.3.1": {}}
    (tmp_path / "counts.toml").write_text(as_toml(table))
    monkeypatch.setattr("tests.wild.counts.TABLE", tmp_path / "counts.toml")

    assert committed() == table
