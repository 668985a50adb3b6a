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
        context, calls = self.context, self.context.facts.calls
        span = context.span
        context.call_indices[id(original_node)] = len(calls)
        arguments = []
        for argument in original_node.args:
            value = argument.value
            keyword = argument.keyword.value if argument.keyword is not None else argument.star or None
            arguments.append(Argument(expression(value, context), keyword, span(value)))
        calls.append(
            CallFact(  # without keywords: it is made a thousand times in a file
                expression(original_node.func, context),
                tuple(arguments),
                span(original_node),
                context.statement_span,
                context.scope,
                context.block,
                context.next_order(),
                self._contexts.pop(id(original_node), ""),
            )
        )
