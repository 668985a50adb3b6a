"""Assignments and everything else that gives a name, an attribute or an item its value."""

from __future__ import annotations

import libcst as cst

from warp_lint.facts.context import HostVisitor
from warp_lint.facts.expressions import expression
from warp_lint.facts.records import BindingFact, BindingKind
from warp_lint.facts.values import Opaque


class BindingsVisitor(HostVisitor):
    """Records a fact for each target, after the calls in its value."""

    def leave_Assign(self, original_node: cst.Assign) -> None:
        for target in original_node.targets:
            self._record(BindingKind.ASSIGN, target.target, original_node.value, original_node)

    def leave_AnnAssign(self, original_node: cst.AnnAssign) -> None:
        if original_node.value is not None:
            self._record(BindingKind.ASSIGN, original_node.target, original_node.value, original_node)

    def leave_AugAssign(self, original_node: cst.AugAssign) -> None:
        operator = type(original_node.operator).__name__.removesuffix("Assign")
        self._record(
            BindingKind.AUGMENTED, original_node.target, original_node.value, original_node, operator=operator
        )

    def leave_NamedExpr(self, original_node: cst.NamedExpr) -> None:
        self._record(BindingKind.WALRUS, original_node.target, original_node.value, original_node)

    def visit_For_body(self, node: cst.For) -> None:
        self._record(BindingKind.LOOP, node.target, node.iter, node.target)

    def leave_CompFor(self, original_node: cst.CompFor) -> None:
        self._record(BindingKind.LOOP, original_node.target, original_node.iter, original_node.target)

    def leave_WithItem(self, original_node: cst.WithItem) -> None:
        if original_node.asname is not None:
            self._record(BindingKind.WITH, original_node.asname.name, original_node.item, original_node.item)

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        if node.name is not None:
            self._record(BindingKind.EXCEPT, node.name.name, None, node.name.name)

    def visit_MatchAs(self, node: cst.MatchAs) -> None:
        if node.name is not None:
            self._record(BindingKind.PATTERN, node.name, None, node.name)

    def visit_MatchStar(self, node: cst.MatchStar) -> None:
        if node.name is not None:
            self._record(BindingKind.PATTERN, node.name, None, node.name)

    def leave_Del(self, original_node: cst.Del) -> None:
        self._record(BindingKind.DELETE, original_node.target, None, original_node)

    def _record(
        self,
        kind: BindingKind,
        target: cst.BaseExpression,
        value: cst.BaseExpression | None,
        statement: cst.CSTNode,
        *,
        operator: str = "",
    ) -> None:
        context = self.context
        context.facts.bindings.append(
            BindingFact(
                kind=kind,
                target=expression(target, context),
                value=expression(value, context) if value is not None else Opaque(),
                span=context.span(statement),
                scope=context.scope,
                block=context.block,
                order=context.next_order(),
                operator=operator,
            )
        )
