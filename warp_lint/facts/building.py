"""A LibCST tree without its parser: built from the tree that `ast` gives, for a fifth of the time.

What visitors look at, the classes of nodes, their children, operators and stars, `ast` knows as well. What
takes LibCST its time, every blank and comment, they never ask for.

The law that keeps this honest: the facts of a built tree are those of the parsed one. Where that cannot be
promised `build` gives None, and the file goes to LibCST's parser: syntax that the running Python does not
know, type parameters, form feeds.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import libcst as cst

from warp_lint.facts import nodes
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.places import (
    BoundName,
    Decoration,
    DefinedName,
    Parsed,
    Places,
    SpanOf,
    StarredName,
    Statements,
)
from warp_lint.facts.positions import measure
from warp_lint.source import Source


def build(source: Source) -> tuple[cst.Module, SpanOf, set[int]] | None:
    """The tree of a file and the places of its nodes; None where only LibCST's parser can tell.

    Names are in their normal form, in which Python compares them, also where the text spells them otherwise.
    """
    if "\f" in source.text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text)
        places = Places(source)
        builder = _Builder(places)
        return builder.module(tree), places.span, builder.quiet
    except (SyntaxError, ValueError, MemoryError, RecursionError, _NotBuiltError):
        return None


class _NotBuiltError(Exception):
    """Something is left to LibCST's parser."""


_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement


class _Makers(dict[type[ast.AST], Callable[[Any, Any], Any]]):
    """What makes the LibCST node for each class of `ast`."""

    def __missing__(self, kind: type[ast.AST]) -> NoReturn:
        raise _NotBuiltError(kind)


class _Builder:
    """Makes LibCST nodes of the nodes of `ast`, one method for each class."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._origins = places.origins
        self._events = 0
        self.quiet: set[int] = set()
        self._unplaced_names: dict[str, cst.Name] = {}
        self._bases: dict[str, cst.Name] = {}

    def module(self, node: ast.Module) -> cst.Module:
        return nodes.module(self._statements(node.body))

    # Statements

    def _statements(self, statements: list[ast.stmt]) -> tuple[_Statement, ...]:
        found: list[_Statement] = []
        line: list[ast.stmt] = []
        for statement in statements:
            make_compound = _COMPOUND_STATEMENTS.get(statement.__class__)
            if line and (make_compound or not self._places.is_behind_semicolon(statement, line[-1])):
                found.append(self._line(line))
                line = []
            if make_compound is not None:
                found.append(self._at(statement, make_compound(self, statement)))
            else:
                line.append(statement)
        if line:
            found.append(self._line(line))
        return tuple(found)

    def _line(self, statements: list[ast.stmt]) -> cst.SimpleStatementLine:
        made = nodes.simple_statement_line(tuple([self._small_statement(item) for item in statements]))
        first, last = statements[0], statements[-1]
        self._origins[id(made)] = first if first is last else Statements(first, last)
        return made

    def _small_statement(self, statement: ast.stmt) -> cst.BaseSmallStatement:
        events = self._events
        made: cst.BaseSmallStatement = _SMALL_STATEMENTS[statement.__class__](self, statement)
        self._origins[id(made)] = statement
        if self._events == events:
            self.quiet.add(id(made))
        return made

    def _suite(self, statements: list[ast.stmt]) -> cst.BaseSuite:
        suite: cst.BaseSuite
        first = statements[0]
        if first.__class__ in _COMPOUND_STATEMENTS or self._places.begins_line(first):
            suite = nodes.indented_block(self._statements(statements))
        else:
            suite = nodes.simple_statement_suite(tuple(map(self._small_statement, statements)))
        self._origins[id(suite)] = Statements(first, statements[-1])
        return suite

    def _optional_suite(
        self, make: Callable[..., nodes.Node], statements: list[ast.stmt]
    ) -> nodes.Node | None:
        return make(self._suite(statements)) if statements else None

    def _annotated_assignment(self, node: ast.AnnAssign) -> cst.AnnAssign:
        annotation = nodes.annotation(self._expression(node.annotation))
        return nodes.ann_assign(self._expression(node.target), annotation, self._optional(node.value))

    def _assert(self, node: ast.Assert) -> cst.Assert:
        return nodes.assertion(self._expression(node.test), self._optional(node.msg))

    def _assignment(self, node: ast.Assign) -> cst.Assign:
        targets = tuple([nodes.assign_target(self._expression(target)) for target in node.targets])
        return nodes.assign(targets, self._expression(node.value))

    def _augmented_assignment(self, node: ast.AugAssign) -> cst.AugAssign:
        operator = _ASSIGNING_OPERATORS[node.op.__class__]
        return nodes.aug_assign(self._expression(node.target), self._expression(node.value), operator)

    def _delete(self, node: ast.Delete) -> cst.Del:
        if len(node.targets) == 1:
            return nodes.del_(self._expression(node.targets[0]))
        return nodes.del_(nodes.tuple_(self._elements(node.targets)))

    def _expression_statement(self, node: ast.Expr) -> cst.Expr:
        return nodes.expr(self._expression(node.value))

    def _global(self, node: ast.Global) -> cst.Global:
        return nodes.global_(tuple(nodes.name_item(nodes.name(name)) for name in node.names))

    def _nonlocal(self, node: ast.Nonlocal) -> cst.Nonlocal:
        return nodes.nonlocal_(tuple(nodes.name_item(nodes.name(name)) for name in node.names))

    def _import(self, node: ast.Import) -> cst.Import:
        return nodes.import_(tuple(map(_alias, node.names)))

    def _import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        is_star = node.names[0].name == "*"
        names = nodes.import_star() if is_star else tuple(map(_alias, node.names))
        return nodes.import_from(_dotted(node.module) if node.module else None, names, (_DOT,) * node.level)

    def _raise(self, node: ast.Raise) -> cst.Raise:
        cause = nodes.from_(self._expression(node.cause)) if node.cause is not None else None
        return nodes.raise_(self._optional(node.exc), cause)

    def _return(self, node: ast.Return) -> cst.Return:
        return nodes.return_(self._optional(node.value))

    def _class(self, node: ast.ClassDef) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise _NotBuiltError
        decorators = self._decorators(node)
        arguments = self._arguments(node.bases, node.keywords)
        keywords = tuple(item for item in arguments if item.keyword is not None or item.star == "**")
        bases = tuple(item for item in arguments if item not in keywords)
        body = self._suite(node.body)
        return nodes.class_def(decorators, self._defined_name(node), None, bases, keywords, body)

    def _function(self, node: _Function) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise _NotBuiltError
        decorators = self._decorators(node)
        name = self._defined_name(node)
        parameters = self._parameters(node.args)
        returns = nodes.annotation(self._expression(node.returns)) if node.returns is not None else None
        body = self._suite(node.body)
        asynchronous = _ASYNC if isinstance(node, ast.AsyncFunctionDef) else None
        return nodes.function_def(decorators, name, None, parameters, returns, body, asynchronous)

    def _defined_name(self, node: _Function | ast.ClassDef) -> cst.Name:
        return self._at(DefinedName(node), nodes.name(node.name))

    def _decorators(self, node: _Function | ast.ClassDef) -> tuple[cst.Decorator, ...]:
        return tuple(
            self._at(Decoration(decorator), nodes.decorator(self._expression(decorator)))
            for decorator in node.decorator_list
        )

    def _parameters(self, node: ast.arguments) -> cst.Parameters:
        positional = [*node.posonlyargs, *node.args]
        defaults = [*[None] * (len(positional) - len(node.defaults)), *node.defaults]
        made = tuple(map(self._parameter, positional, defaults))
        count = len(node.posonlyargs)
        star = self._parameter(node.vararg, None) if node.vararg is not None else None
        keyword_only = tuple(map(self._parameter, node.kwonlyargs, node.kw_defaults))
        keywords = self._parameter(node.kwarg, None) if node.kwarg is not None else None
        return nodes.parameters(made[:count], None, made[count:], star, keyword_only, keywords)

    def _parameter(self, node: ast.arg, default: ast.expr | None) -> cst.Param:
        annotation = (
            nodes.annotation(self._expression(node.annotation)) if node.annotation is not None else None
        )
        return nodes.param(self._unplaced_name(node.arg), annotation, self._optional(default))

    def _if(self, node: ast.If) -> cst.If:
        test = self._expression(node.test)
        body = self._suite(node.body)
        orelse: cst.If | cst.Else | None
        match node.orelse:
            case [ast.If() as other] if self._places.is_elif(other):
                orelse = self._at(other, self._if(other))
            case statements:
                orelse = self._optional_suite(nodes.else_, statements)
        return nodes.if_(test, body, orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        target, iterated = self._placed(node.target), self._expression(node.iter)
        return nodes.for_(
            target, iterated, self._suite(node.body), self._optional_suite(nodes.else_, node.orelse)
        )

    def _while(self, node: ast.While) -> cst.While:
        test = self._expression(node.test)
        return nodes.while_(test, self._suite(node.body), self._optional_suite(nodes.else_, node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        return nodes.with_(tuple(map(self._with_item, node.items)), self._suite(node.body))

    def _with_item(self, node: ast.withitem) -> cst.WithItem:
        target = (
            nodes.as_name(self._expression(node.optional_vars)) if node.optional_vars is not None else None
        )
        return nodes.with_item(self._placed(node.context_expr), target)

    def _try(self, node: ast.Try) -> cst.Try:
        return nodes.try_(*self._parts_of_try(node, nodes.except_handler))

    def _try_star(self, node: ast.Try) -> cst.TryStar:
        return nodes.try_star(*self._parts_of_try(node, nodes.except_star_handler))

    def _parts_of_try(self, node: ast.Try, make_handler: Callable[..., cst.CSTNode]) -> tuple[object, ...]:
        body = self._suite(node.body)
        handlers = tuple(self._handler(make_handler, handler) for handler in node.handlers)
        orelse = self._optional_suite(nodes.else_, node.orelse)
        return body, handlers, orelse, self._optional_suite(nodes.finally_, node.finalbody)

    def _handler(self, make: Callable[..., cst.CSTNode], node: ast.ExceptHandler) -> cst.CSTNode:
        name = None
        if node.name is not None and node.type is not None:
            name = nodes.as_name(self._at(BoundName(node.type), nodes.name(node.name)))
        return make(self._optional(node.type), name, self._suite(node.body))

    # Patterns

    def _match(self, node: ast.Match) -> cst.Match:
        cases = tuple(
            nodes.match_case(self._pattern(case.pattern), self._optional(case.guard), self._suite(case.body))
            for case in node.cases
        )
        return nodes.match(self._placed(node.subject), cases)

    def _pattern(self, node: ast.pattern) -> cst.MatchPattern:
        made: cst.MatchPattern = _PATTERNS[node.__class__](self, node)
        return made

    def _as_pattern(self, node: ast.MatchAs) -> cst.MatchAs:
        if node.name is None:
            return nodes.match_as(None, None)
        if node.pattern is None:
            return nodes.match_as(None, self._at(node, nodes.name(node.name)))
        name = self._at(BoundName(node.pattern), nodes.name(node.name))
        return nodes.match_as(self._pattern(node.pattern), name)

    def _singleton_pattern(self, node: ast.MatchSingleton) -> cst.MatchSingleton:
        return nodes.match_singleton(nodes.name(repr(node.value)))

    def _value_pattern(self, node: ast.MatchValue) -> cst.MatchValue:
        return nodes.match_value(self._expression(node.value))

    def _star_pattern(self, node: ast.MatchStar) -> cst.MatchStar:
        return nodes.match_star(self._at(StarredName(node), nodes.name(node.name)) if node.name else None)

    def _class_pattern(self, node: ast.MatchClass) -> cst.MatchClass:
        keywords = tuple(
            nodes.match_keyword_element(nodes.name(name), self._pattern(pattern))
            for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
        )
        return nodes.match_class(self._expression(node.cls), self._pattern_items(node.patterns), keywords)

    def _mapping_pattern(self, node: ast.MatchMapping) -> cst.MatchMapping:
        items = tuple(
            nodes.match_mapping_element(self._expression(key), self._pattern(pattern))
            for key, pattern in zip(node.keys, node.patterns, strict=True)
        )
        return nodes.match_mapping(items, nodes.name(node.rest) if node.rest is not None else None)

    def _or_pattern(self, node: ast.MatchOr) -> cst.MatchOr:
        return nodes.match_or(
            tuple(nodes.match_or_element(self._pattern(pattern)) for pattern in node.patterns)
        )

    def _sequence_pattern(self, node: ast.MatchSequence) -> cst.MatchList:
        return nodes.match_list(self._pattern_items(node.patterns))

    def _pattern_items(self, patterns: list[ast.pattern]) -> tuple[cst.CSTNode, ...]:
        return tuple(
            self._pattern(pattern)
            if isinstance(pattern, ast.MatchStar)
            else nodes.match_sequence_element(self._pattern(pattern))
            for pattern in patterns
        )

    # Expressions

    def _expression(self, node: ast.expr) -> cst.BaseExpression:
        made: cst.BaseExpression = _EXPRESSIONS[node.__class__](self, node)
        return made

    def _optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        return self._expression(node) if node is not None else None

    def _placed(self, node: ast.expr) -> cst.BaseExpression:
        """For an expression whose place may be asked for, whatever it is."""
        made: cst.BaseExpression = _EXPRESSIONS[node.__class__](self, node)
        self._origins[id(made)] = node
        return made

    def _at(self, origin: object, made: nodes.Node) -> nodes.Node:
        """Say where a node is."""
        self._events += 1
        self._origins[id(made)] = origin
        return made

    def _attribute(self, node: ast.Attribute) -> cst.Attribute:
        name = self._unplaced_name(node.attr)
        if node.attr == "shape":
            self._events += 1  # of all attributes only this one is visited: see `_SummaryVisitor`
        value = node.value
        if value.__class__ is not ast.Name:
            return _make_attribute(_EXPRESSIONS[value.__class__](self, value), name)
        base = self._bases.get(value.id)
        if base is None:
            base = self._bases[value.id] = nodes.name(value.id)
        return _make_attribute(base, name)

    def _await(self, node: ast.Await) -> cst.Await:
        self._events += 1
        return nodes.await_(self._expression(node.value))

    def _binary_operation(self, node: ast.BinOp) -> cst.BinaryOperation:
        operator = _OPERATORS[node.op.__class__]
        return nodes.binary_operation(self._expression(node.left), self._expression(node.right), operator)

    def _boolean_operation(self, node: ast.BoolOp) -> cst.BaseExpression:
        operator = _OPERATORS[node.op.__class__]
        first, *others = map(self._expression, node.values)
        for other in others:
            first = nodes.boolean_operation(first, other, operator)
        return first

    def _call(self, node: ast.Call) -> cst.Call:
        events = self._events
        function = node.func
        called = _EXPRESSIONS[function.__class__](self, function)
        made = _make_call(called, tuple(self._arguments(node.args, node.keywords)))
        self._origins[id(made)] = node
        if self._events == events:
            self.quiet.add(id(made))
        self._events += 1
        return made

    def _arguments(self, positional: list[ast.expr], keywords: list[ast.keyword]) -> list[cst.Arg]:
        """Arguments as they stand in the text, where ``f(a=1, *b)`` is allowed."""
        arguments: list[Any] = [*positional, *keywords]
        if keywords and positional and isinstance(positional[-1], ast.Starred):
            arguments.sort(key=lambda argument: (argument.lineno, argument.col_offset))
        made = []
        for value in arguments:
            keyword, star = None, ""
            if value.__class__ is ast.keyword:
                if value.arg is not None:
                    keyword = self._unplaced_name(value.arg)
                else:
                    star = "**"
                value = value.value
            elif value.__class__ is ast.Starred:
                star = "*"
                value = value.value
            made.append(_make_arg(keyword, self._placed(value), star))
        return made

    def _unplaced_name(self, name: str) -> cst.Name:
        """For a name that is not read: nobody asks where it stands, so that one node will do."""
        made = self._unplaced_names.get(name)
        if made is None:
            made = self._unplaced_names[name] = nodes.name(name)
        return made

    def _comparison(self, node: ast.Compare) -> cst.Comparison:
        left = self._expression(node.left)
        targets = tuple(
            nodes.comparison_target(self._expression(comparator), _OPERATORS[operator.__class__])
            for operator, comparator in zip(node.ops, node.comparators, strict=True)
        )
        return nodes.comparison(left, targets)

    def _dict(self, node: ast.Dict) -> cst.Dict:
        return nodes.dict_(
            tuple(
                nodes.starred_dict_element(self._placed(value))
                if key is None
                else nodes.dict_element(self._placed(key), self._placed(value))
                for key, value in zip(node.keys, node.values, strict=True)
            )
        )

    def _dict_comprehension(self, node: ast.DictComp) -> cst.DictComp:
        key, value = self._expression(node.key), self._expression(node.value)
        return self._at(node, nodes.dict_comp(key, value, self._clauses(node.generators)))

    def _generator(self, node: ast.GeneratorExp) -> cst.GeneratorExp:
        made = nodes.generator_exp(self._expression(node.elt), self._clauses(node.generators))
        return self._at(node, made)

    def _list_comprehension(self, node: ast.ListComp) -> cst.ListComp:
        return self._at(node, nodes.list_comp(self._expression(node.elt), self._clauses(node.generators)))

    def _set_comprehension(self, node: ast.SetComp) -> cst.SetComp:
        return self._at(node, nodes.set_comp(self._expression(node.elt), self._clauses(node.generators)))

    def _clauses(self, generators: list[ast.comprehension]) -> cst.CompFor:
        first, *others = generators
        target, iterated = self._placed(first.target), self._expression(first.iter)
        conditions = tuple(nodes.comp_if(self._expression(condition)) for condition in first.ifs)
        return nodes.comp_for(target, iterated, conditions, self._clauses(others) if others else None)

    def _list(self, node: ast.List) -> cst.List:
        return nodes.list_(self._elements(node.elts))

    def _set(self, node: ast.Set) -> cst.Set:
        return nodes.set_(self._elements(node.elts))

    def _tuple(self, node: ast.Tuple) -> cst.Tuple:
        return nodes.tuple_(self._elements(node.elts))

    def _elements(self, items: list[ast.expr]) -> tuple[cst.BaseElement, ...]:
        return tuple(
            [
                nodes.starred_element(self._expression(item.value))
                if isinstance(item, ast.Starred)
                else nodes.element(self._expression(item))
                for item in items
            ]
        )

    def _name(self, node: ast.Name) -> cst.Name:
        return _make_name(node.id)

    def _constant(self, node: ast.Constant) -> cst.BaseExpression:
        return _CONSTANTS[node.value.__class__](node.value)

    def _if_expression(self, node: ast.IfExp) -> cst.IfExp:
        body, test = self._expression(node.body), self._expression(node.test)
        return nodes.if_exp(body, test, self._expression(node.orelse))

    def _lambda(self, node: ast.Lambda) -> cst.Lambda:
        return self._at(node, nodes.lambda_(self._parameters(node.args), self._placed(node.body)))

    def _named_expression(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return self._at(node, nodes.named_expr(self._expression(node.target), self._expression(node.value)))

    def _subscript(self, node: ast.Subscript) -> cst.Subscript:
        base = self._expression(node.value)
        index = node.slice
        if isinstance(index, ast.Tuple):
            items = tuple(nodes.subscript_element(self._index(item), _COMMA) for item in index.elts)
        else:
            items = (nodes.subscript_element(self._index(index), None),)
        return nodes.subscript(base, items)

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return self._slice(node)
        if isinstance(node, ast.Starred):
            return nodes.index(self._expression(node.value), "*")
        return nodes.index(self._expression(node), None)

    def _slice(self, node: ast.Slice) -> cst.Slice:
        lower, upper = self._optional(node.lower), self._optional(node.upper)
        return nodes.slice_(lower, upper, self._optional(node.step))

    def _unary_operation(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        return nodes.unary_operation(self._expression(node.operand), _OPERATORS[node.op.__class__])

    def _yield(self, node: ast.Yield) -> cst.Yield:
        return self._at(node, nodes.yield_(self._optional(node.value)))

    def _yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        return self._at(node, nodes.yield_(nodes.from_(self._expression(node.value))))

    # Formatted strings

    def _formatted_string(self, node: ast.JoinedStr) -> cst.BaseExpression:
        """One string for a row of literals. It is parsed where `ast` does not tell ``f"{a=}"`` from
        ``f"a={a}"``, and where it does not tell the places of what is in a string."""
        text = self._places.text_of(node)
        if _SAYS_ITSELF.search(text) or not (_KNOWS_PLACES or "\n" not in text or _asks_no_places(node)):
            return self._parsed(text, self._places.start(node))
        return nodes.formatted_string(self._parts(node), 'f"')

    def _parts(self, node: ast.expr) -> tuple[cst.BaseFormattedStringContent, ...]:
        parts: list[cst.BaseFormattedStringContent] = []
        assert isinstance(node, ast.JoinedStr)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                specification = self._parts(part.format_spec) if part.format_spec is not None else None
                parts.append(nodes.formatted_string_expression(self._expression(part.value), specification))
            elif isinstance(part, ast.Constant):
                parts.append(nodes.formatted_string_text(_ESCAPED.sub(r"\g<0>\g<0>", str(part.value))))
        return tuple(parts)

    def _parsed(self, text: str, start: int) -> cst.BaseExpression:
        """An expression as LibCST's parser sees it."""
        self._events += 1
        text = f"({text})"
        try:
            module = cst.parse_module(text)
            positions = measure(module, text)
        except (cst.ParserSyntaxError, ParseFailure) as error:
            raise _NotBuiltError from error
        statement = cst.ensure_type(module.body[0], cst.SimpleStatementLine).body[0]
        expression = cst.ensure_type(statement, cst.Expr).value
        pending: list[cst.CSTNode] = [expression]
        while pending:
            node = pending.pop()
            self._origins[id(node)] = Parsed(node, positions, start - 1)
            pending += node.children
        return expression


def _integer(value: int) -> cst.Integer:
    return nodes.integer(repr(value) if value < _LARGE else hex(value))


def _float(value: float) -> cst.Float:
    return nodes.float_(repr(value) if value < math.inf else "1e999")


_CONSTANTS: dict[type, Callable[[Any], cst.BaseExpression]] = {
    bool: lambda value: nodes.name(repr(value)),
    bytes: lambda value: nodes.simple_string(repr(value)),
    complex: lambda value: nodes.imaginary(repr(value)),
    float: _float,
    int: _integer,
    str: lambda value: nodes.simple_string(repr(value)),
    type(None): lambda value: nodes.name(repr(value)),
    type(Ellipsis): lambda _: nodes.ellipsis(),
}

# Looked up a thousand times in a file.
_make_arg = nodes.arg
_make_attribute = nodes.attribute
_make_call = nodes.call
_make_name = nodes.name


def _alias(node: ast.alias) -> cst.ImportAlias:
    target = nodes.as_name(nodes.name(node.asname)) if node.asname is not None else None
    return nodes.import_alias(_dotted(node.name), target)


def _dotted(name: str) -> cst.Name | cst.Attribute:
    first, *others = name.split(".")
    made: cst.Name | cst.Attribute = nodes.name(first)
    for other in others:
        made = nodes.attribute(made, nodes.name(other))
    return made


def _asks_no_places(node: ast.JoinedStr) -> bool:
    """Whether what is in a string is so simple that nobody asks where it stands."""
    return all(isinstance(part, _WITHOUT_PLACES) for part in ast.walk(node))


_LARGE = 1 << 64
_KNOWS_PLACES = sys.version_info >= (3, 12)
"""Before, `ast` gives wrong places in strings of several lines."""
_SAYS_ITSELF = re.compile(r"=\s*[!:}]")
_ESCAPED = re.compile(r"[\\{}]")
_WITHOUT_PLACES = (ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.Name, ast.Attribute, ast.expr_context)

_COMMA = cst.Comma()
_DOT = cst.Dot()
_ASYNC = cst.Asynchronous()
_OPERATORS: dict[type[ast.AST], cst.CSTNode] = {
    ast.Add: cst.Add(),
    ast.Sub: cst.Subtract(),
    ast.Mult: cst.Multiply(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.Mod: cst.Modulo(),
    ast.Pow: cst.Power(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
    ast.And: cst.And(),
    ast.Or: cst.Or(),
    ast.Not: cst.Not(),
    ast.USub: cst.Minus(),
    ast.UAdd: cst.Plus(),
    ast.Invert: cst.BitInvert(),
    ast.Eq: cst.Equal(),
    ast.NotEq: cst.NotEqual(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.In: cst.In(),
    ast.NotIn: cst.NotIn(),
}
_ASSIGNING_OPERATORS: dict[type[ast.operator], cst.BaseAugOp] = {
    ast.Add: cst.AddAssign(),
    ast.Sub: cst.SubtractAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
}

_EXPRESSIONS = _Makers(
    {
        ast.Attribute: _Builder._attribute,
        ast.Await: _Builder._await,
        ast.BinOp: _Builder._binary_operation,
        ast.BoolOp: _Builder._boolean_operation,
        ast.Call: _Builder._call,
        ast.Compare: _Builder._comparison,
        ast.Constant: _Builder._constant,
        ast.Dict: _Builder._dict,
        ast.DictComp: _Builder._dict_comprehension,
        ast.GeneratorExp: _Builder._generator,
        ast.IfExp: _Builder._if_expression,
        ast.JoinedStr: _Builder._formatted_string,
        ast.Lambda: _Builder._lambda,
        ast.List: _Builder._list,
        ast.ListComp: _Builder._list_comprehension,
        ast.Name: _Builder._name,
        ast.NamedExpr: _Builder._named_expression,
        ast.Set: _Builder._set,
        ast.SetComp: _Builder._set_comprehension,
        ast.Subscript: _Builder._subscript,
        ast.Tuple: _Builder._tuple,
        ast.UnaryOp: _Builder._unary_operation,
        ast.Yield: _Builder._yield,
        ast.YieldFrom: _Builder._yield_from,
    }
)
_SMALL_STATEMENTS = _Makers(
    {
        ast.AnnAssign: _Builder._annotated_assignment,
        ast.Assert: _Builder._assert,
        ast.Assign: _Builder._assignment,
        ast.AugAssign: _Builder._augmented_assignment,
        ast.Break: lambda _, __: nodes.break_(),
        ast.Continue: lambda _, __: nodes.continue_(),
        ast.Delete: _Builder._delete,
        ast.Expr: _Builder._expression_statement,
        ast.Global: _Builder._global,
        ast.Import: _Builder._import,
        ast.ImportFrom: _Builder._import_from,
        ast.Nonlocal: _Builder._nonlocal,
        ast.Pass: lambda _, __: nodes.pass_(),
        ast.Raise: _Builder._raise,
        ast.Return: _Builder._return,
    }
)
_COMPOUND_STATEMENTS: dict[type[ast.AST], Callable[[_Builder, Any], cst.BaseCompoundStatement]] = {
    ast.AsyncFor: _Builder._for,
    ast.AsyncFunctionDef: _Builder._function,
    ast.AsyncWith: _Builder._with,
    ast.ClassDef: _Builder._class,
    ast.For: _Builder._for,
    ast.FunctionDef: _Builder._function,
    ast.If: _Builder._if,
    ast.Match: _Builder._match,
    ast.Try: _Builder._try,
    ast.While: _Builder._while,
    ast.With: _Builder._with,
}
if sys.version_info >= (3, 11):
    _COMPOUND_STATEMENTS[ast.TryStar] = _Builder._try_star
_PATTERNS = _Makers(
    {
        ast.MatchAs: _Builder._as_pattern,
        ast.MatchClass: _Builder._class_pattern,
        ast.MatchMapping: _Builder._mapping_pattern,
        ast.MatchOr: _Builder._or_pattern,
        ast.MatchSequence: _Builder._sequence_pattern,
        ast.MatchSingleton: _Builder._singleton_pattern,
        ast.MatchStar: _Builder._star_pattern,
        ast.MatchValue: _Builder._value_pattern,
    }
)
