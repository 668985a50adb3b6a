from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from warp_lint.edits.options import move_config_above_import, move_config_to_top
from warp_lint.facts.records import Span
from warp_lint.findings import Applicability, Finding, Fix, Level, Location, Related
from warp_lint.project import Project
from warp_lint.project.events import EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.options import ConfigWrite
from warp_lint.project.values import DeviceFunction, Kernel, ParameterValue, Unknown, constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, ReadTime, WarpName, find


class ConfigAfterImport(Rule):
    """A `wp.config` attribute is set after the modules that would copy it were created.

    ## What it does
    Reports assignments to attributes that a module copies when it is created (`enable_backward`,
    `max_unroll`, `lineinfo`, `deterministic`, …) below a kernel or function of the same file, or below the
    import of a package that creates Warp modules.

    ## Why is this bad
    A module is created by the first definition in it, which is when the file is imported. A later
    assignment is ignored for it, without a word: the option that the author counts on is not there.

    ## Example
    ```python
    import newton
    import warp as wp

    wp.config.enable_backward = False
    ```

    ## Use instead
    ```python
    import warp as wp

    wp.config.enable_backward = False

    import newton  # noqa: E402
    ```

    ## Fix safety
    The fix moves the assignment above the definitions of its file, or above the first import that creates
    modules. It is unsafe: modules get an option that they did not have so far. `# noqa: E402` goes to the
    imports below where the settings of ruff, flake8 or pycodestyle in the project report those.
    """

    code = "WRP302"
    name = "config-after-import"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        for config in project.config_writes:
            attribute = find(CONFIG_ATTRIBUTES, config.name, version)
            if attribute is None or attribute.read is not ReadTime.CREATION or config.kind != "assign":
                continue
            is_constant = all(not isinstance(value, Unknown | ParameterValue) for value in config.values)
            if project.is_test(config.file) or not is_constant:
                continue  # tests set what they test, and what is not known may be what it was
            is_default = not isinstance(attribute.default, WarpName) and config.values == (
                constant(attribute.default),
            )
            if is_default or self._is_followed_by_definitions(config, project):
                continue
            earlier = self._created_before(config, project)
            if earlier is not None:
                yield self._finding(config, earlier, project)

    def _created_before(self, config: ConfigWrite, project: Project) -> _Creation | None:
        """The first thing at the file's top level that created a Warp module before the assignment."""
        file = config.file
        if config.place.scope == 0:
            block, order = config.place.block, config.place.order
        elif file.function_of(config.place.scope) is not None:
            # A function of a program comes after its definitions; when one of a library runs, and what is
            # imported after it, is for others to decide.
            function = file.function_of(config.place.scope) or 0
            if project.is_library(file) or project.callers.runs_at_import(file.index, function):
                return None
            block, order = file.facts.scopes[0].body_block, 1 << 60
        else:
            return None
        found = [
            creation
            for creation in self._creations(file, project)
            if creation.order < order and file.may_reach(creation.block, block)
        ]
        return min(found, key=lambda creation: creation.order, default=None)

    def _creations(self, file: ProjectFile, project: Project) -> Iterator[_Creation]:
        for index, scope in enumerate(file.facts.scopes):
            if scope.parent == 0 and scope.decorators and self._is_device_code(file, index, project):
                span = scope.decorators[0].span
                what = f"{scope.name} creates the file's module"
                location = file.facts.location(span)
                yield _Creation(scope.block, scope.order, span, location, what, is_definition=True)
        for imported in file.facts.imports:
            if imported.scope != 0 or file.is_type_checking(imported.block):
                continue
            package, location = imported.module, file.facts.location(imported.span)
            creates = partial(_Creation, imported.block, imported.order, imported.span, location)
            if not imported.level and self._is_known(package, project):
                yield creates(f"{package} creates its modules")
            if package.partition(".")[0] == "warp" and not imported.level:
                continue  # importing Warp is no fault, also where Warp itself is the project
            for target in project.imports.targets(imported, file):
                for reached in sorted(project.imports.reached(target)):
                    other = project.files[reached]
                    if other is not file and self._creates_modules(other, project):
                        yield creates(f"{other.dotted_name} creates its module")
                        break

    def _is_known(self, package: str, project: Project) -> bool:
        return any(
            package == known or package.startswith(f"{known}.")
            for known in project.settings.known_warp_packages
        )

    def _creates_modules(self, file: ProjectFile, project: Project) -> bool:
        """Whether importing a file defines a kernel or device function in its own module."""
        return any(
            scope.parent == 0 and scope.decorators and self._is_device_code(file, index, project)
            for index, scope in enumerate(file.facts.scopes)
        )

    def _is_device_code(self, file: ProjectFile, scope: int, project: Project) -> bool:
        for value in project.evaluator.definition(file.index, scope, {}):
            if isinstance(value, DeviceFunction):
                return True
            if isinstance(value, Kernel) and value in project.kernels:
                return project.kernels[value].module == project.warp_modules.own(file)
        return False

    def _is_followed_by_definitions(self, config: ConfigWrite, project: Project) -> bool:
        """Whether a function sets the attribute for kernels that it makes afterwards."""
        if config.place.scope == 0:
            return False
        events = project.timeline.events(config.file.index, config.place.scope)
        return any(event.kind is EventKind.DEFINE and event.order > config.place.order for event in events)

    def _finding(self, config: ConfigWrite, earlier: _Creation, project: Project) -> Finding:
        return self.finding(
            config.location,
            f"wp.config.{config.name} is set too late for modules that are created already: "
            "they copied its value when they were created",
            suppression_range=config.file.facts.location(config.span).range,
            related=[Related(f"{earlier.description} here", earlier.location)],
            fix=self._fix(config, earlier, project),
        )

    def _fix(self, config: ConfigWrite, earlier: _Creation, project: Project) -> Fix | None:
        is_first = not any(
            other.name == config.name
            and other.place.file == config.place.file
            and other.place.order < config.place.order
            for other in project.config_writes
        )
        if not is_first:
            return None  # it changes what was set above, which may be meant for what is there
        if earlier.is_definition:
            edits, where = move_config_to_top(config, project), "definitions"
        else:
            edits, where = move_config_above_import(config, earlier.span.start, project), "imports"
        return Fix(f"Set the attribute above the {where}", Applicability.UNSAFE, edits) if edits else None


class _Creation(NamedTuple):
    """A place at a file's top level that creates Warp modules."""

    block: int
    order: int
    span: Span
    location: Location
    description: str
    is_definition: bool = False
