"""Branches, loops, ``try`` and ``with``: which statements run together, and which exclude each other."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Statements
from typing import Any

import libcst as cst

from warp_lint.facts.context import Context, HostVisitor
from warp_lint.facts.expressions import dotted_name, expression
from warp_lint.facts.records import BlockKind
from warp_lint.facts.values import Opaque, Sequence

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "pytest.skip", "pytest.fail"})


class BlocksVisitor(HostVisitor):
    """Records every suite as a block, and makes the context follow the walk into and out of them."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._elifs: set[int] = set()
        self._leaves: dict[int, str] = {}
        """How control leaves each suite that the walk has left."""

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        self.context.enter_suite(node)
        return super().visit_IndentedBlock(node)

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock) -> None:
        self._leave(original_node)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> bool:
        self.context.enter_suite(node)
        self.context.enter_statement(node)
        return super().visit_SimpleStatementSuite(node)

    def leave_SimpleStatementSuite(self, original_node: cst.SimpleStatementSuite) -> None:
        self._leave(original_node)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self.context.enter_statement(node)

    def visit_If(self, node: cst.If) -> None:
        self.context.enter_statement(node, node.body)
        if id(node) not in self._elifs:
            self._expect_branches(node)

    def visit_For(self, node: cst.For) -> None:
        context = self.context
        self.context.enter_statement(node, node.body)

        def enter() -> tuple[int, int]:
            block = context.new_block(
                BlockKind.LOOP,
                context.span(node.body),
                test=expression(node.iter, context),
                target=expression(node.target, context),
            )
            return context.scope, block

        context.expect_suite(node.body, enter)
        self._expect_else(node.orelse, BlockKind.LOOP_ELSE)

    def visit_While(self, node: cst.While) -> None:
        context = self.context
        self.context.enter_statement(node, node.body)

        def enter() -> tuple[int, int]:
            block = context.new_block(
                BlockKind.LOOP, context.span(node.body), test=expression(node.test, context)
            )
            return context.scope, block

        context.expect_suite(node.body, enter)
        self._expect_else(node.orelse, BlockKind.LOOP_ELSE)

    def visit_With(self, node: cst.With) -> None:
        context = self.context
        self.context.enter_statement(node, node.body)

        def enter() -> tuple[int, int]:
            entered = tuple(expression(item.item, context) for item in node.items)
            targets = tuple(
                expression(item.asname.name, context) if item.asname is not None else Opaque()
                for item in node.items
            )
            block = context.new_block(
                BlockKind.WITH,
                context.span(node.body),
                test=Sequence("tuple", entered),
                target=Sequence("tuple", targets),
            )
            return context.scope, block

        context.expect_suite(node.body, enter)

    def visit_Try(self, node: cst.Try) -> None:
        self._expect_try(node)

    def visit_TryStar(self, node: cst.TryStar) -> None:
        self._expect_try(node)

    def visit_Match(self, node: cst.Match) -> None:
        context = self.context
        context.enter_statement(node.subject)
        group = context.new_group()
        for branch, case in enumerate(node.cases):

            def enter(case: cst.MatchCase = case, branch: int = branch) -> tuple[int, int]:
                block = context.new_block(
                    BlockKind.BRANCH,
                    context.span(case.body),
                    group=group,
                    branch=branch,
                    test=expression(node.subject, context),
                )
                return context.scope, block

            context.expect_suite(case.body, enter)

    def _expect_branches(self, node: cst.If) -> None:
        """Announce all the branches of an ``if`` chain at once, so that they share a group."""
        context = self.context
        group = context.new_group()
        branch = 0
        rest: cst.If | cst.Else | None = node
        while rest is not None:
            test = rest.test if type(rest) is cst.If else None

            def enter(
                suite: cst.BaseSuite = rest.body, branch: int = branch, test: cst.BaseExpression | None = test
            ) -> tuple[int, int]:
                block = context.new_block(
                    BlockKind.BRANCH,
                    context.span(suite),
                    group=group,
                    branch=branch,
                    test=expression(test, context) if test is not None else None,
                )
                return context.scope, block

            context.expect_suite(rest.body, enter)
            rest = rest.orelse if type(rest) is cst.If else None
            if type(rest) is cst.If:
                # An elif is an If of its own in the tree: it must not open a group again.
                self._elifs.add(id(rest))
            branch += 1

    def _expect_try(self, node: cst.Try | cst.TryStar) -> None:
        context = self.context
        group = context.new_group()
        self._expect(node.body, BlockKind.TRY, group, 0)
        handlers: Statements[cst.ExceptHandler | cst.ExceptStarHandler] = node.handlers
        for branch, handler in enumerate(handlers, start=1):

            def enter(
                handler: cst.ExceptHandler | cst.ExceptStarHandler = handler, branch: int = branch
            ) -> tuple[int, int]:
                block = context.new_block(
                    BlockKind.EXCEPT,
                    context.span(handler.body),
                    group=group,
                    branch=branch,
                    test=expression(handler.type, context) if handler.type is not None else None,
                )
                return context.scope, block

            context.expect_suite(handler.body, enter)
        if node.orelse is not None:
            self._expect(node.orelse.body, BlockKind.TRY_ELSE, group, len(node.handlers) + 1)
        if node.finalbody is not None:
            self._expect(node.finalbody.body, BlockKind.FINALLY, context.new_group(), 0)

    def _expect_else(self, node: cst.Else | None, kind: BlockKind) -> None:
        if node is not None:
            self._expect(node.body, kind, self.context.new_group(), 0)

    def _expect(self, suite: cst.BaseSuite, kind: BlockKind, group: int, branch: int) -> None:
        context = self.context

        def enter() -> tuple[int, int]:
            block = context.new_block(kind, context.span(suite), group=group, branch=branch)
            return context.scope, block

        context.expect_suite(suite, enter)

    def _leave(self, suite: cst.IndentedBlock | cst.SimpleStatementSuite) -> None:
        if id(suite) not in self.context.device_suites:
            how = self._leaves[id(suite)] = self._way_out(suite.body)
            self.context.facts.blocks[self.context.block].leaves = how
        self.context.pop()

    def _way_out(self, statements: Statements[cst.BaseStatement] | Statements[cst.BaseSmallStatement]) -> str:
        """How control leaves before the end of statements whose own suites have been left: ``return``,
        ``raise``, ``continue``, ``break`` or ``exit``; empty when the end may be reached."""
        for statement in reversed(statements):
            way_out = _WAYS_OUT.get(type(statement))
            how = way_out(self, statement) if way_out is not None else ""
            if how:
                return how
        return ""

    def _out_of_line(self, node: cst.SimpleStatementLine) -> str:
        return self._way_out(node.body)

    def _out_of_expression(self, node: cst.Expr) -> str:
        value = node.value
        return "exit" if type(value) is cst.Call and dotted_name(value.func) in _EXITS else ""

    def _out_of_if(self, node: cst.If) -> str:
        ways = []
        rest: cst.If | cst.Else | None = node
        while type(rest) is cst.If:
            ways.append(self._leaves[id(rest.body)])
            rest = rest.orelse
        if rest is None:
            return ""
        ways.append(self._leaves[id(rest.body)])
        return ways[0] if all(ways) else ""

    def _out_of_with(self, node: cst.With) -> str:
        return self._leaves[id(node.body)]

    def _out_of_try(self, node: cst.Try) -> str:
        finally_leaves = self._leaves[id(node.finalbody.body)] if node.finalbody is not None else ""
        if finally_leaves or node.orelse is not None:
            return finally_leaves
        suites = [node.body, *(handler.body for handler in node.handlers)]
        ways = [self._leaves[id(suite)] for suite in suites]
        return ways[0] if all(ways) else ""


_WAYS_OUT: dict[type[cst.CSTNode], Callable[[BlocksVisitor, Any], str]] = {
    cst.SimpleStatementLine: BlocksVisitor._out_of_line,
    cst.Return: lambda _, __: "return",
    cst.Raise: lambda _, __: "raise",
    cst.Continue: lambda _, __: "continue",
    cst.Break: lambda _, __: "break",
    cst.Expr: BlocksVisitor._out_of_expression,
    cst.If: BlocksVisitor._out_of_if,
    cst.With: BlocksVisitor._out_of_with,
    cst.Try: BlocksVisitor._out_of_try,
}
