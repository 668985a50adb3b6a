from __future__ import annotations

from collections.abc import Iterable, Iterator

from warp_lint.edits.imports import delete_statement
from warp_lint.edits.statements import statements_of
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.modules import display_name
from warp_lint.project.overloads import Declaration, Signature, TypedLaunch
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_MOST_SHOWN = 4
"""Of a longer signature only the first types are shown."""

Statement = list[Declaration]
"""The overloads of one kernel that one statement declares."""


class ExcessOverloads(Rule):
    """Overloads of a generic kernel are declared that nothing launches.

    ## What it does
    Reports declared overloads that no launch of the project can use, and declarations that repeat a
    signature. Where one statement declares several (in a loop over types, say), the finding counts how many
    there are and how many are used. It says nothing when a launch has argument types that cannot be read, or
    when the kernel or the table of its overloads goes where it cannot be followed; and nothing in tests.

    ## Why is this bad
    Warp generates and builds every declared overload with its module, launched or not. Eight overloads of
    which one is used are nearly five times the source of that one.

    ## Example
    ```python
    for source in (wp.float16, wp.float32, wp.float64):
        for target in (wp.float16, wp.float32, wp.float64):
            wp.overload(convert, [wp.array(dtype=source), wp.array(dtype=target)])

    wp.launch(convert, dim=n, inputs=[wp.zeros(n, dtype=wp.float64), wp.zeros(n, dtype=wp.float32)])
    ```

    ## Use instead
    ```python
    wp.overload(convert, [wp.array(dtype=wp.float64), wp.array(dtype=wp.float32)])

    wp.launch(convert, dim=n, inputs=[wp.zeros(n, dtype=wp.float64), wp.zeros(n, dtype=wp.float32)])
    ```

    ## Fix safety
    The fix deletes a statement all of whose overloads are in excess. It is unsafe: code outside the project
    may launch them. For a kernel that a library exports the finding is only information, for the same
    reason.
    """

    code = "WRP112"
    name = "excess-overloads"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel, declarations in project.overloads.declared.items():
            definition = project.kernels[kernel]
            statements = [item for item in _statements(declarations) if not project.is_test(item[0].file)]
            repeated = list(_repeated(statements)) if _is_made_once(definition) else []
            for later, first in repeated:
                yield self._repetition(later, first, definition, project)
            others = [item for item in statements if all(item is not later for later, _ in repeated)]
            if others and not _is_compiled_ahead(definition, project):
                yield from self._excess(others, declarations, definition, project)

    def _repetition(
        self, statement: Statement, first: Declaration, kernel: KernelDefinition, project: Project
    ) -> Finding:
        declaration = statement[0]
        return self.finding(
            declaration.location,
            f'"{kernel.name}" is overloaded again for the same types ({_shown(declaration, project)}): '
            "Warp keeps one overload for each signature",
            suppression_range=declaration.suppression_range,
            related=[Related("declared here first", first.location)],
            fix=_fix(statement, project),
            redundant_builds=0,
        )

    def _excess(
        self,
        statements: list[Statement],
        declarations: Iterable[Declaration],
        kernel: KernelDefinition,
        project: Project,
    ) -> Iterator[Finding]:
        launches = project.overloads.launches(kernel.kernel)
        if launches is None or not all(launch.signatures for launch in launches):
            return
        used = {signature for launch in launches for signature in launch.signatures}
        for declaration in declarations:
            if project.overloads.is_launched(declaration):
                if declaration.signature is None:
                    return
                used.add(declaration.signature)
        for statement in statements:
            if any(item.signature is None and (used or _is_in_function(item)) for item in statement):
                continue
            if any(item.signature not in used for item in statement):
                yield self._finding(statement, used, launches, kernel, project)

    def _finding(
        self,
        statement: Statement,
        used: set[Signature],
        launches: list[TypedLaunch],
        kernel: KernelDefinition,
        project: Project,
    ) -> Finding:
        declaration = statement[0]
        # Types that could not be read are taken to differ from turn to turn.
        chosen = {item.signature or position for position, item in enumerate(statement)}
        excess = len(chosen - used)
        module = display_name(kernel.module, [kernel], project.files)
        if len(chosen) > 1:
            launched = len(chosen) - excess or "none"
            what = f'{len(chosen)} overloads of "{kernel.name}" that are declared here'
            message = f'module "{module}" builds {what}: launches use {launched} of them'
        elif declaration.signature is None:
            message = f'module "{module}" builds overloads of "{kernel.name}" that nothing launches'
        else:
            types = _shown(declaration, project)
            message = (
                f'module "{module}" builds an overload of "{kernel.name}" that nothing launches ({types})'
            )
        is_api = project.is_library(kernel.file) and project.overloads.is_exported(declaration)
        return self.finding(
            declaration.location,
            message,
            suppression_range=declaration.suppression_range,
            related=[_related(launch, kernel, project) for launch in launches[:1]],
            fix=_fix(statement, project) if excess == len(chosen) else None,
            level=Level.INFO if is_api else self.level,
            redundant_builds=excess,
        )


def _statements(declarations: Iterable[Declaration]) -> list[Statement]:
    found: dict[tuple[int, int], Statement] = {}
    for declaration in declarations:
        found.setdefault((declaration.file.index, declaration.span.start), []).append(declaration)
    return list(found.values())


def _is_made_once(kernel: KernelDefinition) -> bool:
    """Whether a kernel is not one of several that a function or loop makes."""
    return kernel.outermost_function is None and kernel.file.loop_of(kernel.place.block) is None


def _repeated(statements: list[Statement]) -> Iterator[tuple[Statement, Declaration]]:
    """The statements that declare nothing new, each with the declaration that came first. Only those that
    run when their file is imported count: a function may declare an overload just to get hold of it."""
    known: list[Declaration] = []
    for statement in statements:
        if _is_in_function(statement[0]):
            continue
        firsts = [
            next((first for first in known if _is_the_same(first, declaration)), None)
            for declaration in statement
        ]
        if firsts[0] is not None and None not in firsts:
            yield statement, firsts[0]
        else:
            known += statement


def _is_in_function(declaration: Declaration) -> bool:
    return declaration.file.function_of(declaration.place.scope) is not None


def _is_the_same(first: Declaration, second: Declaration) -> bool:
    return (
        first.signature == second.signature
        and first.signature is not None
        and first.file is second.file
        and not first.file.exclude_each_other(first.place.block, second.place.block)
    )


def _is_compiled_ahead(kernel: KernelDefinition, project: Project) -> bool:
    """Whether the kernel's module may be built for another program, which launches what it likes."""
    for site in project.calls_of("compile_aot_module"):
        file = project.files[site.file]
        place = project.evaluator.place_of(site.file, project.call(site))
        given = project.evaluator.arguments(project.call(site), place, {}).get(0, "module")
        if given is None or project.warp_modules.of_values(given, file) in (None, kernel.module):
            return True
    return False


def _shown(declaration: Declaration, project: Project) -> str:
    """The types that a declaration chooses: ``values: float64, factor: float64``."""
    parameters = project.overloads.open_parameters(declaration.kernel)
    types = [
        f"{parameter.name}: {chosen}"
        for parameter, chosen in zip(parameters, declaration.signature or (), strict=True)
    ]
    return ", ".join([*types[:_MOST_SHOWN], *(["…"] if len(types) > _MOST_SHOWN else [])])


def _related(launch: TypedLaunch, kernel: KernelDefinition, project: Project) -> Related:
    location = project.files[launch.site.file].facts.location(project.call(launch.site).span)
    return Related(f'"{kernel.name}" is launched here with other types', location)


def _fix(statement: Statement, project: Project) -> Fix | None:
    """Delete a statement whose overloads are all in excess, unless a name would be gone with it."""
    first = statement[0]
    edits: tuple[Edit, ...] | None
    if first.site is None:
        edits = _deleted_stub(first, project)
    elif first.path or project.call(first.site).context != "statement":
        return None
    else:
        edits = delete_statement(first.file, first.span.start, project)
    return Fix("Delete the statement", Applicability.UNSAFE, edits) if edits is not None else None


def _deleted_stub(stub: Declaration, project: Project) -> tuple[Edit, ...] | None:
    """The edit that deletes a function under ``@wp.overload``; None where comments would go with it."""
    try:
        statements = statements_of(project.source(stub.file))
    except SourceError:
        return None
    definition = statements.at(stub.span.start)
    if definition is None:
        return None
    edit = statements.deletion(definition)
    return None if "#" in statements.source.text[edit.start : edit.end] else (edit,)
