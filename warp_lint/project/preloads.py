"""Calls that build or fetch modules ahead of their launches: preloads, and builds ahead of time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from warp_lint.facts.records import Argument, CallFact
from warp_lint.findings import Location, Range
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place
from warp_lint.project.kernels import ModuleKey
from warp_lint.project.values import Collection, Constant, PlainValue, Values, constant, only_constant
from warp_lint.warp_api import FUNCTIONS, history

if TYPE_CHECKING:
    from warp_lint.project import Project

PRELOADS = ("load_module", "force_load")
AHEAD_OF_TIME = ("compile_aot_module", "load_aot_module")

_POSITIONS = {
    (name, parameter.name): position
    for name in (*PRELOADS, *AHEAD_OF_TIME)
    for position, parameter in enumerate(history(FUNCTIONS, name)[-1].parameters)
}


class Preload:
    """One call of ``load_module``, ``force_load``, ``compile_aot_module`` or ``load_aot_module``."""

    def __init__(self, name: str, site: CallSite, project: Project) -> None:
        self.name = name
        self.site = site
        self.file = project.files[site.file]
        self.call: CallFact = project.call(site)
        self.place: Place = project.evaluator.place_of(site.file, self.call)
        self.arguments = project.evaluator.arguments(self.call, self.place, {})
        self._project = project

    def argument(self, name: str) -> Values | None:
        """The values of an argument; None when it is not given, or given as None."""
        values = self.arguments.get(_POSITIONS[self.name, name], name)
        return None if values == (constant(None),) else values

    def written(self, name: str) -> Argument | None:
        """An argument as it is written; None when it is not, or perhaps unpacked from something."""
        for position, argument in enumerate(self.call.arguments):
            if argument.keyword == "*":
                return None
            is_positional = argument.keyword is None and position == _POSITIONS[self.name, name]
            if is_positional or argument.keyword == name:
                return argument
        return None

    def plain(self, name: str) -> PlainValue:
        """The constant that an argument is; None when it is none, or not given."""
        found = only_constant(self.argument(name))
        return found.value if found is not None else None

    def leaves_out(self, *names: str) -> bool:
        """Whether all of some arguments are surely not given."""
        return not self.arguments.open and all(self.argument(name) is None for name in names)

    @cached_property
    def loads_everything(self) -> bool:
        """Whether it is ``force_load`` without modules."""
        return self.name == "force_load" and self.leaves_out("modules")

    @cached_property
    def named(self) -> tuple[ModuleKey | None, ...]:
        """The modules that the call names, None for each that is not known."""
        if self.arguments.open:
            return (None,)
        if self.name != "force_load":
            items: tuple[Values, ...] = (self.argument("module") or (constant(None),),)
        else:
            given = self.argument("modules") or ()
            lists = (value.items if isinstance(value, Collection) else ((value,),) for value in given)
            items = tuple(item for values in lists for item in values)
        return tuple(self._project.warp_modules.of_values(item, self.file) for item in items)

    @cached_property
    def modules(self) -> tuple[ModuleKey, ...]:
        """The modules that the call names; empty when not all of them are known."""
        known = tuple(key for key in self.named if key is not None)
        return known if len(known) == len(self.named) else ()

    @cached_property
    def devices(self) -> tuple[str, ...] | None:
        """The devices that the call names; empty where it names none, None where they are not known."""
        given = self.argument("device")
        if given is None:
            return None if self.arguments.open else ()
        match given:
            case (Collection(items=items),):
                alternatives = items
            case _:
                alternatives = (given,)
        found = []
        for values in alternatives:
            match values:
                case (Constant(value=str(device)),):
                    found.append(device)
                case _:
                    return None
        return tuple(found)

    @cached_property
    def is_for_cpu_alone(self) -> bool:
        named = bool(self.devices) and all(device == "cpu" for device in self.devices or ())
        return named or self.file.is_cpu_only(self.call.block)

    @cached_property
    def is_for_cpu_too(self) -> bool:
        """Whether the call surely loads for the CPU, perhaps among others."""
        if self.file.is_cuda_only(self.call.block) or self.devices is None:
            return False
        return "cpu" in self.devices or (not self.devices and "cpu" in self._project.settings.devices)

    @property
    def location(self) -> Location:
        return self.file.facts.location(self.call.span)

    @property
    def suppression_range(self) -> Range:
        return self.file.facts.location(self.call.statement_span).range

    @property
    def expects_error(self) -> bool:
        return self.file.expects_error(self.call.block)


def find_preloads(project: Project) -> list[Preload]:
    """Every such call of the project, in the order of files and text."""
    names = (*PRELOADS, *AHEAD_OF_TIME)
    found = [Preload(name, site, project) for name in names for site in project.calls_of(name)]
    return sorted(found, key=lambda preload: preload.site)
