"""What functions give back."""

from __future__ import annotations

import libcst as cst

from warp_lint.facts.context import HostVisitor
from warp_lint.facts.expressions import expression
from warp_lint.facts.records import ReturnFact
from warp_lint.facts.values import Constant


class ReturnsVisitor(HostVisitor):
    """Records ``return`` and ``yield``, and the value of a lambda."""

    def leave_Return(self, original_node: cst.Return) -> None:
        self._record("return", original_node.value, original_node)

    def leave_Yield(self, original_node: cst.Yield) -> None:
        value = original_node.value
        scope = self.context.facts.scopes[self.context.scope]
        scope.is_generator = True
        if isinstance(value, cst.From):
            self._record("yield from", value.item, original_node)
        else:
            self._record("yield", value, original_node)

    def leave_Lambda(self, original_node: cst.Lambda) -> None:
        context = self.context
        scope = context.scope_indices[id(original_node)]
        context.facts.returns.append(
            ReturnFact(
                kind="return",
                value=expression(original_node.body, context),
                span=context.span(original_node.body),
                scope=scope,
                block=context.facts.scopes[scope].body_block,
                order=context.next_order(),
            )
        )

    def _record(self, kind: str, value: cst.BaseExpression | None, node: cst.CSTNode) -> None:
        context = self.context
        context.facts.returns.append(
            ReturnFact(
                kind=kind,
                value=expression(value, context) if value is not None else Constant(None),
                span=context.span(node),
                scope=context.scope,
                block=context.block,
                order=context.next_order(),
            )
        )
