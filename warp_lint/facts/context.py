"""What the visitors of one file share: the facts so far, and where in the program the walk stands."""

from __future__ import annotations

from collections.abc import Callable, Container

import libcst as cst

from warp_lint.facts.records import BlockFact, BlockKind, FileFacts, ScopeFact, ScopeKind, Span
from warp_lint.facts.values import Attribute, Expression

Suite = cst.IndentedBlock | cst.SimpleStatementSuite


class Context:
    """The state of one extraction.

    A *suite* is the indented part of a compound statement. Its statement announces it with `expect_suite`
    before the walk gets there; `enter_suite` then switches scope and block, and `leave_suite` goes back.
    That keeps decorators, defaults and conditions in the scope where Python evaluates them.
    """

    def __init__(
        self, facts: FileFacts, span: Callable[[cst.CSTNode], Span], quiet: Container[int] = frozenset()
    ) -> None:
        self.facts = facts
        self.span = span
        """Gives the code points of the text that a node takes."""
        self.quiet = quiet
        """The ids of nodes below which there is nothing that visitors are interested in."""
        # LibCST nodes hash slowly: what is known of a node is found by its id.
        self.call_indices: dict[int, int] = {}
        self.scope_indices: dict[int, int] = {}
        self.names: dict[str, Expression] = {}
        self.attributes: dict[tuple[int, str], Attribute] = {}
        """The facts for names, and for their attributes by the ids of these facts: one for each that is read
        anywhere, since there are hundreds of them in a file, over and over."""
        self.attribute_names: set[str] = set()
        self._statement_span = Span(0, 0)
        self._statement: tuple[cst.CSTNode, cst.CSTNode | None] | None = None
        self.device_suites: set[int] = set()
        self._order = 0
        self._groups = 0
        self._expected: dict[int, Callable[[], tuple[int, int]]] = {}
        self._stack: list[tuple[int, int]] = []
        self.scope = self.new_scope(ScopeKind.MODULE, "<module>", Span(0, facts.length), Span(0, 0))
        self.block = self.facts.scopes[0].body_block

    def enter_statement(self, node: cst.CSTNode, body: cst.CSTNode | None = None) -> None:
        """Say what calls belong to from here on: a statement, or the part of it before its body."""
        self._statement = (node, body)

    @property
    def statement_span(self) -> Span:
        """The place of what was entered last; many statements hold no call that asks."""
        if self._statement is not None:
            node, body = self._statement
            span = self.span(node)
            self._statement_span = span if body is None else Span(span.start, self.span(body).start)
            self._statement = None
        return self._statement_span

    def next_order(self) -> int:
        """The place of the next fact in the file's evaluation order."""
        self._order += 1
        return self._order

    def new_group(self) -> int:
        self._groups += 1
        return self._groups

    def new_scope(self, kind: ScopeKind, name: str, span: Span, name_span: Span) -> int:
        """Add a scope inside the present one, with the block of its body; returns its index."""
        scopes = self.facts.scopes
        index = len(scopes)
        parent = self.scope if scopes else -1
        qualified_name = name
        if parent > 0:
            outer = scopes[parent]
            infix = ".<locals>." if outer.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA) else "."
            qualified_name = f"{outer.qualified_name}{infix}{name}"
        body_block = self.new_block(BlockKind.BODY, span, scope=index, parent=-1)
        scopes.append(
            ScopeFact(
                kind=kind,
                name=name,
                qualified_name=qualified_name,
                parent=parent,
                span=span,
                header_span=name_span,
                name_span=name_span,
                block=self.block if parent >= 0 else -1,
                order=self.next_order(),
                body_block=body_block,
            )
        )
        return index

    def new_block(
        self,
        kind: BlockKind,
        span: Span,
        *,
        scope: int | None = None,
        parent: int | None = None,
        group: int | None = None,
        branch: int = 0,
        test: Expression | None = None,
        target: Expression | None = None,
    ) -> int:
        """Add a block inside the present one; returns its index."""
        self.facts.blocks.append(
            BlockFact(
                kind=kind,
                scope=self.scope if scope is None else scope,
                parent=self.block if parent is None else parent,
                group=self.new_group() if group is None else group,
                branch=branch,
                span=span,
                test=test,
                target=target,
            )
        )
        return len(self.facts.blocks) - 1

    def expect_suite(self, suite: cst.BaseSuite, enter: Callable[[], tuple[int, int]]) -> None:
        """Announce a suite; ``enter`` is called on arrival and returns its scope and block."""
        self._expected[id(suite)] = enter

    def enter_suite(self, suite: cst.BaseSuite) -> None:
        enter = self._expected.pop(id(suite), None)
        self.push(*(enter() if enter is not None else (self.scope, self.block)))

    def push(self, scope: int, block: int) -> None:
        self._stack.append((self.scope, self.block))
        self.scope, self.block = scope, block

    def pop(self) -> None:
        self.scope, self.block = self._stack.pop()


class HostVisitor(cst.CSTVisitor):
    """A visitor of host code: it never enters the bodies of kernels and other device functions."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        return id(node) not in self.context.device_suites

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> bool:
        return id(node) not in self.context.device_suites
