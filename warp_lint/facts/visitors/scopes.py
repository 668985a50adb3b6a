"""Functions, classes, lambdas and comprehensions: the scopes names live in."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from warp_lint.facts.context import HostVisitor
from warp_lint.facts.expressions import expression
from warp_lint.facts.records import BlockKind, Decorator, Parameter, ParameterKind, ScopeKind, Span


class ScopesVisitor(HostVisitor):
    """Records every scope, and makes the context follow the walk into and out of them."""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        context = self.context
        start = self._start(node, node.decorators)
        scope = context.new_scope(
            ScopeKind.FUNCTION,
            node.name.value,
            Span(start, context.span(node).end),
            context.span(node.name),
        )
        context.scope_indices[id(node)] = scope
        fact = context.facts.scopes[scope]
        fact.is_async = node.asynchronous is not None
        fact.docstring = _has_docstring(node.body)
        fact.header_span = Span(start, context.span(node.body).start)

        def enter() -> tuple[int, int]:
            # Decorators and defaults have been walked by now: their calls can be referred to.
            fact.decorators = self._decorators(node.decorators)
            fact.parameters = tuple(self._parameters(node.params))
            fact.order = context.next_order()
            return scope, fact.body_block

        context.expect_suite(node.body, enter)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        context = self.context
        start = self._start(node, node.decorators)
        scope = context.new_scope(
            ScopeKind.CLASS,
            node.name.value,
            Span(start, context.span(node).end),
            context.span(node.name),
        )
        context.scope_indices[id(node)] = scope
        fact = context.facts.scopes[scope]
        fact.header_span = Span(start, context.span(node.body).start)

        def enter() -> tuple[int, int]:
            fact.decorators = self._decorators(node.decorators)
            fact.bases = tuple(expression(base.value, context) for base in node.bases if not base.star)
            fact.order = context.next_order()
            return scope, fact.body_block

        context.expect_suite(node.body, enter)

    def visit_Lambda(self, node: cst.Lambda) -> None:
        context = self.context
        span = context.span(node)
        scope = context.new_scope(ScopeKind.LAMBDA, "<lambda>", span, span)
        context.scope_indices[id(node)] = scope
        context.push(scope, context.facts.scopes[scope].body_block)

    def leave_Lambda(self, original_node: cst.Lambda) -> None:
        scope = self.context.scope_indices[id(original_node)]
        self.context.facts.scopes[scope].parameters = tuple(self._parameters(original_node.params))
        self.context.pop()

    def visit_ListComp(self, node: cst.ListComp) -> None:
        self._enter_comprehension(node)

    def visit_SetComp(self, node: cst.SetComp) -> None:
        self._enter_comprehension(node)

    def visit_DictComp(self, node: cst.DictComp) -> None:
        self._enter_comprehension(node)

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> None:
        self._enter_comprehension(node)

    def leave_ListComp(self, original_node: cst.ListComp) -> None:  # noqa: ARG002 (LibCST's name)
        self.context.pop()

    def leave_SetComp(self, original_node: cst.SetComp) -> None:  # noqa: ARG002
        self.context.pop()

    def leave_DictComp(self, original_node: cst.DictComp) -> None:  # noqa: ARG002
        self.context.pop()

    def leave_GeneratorExp(self, original_node: cst.GeneratorExp) -> None:  # noqa: ARG002
        self.context.pop()

    def visit_Global(self, node: cst.Global) -> None:
        scope = self.context.facts.scopes[self.context.scope]
        scope.global_names += tuple(item.name.value for item in node.names)

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:
        scope = self.context.facts.scopes[self.context.scope]
        scope.nonlocal_names += tuple(item.name.value for item in node.names)

    def _enter_comprehension(self, node: cst.BaseComp) -> None:
        context = self.context
        span = context.span(node)
        scope = context.new_scope(ScopeKind.COMPREHENSION, "<comprehension>", span, span)
        context.scope_indices[id(node)] = scope
        body_block = context.facts.scopes[scope].body_block
        context.facts.blocks[body_block].kind = BlockKind.LOOP
        context.push(scope, body_block)

    def _start(self, node: cst.CSTNode, decorators: object) -> int:
        assert isinstance(decorators, (tuple, list))
        return self.context.span(decorators[0] if decorators else node).start

    def _decorators(self, decorators: object) -> tuple[Decorator, ...]:
        assert isinstance(decorators, (tuple, list))
        return tuple(
            Decorator(expression(item.decorator, self.context), self.context.span(item))
            for item in decorators
        )

    def _parameters(self, parameters: cst.Parameters) -> Iterator[Parameter]:
        kinds = (
            (ParameterKind.POSITIONAL_ONLY, parameters.posonly_params),
            (ParameterKind.NORMAL, parameters.params),
            (ParameterKind.VAR_POSITIONAL, _star(parameters.star_arg)),
            (ParameterKind.KEYWORD_ONLY, parameters.kwonly_params),
            (ParameterKind.VAR_KEYWORD, _star(parameters.star_kwarg)),
        )
        for kind, nodes in kinds:
            for node in nodes:
                annotation = node.annotation
                yield Parameter(
                    name=node.name.value,
                    kind=kind,
                    default=expression(node.default, self.context) if node.default is not None else None,
                    annotation=(
                        expression(annotation.annotation, self.context) if annotation is not None else None
                    ),
                )


def _has_docstring(body: cst.BaseSuite) -> bool:
    statement = body.body[0]
    if type(statement) is cst.SimpleStatementLine:
        statement = statement.body[0]
    value = statement.value if type(statement) is cst.Expr else None
    if type(value) is cst.SimpleString:
        return "b" not in value.prefix
    return type(value) is cst.ConcatenatedString and isinstance(value.evaluated_value, str)


def _star(node: object) -> tuple[cst.Param, ...]:
    return (node,) if type(node) is cst.Param else ()
