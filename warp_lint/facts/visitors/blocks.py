"""Branches, loops, ``try`` and ``with``: which statements run together, and which exclude each other."""

from __future__ import annotations

from collections.abc import Sequence as Statements

import libcst as cst

from warp_lint.facts.context import Context, HostVisitor
from warp_lint.facts.expressions import dotted_name, expression
from warp_lint.facts.records import BlockKind, Span
from warp_lint.facts.values import Opaque, Sequence

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "pytest.skip", "pytest.fail"})


class BlocksVisitor(HostVisitor):
    """Records every suite as a block, and makes the context follow the walk into and out of them."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._elifs: set[cst.If] = set()

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        self.context.enter_suite(node)
        return super().visit_IndentedBlock(node)

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock) -> None:
        self._leave(original_node)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> bool:
        self.context.enter_suite(node)
        self.context.statement_span = self.context.span(node)
        return super().visit_SimpleStatementSuite(node)

    def leave_SimpleStatementSuite(self, original_node: cst.SimpleStatementSuite) -> None:
        self._leave(original_node)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self.context.statement_span = self.context.span(node)

    def visit_If(self, node: cst.If) -> None:
        self._header(node, node.body)
        if node not in self._elifs:
            self._expect_branches(node)

    def visit_For(self, node: cst.For) -> None:
        context = self.context
        self._header(node, node.body)

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
        self._header(node, node.body)

        def enter() -> tuple[int, int]:
            block = context.new_block(
                BlockKind.LOOP, context.span(node.body), test=expression(node.test, context)
            )
            return context.scope, block

        context.expect_suite(node.body, enter)
        self._expect_else(node.orelse, BlockKind.LOOP_ELSE)

    def visit_With(self, node: cst.With) -> None:
        context = self.context
        self._header(node, node.body)

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
        self.context.statement_span = context.span(node.subject)
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
            test = rest.test if isinstance(rest, cst.If) else None

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
            rest = rest.orelse if isinstance(rest, cst.If) else None
            if isinstance(rest, cst.If):
                # An elif is an If of its own in the tree: it must not open a group again.
                self._elifs.add(rest)
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

    def _header(self, node: cst.CSTNode, body: cst.BaseSuite) -> None:
        self.context.statement_span = Span(self.context.span(node).start, self.context.span(body).start)

    def _leave(self, suite: cst.IndentedBlock | cst.SimpleStatementSuite) -> None:
        if suite not in self.context.device_suites:
            self.context.facts.blocks[self.context.block].leaves = leaves(suite.body, self.context)
        self.context.pop()


def leaves(
    statements: Statements[cst.BaseStatement] | Statements[cst.BaseSmallStatement], context: Context
) -> str:
    """How control leaves before the end of the statements: ``return``, ``raise``, ``continue``, ``break`` or
    ``exit``; empty when the end may be reached."""
    for statement in reversed(statements):
        match statement:
            case cst.SimpleStatementLine():
                how = leaves(statement.body, context)
            case cst.Return():
                how = "return"
            case cst.Raise():
                how = "raise"
            case cst.Continue():
                how = "continue"
            case cst.Break():
                how = "break"
            case cst.Expr(value=cst.Call(func=function)) if dotted_name(function) in _EXITS:
                how = "exit"
            case cst.If():
                how = _leaves_if(statement, context)
            case cst.With():
                how = leaves(statement.body.body, context)
            case cst.Try(finalbody=cst.Finally(body=body)) if leaves(body.body, context):
                how = leaves(body.body, context)
            case cst.Try(orelse=None):
                ways = [leaves(statement.body.body, context)]
                ways += [leaves(handler.body.body, context) for handler in statement.handlers]
                how = ways[0] if all(ways) else ""
            case _:
                how = ""
        if how:
            return how
    return ""


def _leaves_if(statement: cst.If, context: Context) -> str:
    ways: list[str] = []
    rest: cst.If | cst.Else | None = statement
    while rest is not None:
        ways.append(leaves(rest.body.body, context))
        if isinstance(rest, cst.Else):
            return ways[0] if all(ways) else ""
        rest = rest.orelse
    return ""
