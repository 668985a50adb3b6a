"""Imports, in any scope."""

from __future__ import annotations

import libcst as cst

from warp_lint.facts.context import HostVisitor
from warp_lint.facts.expressions import dotted_name
from warp_lint.facts.records import ImportFact


class ImportsVisitor(HostVisitor):
    """Records one fact for each name that an import binds."""

    def visit_Import(self, node: cst.Import) -> None:
        for alias in node.names:
            module = dotted_name(alias.name)
            if alias.asname is not None:
                self._record(node, module, None, 0, dotted_name(_target(alias.asname)))
            else:
                self._record(node, module, None, 0, module.partition(".")[0])

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        module = dotted_name(node.module) if node.module is not None else ""
        level = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            self._record(node, module, "*", level, "*")
            return
        for alias in node.names:
            name = dotted_name(alias.name)
            bound_name = dotted_name(_target(alias.asname)) if alias.asname is not None else name
            self._record(node, module, name, level, bound_name)

    def _record(self, node: cst.CSTNode, module: str, name: str | None, level: int, bound_name: str) -> None:
        context = self.context
        context.facts.imports.append(
            ImportFact(
                module=module,
                name=name,
                level=level,
                bound_name=bound_name,
                span=context.span(node),
                scope=context.scope,
                block=context.block,
                order=context.next_order(),
            )
        )


def _target(node: cst.AsName) -> cst.BaseExpression:
    assert isinstance(node.name, cst.BaseExpression)
    return node.name
