"""The Warp modules of one running process: what is defined, set, loaded and built, event by event."""

from __future__ import annotations

from dataclasses import dataclass, field

from warp_lint.project.build_records import BlockDim, Build, BuildCache, ModuleId, Version
from warp_lint.project.callers import CallSite
from warp_lint.project.events import EVERY_MODULE, Event, EventKind
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.launches import DEFAULT_BLOCK_DIM
from warp_lint.project.outline import Outline
from warp_lint.project.values import (
    Constant,
    Environment,
    Kernel,
    ParameterValue,
    Symbol,
    Values,
    constant,
    only_constant,
)

CPU, CUDA = "cpu", "cuda"
_CPU_BLOCK_DIM = 1


@dataclass
class _Module:
    """A Warp module in the process."""

    live: dict[Version, None] = field(default_factory=dict)
    options: dict[str, Values] = field(default_factory=dict)
    is_modified: bool = True
    hashed: tuple[frozenset[Version], object] = (frozenset(), ())


class WarpProcess:
    """The modules of one process, which builds into a cache that it may share with others."""

    def __init__(self, outline: Outline, cache: BuildCache, device: str | None) -> None:
        """``device`` says that everything is launched there, whatever the program names."""
        self._outline = outline
        self._project = outline.project
        self._evaluator = outline.project.evaluator
        self._callers = outline.project.callers
        self._cache = cache
        self._device = device
        self._modules: dict[ModuleId, _Module] = {}
        self._config: dict[str, Values] = {}
        self.changes = 0
        """How often something changed that a later build depends on."""
        self.is_exact = True
        """Whether all that decides so far was known."""

    def happen(self, event: Event, environment: Environment) -> None:
        match event.kind:
            case EventKind.DEFINE if event.kernel is not None:
                self._define(self._project.kernels[event.kernel], environment)
            case EventKind.OVERLOAD if event.kernel is not None and event.site is not None:
                self._declare(event.kernel, event.site)
            case EventKind.SET_OPTION if event.write is not None:
                module = self._module(ModuleId(event.write.module))
                before = module.options.get(event.write.name)
                module.options[event.write.name] = event.write.values
                if event.write.is_marking:
                    self._mark(module, is_change=before != event.write.values)
            case EventKind.SET_CONFIG if event.config is not None:
                self.changes += self._config.get(event.config.name) != event.config.values
                self._config[event.config.name] = event.config.values
            case EventKind.LAUNCH if event.kernel is not None:
                self._launch(event, event.kernel)
            case EventKind.LAUNCH:
                self.is_exact = False
                for kernel in {
                    version.kernel for module in self._modules.values() for version in module.live
                }:
                    if kernel in self._outline.without_launch:
                        self._launch(event, kernel)
            case EventKind.LOAD if event.site not in self._outline.built_ahead:
                self._preload(event, environment)
            case EventKind.COMPILE:
                self._preload(event, environment)

    def _module(self, module: ModuleId) -> _Module:
        return self._modules.setdefault(module, _Module())

    def _mark(self, module: _Module, *, is_change: bool) -> None:
        module.is_modified = True
        self.changes += is_change

    def _define(self, kernel: KernelDefinition, environment: Environment) -> None:
        captured = tuple(
            (name, self._evaluator.lookup(name, kernel.place, environment))
            for name in sorted(kernel.captured_parameters)
        )
        key = self._module_given(kernel, environment)
        module = self._module(ModuleId(key, captured if key.kind in _ALONE else ()))
        if kernel.is_generic:
            for declaration in self._project.overloads.declared.get(kernel.kernel, ()):
                if declaration.site is None and declaration.signature is not None:
                    self._add(Version(kernel.kernel, captured, declaration.signature), module)
            module.live.setdefault(Version(kernel.kernel, captured, _OPEN))
            self._mark(module, is_change=False)
        else:
            self._add(Version(kernel.kernel, captured), module)

    def _module_given(self, kernel: KernelDefinition, environment: Environment) -> ModuleKey:
        """The module that a kernel joins, where the function that makes it is told which."""
        given = kernel.creation.arguments.keyword("module")
        match given:
            case (ParameterValue(name=name),):
                told = self._evaluator.lookup(name, kernel.place, environment)
                if told == (constant(None),):
                    return ModuleKey(ModuleKind.OWN, file=kernel.body_file.index)
                return kernel.module_of(told)
            case _:
                return kernel.module

    def _add(self, version: Version, module: _Module) -> None:
        is_new = version not in module.live
        module.live[version] = None
        self._mark(module, is_change=is_new)

    def _declare(self, kernel: Kernel, site: CallSite) -> None:
        for declaration in self._project.overloads.declared.get(kernel, ()):
            if declaration.site == site:
                if declaration.signature is None:
                    self.is_exact = False
                signature = declaration.signature or (f"{site.file}:{site.call}",)
                for module in self._modules_of(kernel):
                    for version in self._versions(kernel, module):
                        self._add(version._replace(signature=signature), self._modules[module])

    def _modules_of(self, kernel: Kernel) -> list[ModuleId]:
        """The modules that hold a version of a kernel."""
        return [module for module in self._modules if self._versions(kernel, module)]

    def _versions(self, kernel: Kernel, module: ModuleId) -> list[Version]:
        """The versions of a kernel in a module, one for each of what it captures."""
        live = [version for version in self._modules[module].live if version.kernel == kernel]
        return list({version.captured: version for version in live}.values())

    def _launch(self, event: Event, kernel: Kernel) -> None:
        assert event.site is not None
        is_cpu_only = (event.site, kernel) in self._outline.on_cpu
        device = self._device or (CPU if is_cpu_only else CUDA)
        block_dim = self._block_dim_on(device, self._shown(event.block_dim))
        for signature in self._signatures_at(event.site, kernel):
            for module in self._modules_of(kernel):
                for version in self._versions(kernel, module):
                    launched = version._replace(signature=signature)
                    if signature:
                        self._add(launched, self._modules[module])
                    self._cache.modules[module.key].launched.add((launched, device, block_dim))
                self._load(module, device, block_dim, event)

    def _signatures_at(self, site: CallSite, kernel: Kernel) -> list[tuple[str, ...]]:
        """The signatures that a launch has in turn. One that is not known is taken to be declared, where any
        is, and else to be another one."""
        if not self._project.kernels[kernel].is_generic:
            return [()]
        known = self._outline.signatures.get((site, kernel))
        if known:
            return known
        self.is_exact = False
        declared = [
            version.signature
            for module in self._modules_of(kernel)
            for version in self._modules[module].live
            if version.kernel == kernel and version.signature != _OPEN
        ]
        return declared[:1] or [(f"{site.file}:{site.call}",)]

    def _shown(self, block_dim: Constant | Symbol | None) -> BlockDim:
        match block_dim:
            case Constant(value=int(number)):
                return number
            case Symbol(text=text):
                self.is_exact = False
                return text
            case _:
                self.is_exact = False
                return DEFAULT_BLOCK_DIM

    def _preload(self, event: Event, environment: Environment) -> None:
        block_dim = self._asked_block_dim(event, environment)
        for module in list(self._modules):
            is_meant = event.module == EVERY_MODULE or module.key == event.module
            if is_meant and self._modules[module].live:
                given = only_constant(self._modules[module].options.get("block_dim"))
                option = given.value if given is not None and isinstance(given.value, int) else None
                asked: BlockDim = block_dim or option or DEFAULT_BLOCK_DIM
                device = CPU if self._device == CPU else CUDA
                if event.kind is not EventKind.COMPILE:
                    asked = self._block_dim_on(device, asked)
                self._load(module, device, asked, event)

    def _block_dim_on(self, device: str, asked: BlockDim) -> BlockDim:
        """The block dimension that a module is built for where one was asked for."""
        has_blocks = device == CUDA or self._config.get("enable_cpu_blocks") == (constant(True),)
        return asked if has_blocks else _CPU_BLOCK_DIM

    def _asked_block_dim(self, event: Event, environment: Environment) -> int | None:
        if event.site is None:
            return None
        call, place = self._callers.call(event.site), self._callers.place(event.site)
        given = only_constant(self._evaluator.arguments(call, place, environment).keyword("block_dim"))
        return given.value if given is not None and isinstance(given.value, int) else None

    def _load(self, module: ModuleId, device: str, block_dim: BlockDim, event: Event) -> None:
        state = self._modules[module]
        if state.is_modified:
            options = tuple(
                sorted((name, values) for name, values in state.options.items() if name != "block_dim")
            )
            built = frozenset(version for version in state.live if version.signature != _OPEN)
            state.hashed = (built, (options, tuple(sorted(self._config.items()))))
            state.is_modified = False
        kernels, identity = state.hashed
        record = self._cache.modules[module.key]
        record.is_exact &= self.is_exact
        record.loaded_by = record.loaded_by or event
        # Without a hash in its name, a binary is found again whatever it was built from.
        is_found = state.options.get("strip_hash") == (constant(True),) and any(
            built == module for built, _ in record.builds
        )
        if kernels and not is_found:
            self._cache.load(module, identity, Build(device, block_dim, kernels))


_OPEN = ("?",)
"""The signature of a generic kernel before somebody chooses types: nothing is built for it."""
_ALONE = (ModuleKind.UNIQUE, ModuleKind.ISOLATED, ModuleKind.COMPUTED, ModuleKind.UNKNOWN)
