"""Calls: who is called, with what, and what becomes of the value."""

from __future__ import annotations

import libcst as cst

from warp_lint.facts.context import Context, HostVisitor
from warp_lint.facts.expressions import expression
from warp_lint.facts.records import Argument, CallFact


class CallsVisitor(HostVisitor):
    """Records every call of host code when it is left: after its arguments, before what uses its value."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._contexts: dict[int, str] = {}

    def visit_Expr(self, node: cst.Expr) -> None:
        if type(node.value) is cst.Call:
            self._contexts[id(node.value)] = "statement"

    def visit_Return(self, node: cst.Return) -> None:
        if type(node.value) is cst.Call:
            self._contexts[id(node.value)] = "return"

    def visit_Await(self, node: cst.Await) -> None:
        self._contexts[id(node.expression)] = "await"

    def visit_WithItem(self, node: cst.WithItem) -> None:
        self._contexts[id(node.item)] = "with"

    def visit_Decorator(self, node: cst.Decorator) -> None:
        self.context.enter_statement(node)
        self._contexts[id(node.decorator)] = "decorator"

    def leave_Call(self, original_node: cst.Call) -> None:
        context = self.context
        context.call_indices[id(original_node)] = len(context.facts.calls)
        context.facts.calls.append(
            CallFact(
                function=expression(original_node.func, context),
                arguments=tuple(map(self._argument, original_node.args)),
                span=context.span(original_node),
                statement_span=context.statement_span,
                scope=context.scope,
                block=context.block,
                order=context.next_order(),
                context=self._contexts.pop(id(original_node), ""),
            )
        )

    def _argument(self, node: cst.Arg) -> Argument:
        context = self.context
        value = node.value
        keyword = node.keyword.value if node.keyword is not None else node.star or None
        return Argument(expression(value, context), keyword, context.span(value))
