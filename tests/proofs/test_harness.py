"""The harness tells the truth: its records agree with what Warp leaves on disk and with what is known."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.proofs.harness import Device, Run, record, run
from tests.proofs.proofs import Expectation, NotProvenError, Outcome, Proof, read_cases, read_reasons
from tests.proofs.recorder.events import Launch
from tests.proofs.recorder.recording import source_size

pytestmark = pytest.mark.proof

KERNELS = """\
import warp as wp

@wp.kernel
def double(values: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * values[i]

@wp.kernel(module="unique")
def triple(values: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 3.0 * values[i]

values = wp.ones(4, dtype=float, requires_grad=True)
out = wp.zeros(4, dtype=float, requires_grad=True)
"""


def write_program(folder: Path, text: str, name: str = "program.py") -> Path:
    program = folder / name
    program.write_text(text)
    return program


def run_text(folder: Path, text: str, device: Device = Device.CPU) -> Run:
    return run(write_program(folder, KERNELS + text), folder / "cache", device)


def block_dims(builds: Run) -> list[tuple[str, int]]:
    """Each build's module, without the hash in the name of a unique one, and its block_dim."""
    return [
        (build.module.rsplit("_", 1)[0] if "triple" in build.module else build.module, build.block_dim)
        for build in builds.builds
    ]


def test_nothing_of_warp_is_imported_early(tmp_path: Path) -> None:
    program = write_program(tmp_path, "import sys\nprint('warp' in sys.modules, 'msgspec' in sys.modules)\n")
    assert run(program, tmp_path / "cache").output == "False False\n"


def test_builds_are_what_lies_in_the_cache(tmp_path: Path) -> None:
    result = run_text(tmp_path, "wp.launch(double, 4, [values, out])\nwp.launch(triple, 4, [values, out])\n")
    sources = {path.parent.name: path for path in (tmp_path / "cache").rglob("wp_*/*.cpp")}
    assert sorted(sources) == sorted(f"wp_{build.module}_{build.hash[:7]}" for build in result.builds)
    for build in result.builds:
        source = sources[f"wp_{build.module}_{build.hash[:7]}"].read_text()
        assert build.source_bytes == source_size(source) == len(source.encode())


def test_cuda_builds_are_what_lies_in_the_cache(tmp_path: Path) -> None:
    result = run_text(tmp_path, "wp.launch(double, 4, [values, out], block_dim=64)\n", Device.CUDA)
    binaries = [path.parent.name for path in (tmp_path / "cache").rglob("wp_*/*.sm90.cubin")]
    assert binaries == [f"wp_{build.module}_{build.hash[:7]}" for build in result.builds]


def test_second_run_loads_from_the_cache(tmp_path: Path) -> None:
    for device in Device:
        program = write_program(tmp_path, KERNELS + "wp.launch(double, 4, [values, out])\n")
        recording = record(program, device)
        assert [build.hash for build in recording.cold.builds]
        assert recording.warm.builds == []
        assert [load.hash for load in recording.warm.events.cache_loads if load.device == device.value] == [
            build.hash for build in recording.cold.builds
        ]


def test_output_is_the_programs_own(tmp_path: Path) -> None:
    result = run_text(tmp_path, "wp.launch(double, 4, [values, out])\nprint(out.numpy().tolist())\n")
    assert result.output == "[2.0, 2.0, 2.0, 2.0]\n"
    assert "Module __main__" in result.messages


def test_launches_of_every_form(tmp_path: Path) -> None:
    text = """
from typing import Any

@wp.kernel
def fill(out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = out.dtype(1)

@wp.kernel
def tiles(values: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.tile_store(out, wp.tile_load(values, shape=4))

wp.launch(fill, dim=(4,), outputs=[out])
wp.launch_tiled(tiles, dim=[1], inputs=[values], outputs=[out], block_dim=32)
with wp.Tape() as tape:
    wp.launch(double, 4, [values], [out], block_dim=64)
tape.backward(grads={out: wp.ones(4, dtype=float)})
command = wp.launch(double, dim=3, inputs=[values, out], block_dim=128, record_cmd=True)
command.launch()
command.set_dim(2)
command.launch()
"""
    assert run_text(tmp_path, text).launches == [
        Launch("fill", "a1f4", [4], None, adjoint=False),
        Launch("tiles", "", [1, 1], 32, adjoint=False),  # a block of one thread, on the CPU
        Launch("double", "", [4], 64, adjoint=False),
        Launch("double", "", [4], 64, adjoint=True),
        Launch("double", "", [3], 128, adjoint=False),
        Launch("double", "", [2], 128, adjoint=False),
    ]


def test_kernels_are_not_kept_alive(tmp_path: Path) -> None:
    """Warp builds every kernel that is alive: one that the program drops must die under the recorder too."""
    text = """
import weakref

def make(factor):
    @wp.kernel
    def dropped(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = factor

    wp.launch(dropped, dim=4, inputs=[values])
    return weakref.ref(dropped)

first, second = make(2.0), make(3.0)
print(first(), second().func.__name__)  # Warp keeps the latest kernel of a name
"""
    assert run_text(tmp_path, text).output == "None dropped\n"


def test_who_asks_for_a_build(tmp_path: Path) -> None:
    """A launch, a load one after another, and workers, which Warp uses for two modules or more."""
    text = """
wp.launch(double, 4, [values, out])
wp.load_module(triple.module, device="cpu")
again = [wp.kernel(triple.func, module=name) for name in (wp.get_module("a"), wp.get_module("b"))]
wp.force_load("cpu", [kernel.module for kernel in again], max_workers=2)
"""
    result = run_text(tmp_path, text)
    assert [(build.in_launch, build.in_worker) for build in result.builds] == [
        (True, False),
        (False, False),
        (False, True),
        (False, True),
    ]
    assert result.events.definitions == 4


def test_options_and_config_of_a_build(tmp_path: Path) -> None:
    text = """
wp.config.verify_fp = True
wp.set_module_options({"fast_math": True})
wp.launch(double, 4, [values, out])
wp.set_module_options({"max_unroll": 2}, module="nobody")
"""
    result = run_text(tmp_path, text)
    (build,) = result.builds
    assert build.config == {"verify_fp": True}
    assert [kernel.function for kernel in build.kernels] == ["double"]
    assert build.kernels[0].options["fast_math"] is True
    unowned = {module.name: module.changed_options for module in result.events.modules if module.kernels == 0}
    assert unowned == {"nobody": {"max_unroll": 2}}


def test_error_that_ends_the_program(tmp_path: Path) -> None:
    result = run_text(tmp_path, "wp.launch(double, 4, [values])\n")
    assert result.exit_status == 1
    assert result.events.error == "RuntimeError"
    assert result.launches == []


def test_links_are_counted_when_compiled(tmp_path: Path) -> None:
    """A Fourier transform links its own direction; its adjoint would link the other."""
    text = """
@wp.kernel(module="unique", module_options={"enable_backward": False})
def transform(signal: wp.array2d(dtype=wp.vec2f)):
    tile = wp.tile_load(signal, shape=(8, 8))
    wp.tile_fft(tile)
    wp.tile_store(signal, tile)

wp.launch_tiled(transform, dim=[1], inputs=[wp.zeros((8, 8), dtype=wp.vec2f)], block_dim=4)
"""
    program = write_program(tmp_path, KERNELS + text)
    recording = record(program, Device.CUDA)
    assert recording.cold.links == 1
    assert recording.warm.links == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("wp.launch(double, 4, [values, out])", [("__main__", 256)], id="default"),
        pytest.param(
            "wp.set_module_options({'block_dim': 128})\nwp.launch(double, 4, [values, out])",
            [("__main__", 256)],
            id="option-does-not-set-the-launch-default",
        ),
        pytest.param(
            "wp.set_module_options({'block_dim': 128})\n"
            "wp.load_module()\n"
            "wp.launch(double, 4, [values, out])",
            [("__main__", 128), ("__main__", 256)],
            id="option-sets-the-preload-default",
        ),
        pytest.param(
            "wp.launch(double, 4, [values, out], block_dim=64)\n"
            "wp.load_module()\n"
            "wp.load_module(block_dim=32)",
            [("__main__", 64), ("__main__", 32)],
            id="preload-reuses-loaded-variants",
        ),
        pytest.param(
            "for kernel, block_dim in ((double, 64), (triple, 128), (double, 64), (double, 128)):\n"
            "    wp.launch(kernel, 4, [values, out], block_dim=block_dim)",
            [("__main__", 64), ("triple", 128), ("__main__", 128)],
            id="one-build-for-each-block-dim",
        ),
        pytest.param(
            "wp.get_suggested_block_size(double)\nwp.launch(double, 4, [values, out], block_dim=64)",
            [("__main__", 256), ("__main__", 64)],
            id="query-builds-the-default",
        ),
        pytest.param(
            "wp.launch(double, 4, [values, out], device='cpu')", [("__main__", 256)], id="whatever-device"
        ),
    ],
)
def test_what_cuda_would_build(tmp_path: Path, text: str, expected: list[tuple[str, int]]) -> None:
    assert block_dims(run_text(tmp_path, text + "\n", Device.CUDA)) == expected


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A program that builds its module twice, and one that builds it once."""
    folder = tmp_path_factory.mktemp("pair")
    launch = "wp.launch(double, 4, [values, out])\n"
    late = 'wp.set_module_options({"fast_math": True})\n'
    ending = "print(out.numpy().tolist())\n"
    before = record(write_program(folder, KERNELS + launch + late + launch + ending, "before.py"))
    after = record(write_program(folder, KERNELS + late + launch + launch + ending, "after.py"))
    return Outcome(before, after)


def test_claims_that_hold(pair: Outcome) -> None:
    for proof in (
        Proof("fewer-builds", Expectation(2, 1)),
        Proof("fewer-kernel-builds"),
        Proof("less-source", share=0.51),
        Proof("option-arrives", Expectation("False, True", True), option="fast_math"),
    ):
        pair.check(proof)


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (Proof("fewer-builds", Expectation(3, 1)), "expected 3 and 1"),
        (Proof("less-source", share=0.4), "40% is left"),
        (Proof("fewer-links"), "does not fall"),
        (Proof("warm-without-builds", Expectation(0, 0)), "does not fall"),
        (Proof("option-arrives", Expectation(False, True), option="fast_math"), "expected False"),
        (Proof("prints", Expectation("[2.0, 2.0, 2.0, 2.0]", "[2.0, 2.0, 2.0, 2.0]")), "no effect"),
        (Proof("raises", Expectation("ValueError", "none")), "none before"),
    ],
    ids=lambda value: value.effect if isinstance(value, Proof) else None,
)
def test_claims_that_fail(pair: Outcome, proof: Proof, reason: str) -> None:
    with pytest.raises(NotProvenError, match=reason):
        pair.check(proof)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wp.launch(double, 4, [values, out])\nprint('other')\n", "output differs"),
        ("wp.launch(double, 3, [values, out])\nprint(out.numpy().tolist())\n", "output differs"),
        ("wp.launch(double, 4, [values, out])\nprint([2.0, 2.0, 2.0, 2.0])\n", "launches differ"),
        ("print([2.0, 2.0, 2.0, 2.0])\nraise SystemExit(3)\n", "status 3"),
    ],
)
def test_programs_that_do_not_do_the_same(tmp_path: Path, pair: Outcome, text: str, reason: str) -> None:
    other = record(write_program(tmp_path, KERNELS + text))
    with pytest.raises(NotProvenError, match=reason):
        Outcome(pair.before, other).check(Proof("fewer-builds"))


def test_results_as_effects(tmp_path: Path) -> None:
    """A program whose result changes, from zeros to numbers, and one that raises until it is fixed."""
    zeros = record(write_program(tmp_path, "import warp\nprint([0.0, -0.0, 0])\n", "all_zero.py"))
    numbers = record(write_program(tmp_path, "import warp\nprint([1.5, -2e-3, 0])\n", "two_not_zero.py"))
    raises = record(write_program(tmp_path, "import warp\nraise KeyError(1)\n", "raises.py"))
    Outcome(zeros, numbers).check(Proof("gradient-not-zero", Expectation(0, 2)))
    Outcome(zeros, numbers).check(Proof("prints", Expectation("[0.0, -0.0, 0]", "[1.5, -0.002, 0]")))
    Outcome(raises, numbers).check(Proof("raises", Expectation("KeyError", "none")))
    with pytest.raises(NotProvenError, match="expected 0 and 2"):
        Outcome(numbers, zeros).check(Proof("gradient-not-zero", Expectation(0, 2)))


def test_proof_file(tmp_path: Path) -> None:
    folder = tmp_path / "WRP999-some-rule"
    (folder / "fires_folder").mkdir(parents=True)
    (folder / "proof.toml").write_text(
        'file = { effect = "fewer-builds", expect = { before = 2, after = 1 } }\n'
        'folder = [{ effect = "fewer-links", device = "cuda" }, { effect = "less-source", share = 0.5 }]\n'
    )
    file, folder_on_cpu, folder_on_cuda = read_cases(tmp_path)
    assert (file.code, file.pair, file.device) == ("WRP999", "file", Device.CPU)
    assert (file.before.name, file.after.name) == ("fires_file.py", "fixed_file.py")
    assert file.proofs == (Proof("fewer-builds", Expectation(2, 1)),)
    assert folder_on_cpu.before.name == folder_on_cuda.before.name == "fires_folder"
    assert folder_on_cpu.proofs == (Proof("less-source", share=0.5),)
    assert folder_on_cuda.proofs == (Proof("fewer-links", device=Device.CUDA),)


def test_reason_instead_of_a_proof(tmp_path: Path) -> None:
    folder = tmp_path / "WRP999-some-rule"
    folder.mkdir()
    (folder / "proof.toml").write_text('unproven = "Warp has no say."\n')
    assert list(read_cases(tmp_path)) == []
    assert read_reasons(tmp_path) == {"WRP999": "Warp has no say."}


@pytest.mark.parametrize(
    "line",
    [
        'pair = { effect = "faster" }',
        'pair = { effect = "raises" }',
        'pair = { effect = "fewer-builds", expected = 1 }',
        'pair = { effect = "fewer-builds", device = "gpu" }',
    ],
)
def test_mistakes_in_a_proof_file(tmp_path: Path, line: str) -> None:
    (tmp_path / "WRP999-some-rule").mkdir()
    (tmp_path / "WRP999-some-rule" / "proof.toml").write_text(line)
    with pytest.raises(msgspec.ValidationError):
        list(read_cases(tmp_path))
