"""A LibCST tree without its parser: built from the tree that `ast` gives, for a fifth of the time.

What visitors look at, the classes of nodes, their children, operators and stars, `ast` knows as well. What
takes LibCST its time, every blank and comment, they never ask for.

The law that keeps this honest: the facts of a built tree are those of the parsed one. Where that cannot be
promised `build` gives None, and the file goes to LibCST's parser: syntax that the running Python does not
know, ``match``, type parameters, form feeds, names that are not in their normal form.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import libcst as cst

from warp_lint.facts import nodes
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.places import (
    Argument,
    CaughtName,
    Decoration,
    DefinedName,
    Deleted,
    Parsed,
    Places,
    SpanOf,
    Statements,
)
from warp_lint.facts.positions import measure
from warp_lint.source import Source


def build(source: Source) -> tuple[cst.Module, SpanOf] | None:
    """The tree of a file and the places of its nodes; None where only LibCST's parser can tell."""
    text = source.text
    if "\f" in text or not _has_plain_names(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        places = Places(source)
        return _Builder(places).module(tree), places.span
    except (SyntaxError, ValueError, MemoryError, RecursionError, _NotBuiltError):
        return None


class _NotBuiltError(Exception):
    """Something that is left to LibCST's parser."""


def _has_plain_names(text: str) -> bool:
    """Whether names look in `ast`, which gives them in their normal form, as they do in the text."""
    if text.isascii():
        return True
    return all(unicodedata.is_normalized("NFKC", word) for word in _WIDE_WORD.findall(text))


_WIDE_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")

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


class _Builder:
    """Makes LibCST nodes of the nodes of `ast`, one method for each class."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._origins = places.origins
        self._attribute_names: dict[str, cst.Name] = {}
        self._expressions: dict[type[ast.AST], Callable[[Any], cst.BaseExpression]] = {
            ast.Attribute: self._attribute,
            ast.Await: self._await,
            ast.BinOp: self._binary_operation,
            ast.BoolOp: self._boolean_operation,
            ast.Call: self._call,
            ast.Compare: self._comparison,
            ast.Constant: self._constant,
            ast.Dict: self._dict,
            ast.DictComp: self._dict_comprehension,
            ast.GeneratorExp: partial(self._comprehension, nodes.generator_exp),
            ast.IfExp: self._if_expression,
            ast.JoinedStr: self._formatted_string,
            ast.Lambda: self._lambda,
            ast.List: partial(self._display, nodes.list_),
            ast.ListComp: partial(self._comprehension, nodes.list_comp),
            ast.Name: self._name,
            ast.NamedExpr: self._named_expression,
            ast.Set: partial(self._display, nodes.set_),
            ast.SetComp: partial(self._comprehension, nodes.set_comp),
            ast.Subscript: self._subscript,
            ast.Tuple: partial(self._display, nodes.tuple_),
            ast.UnaryOp: self._unary_operation,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
        }
        self._small_statements: dict[type[ast.AST], Callable[[Any], cst.BaseSmallStatement]] = {
            ast.AnnAssign: self._annotated_assignment,
            ast.Assert: self._assert,
            ast.Assign: self._assignment,
            ast.AugAssign: self._augmented_assignment,
            ast.Break: lambda _: nodes.break_(),
            ast.Continue: lambda _: nodes.continue_(),
            ast.Delete: self._delete,
            ast.Expr: self._expression_statement,
            ast.Global: self._global,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Nonlocal: self._nonlocal,
            ast.Pass: lambda _: nodes.pass_(),
            ast.Raise: self._raise,
            ast.Return: self._return,
        }
        self._compound_statements: dict[type[ast.AST], Callable[[Any], cst.BaseCompoundStatement]] = {
            ast.AsyncFor: self._for,
            ast.AsyncFunctionDef: self._function,
            ast.AsyncWith: self._with,
            ast.ClassDef: self._class,
            ast.For: self._for,
            ast.FunctionDef: self._function,
            ast.If: self._if,
            ast.Try: partial(self._try, nodes.try_, nodes.except_handler),
            ast.While: self._while,
            ast.With: self._with,
        }
        if sys.version_info >= (3, 11):
            self._compound_statements[ast.TryStar] = partial(
                self._try, nodes.try_star, nodes.except_star_handler
            )

    def module(self, node: ast.Module) -> cst.Module:
        return nodes.module(self._statements(node.body))

    # Statements

    def _statements(
        self, statements: list[ast.stmt]
    ) -> tuple[cst.SimpleStatementLine | cst.BaseCompoundStatement, ...]:
        found: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
        line: list[ast.stmt] = []
        for statement in statements:
            make_compound = self._compound_statements.get(statement.__class__)
            if line and (make_compound or not self._places.is_behind_semicolon(statement, line[-1])):
                found.append(self._line(line))
                line = []
            if make_compound is not None:
                found.append(make_compound(statement))
            else:
                line.append(statement)
        if line:
            found.append(self._line(line))
        return tuple(found)

    def _line(self, statements: list[ast.stmt]) -> cst.SimpleStatementLine:
        made = nodes.simple_statement_line(tuple(map(self._small_statement, statements)))
        self._origins[id(made)] = Statements(statements[0], statements[-1])
        return made

    def _small_statement(self, statement: ast.stmt) -> cst.BaseSmallStatement:
        make = self._small_statements.get(statement.__class__)
        if make is None:
            raise _NotBuiltError
        small = make(statement)
        self._origins[id(small)] = statement
        return small

    def _suite(self, statements: list[ast.stmt]) -> cst.BaseSuite:
        suite: cst.BaseSuite
        if statements[0].__class__ in self._compound_statements or self._places.begins_line(statements[0]):
            suite = nodes.indented_block(self._statements(statements))
        else:
            suite = nodes.simple_statement_suite(tuple(map(self._small_statement, statements)))
        self._origins[id(suite)] = Statements(statements[0], statements[-1])
        return suite

    def _optional_suite(
        self, make: Callable[..., nodes.Node], statements: list[ast.stmt]
    ) -> nodes.Node | None:
        return make(self._suite(statements)) if statements else None

    def _annotated_assignment(self, node: ast.AnnAssign) -> cst.AnnAssign:
        annotation = nodes.annotation(self._expression(node.annotation))
        return nodes.ann_assign(self._placed(node.target), annotation, self._optional_placed(node.value))

    def _assert(self, node: ast.Assert) -> cst.Assert:
        return nodes.assertion(self._expression(node.test), self._optional(node.msg))

    def _assignment(self, node: ast.Assign) -> cst.Assign:
        targets = tuple(nodes.assign_target(self._placed(target)) for target in node.targets)
        return nodes.assign(targets, self._placed(node.value))

    def _augmented_assignment(self, node: ast.AugAssign) -> cst.AugAssign:
        operator = _ASSIGNING_OPERATORS[node.op.__class__]
        return nodes.aug_assign(self._placed(node.target), self._placed(node.value), operator)

    def _delete(self, node: ast.Delete) -> cst.Del:
        if len(node.targets) == 1:
            return nodes.del_(self._placed(node.targets[0]))
        targets = nodes.tuple_(tuple(nodes.element(self._expression(target)) for target in node.targets))
        self._origins[id(targets)] = Deleted(node)
        return nodes.del_(targets)

    def _expression_statement(self, node: ast.Expr) -> cst.Expr:
        return nodes.expr(self._expression(node.value))

    def _global(self, node: ast.Global) -> cst.Global:
        return nodes.global_(tuple(nodes.name_item(nodes.name(name)) for name in node.names))

    def _nonlocal(self, node: ast.Nonlocal) -> cst.Nonlocal:
        return nodes.nonlocal_(tuple(nodes.name_item(nodes.name(name)) for name in node.names))

    def _import(self, node: ast.Import) -> cst.Import:
        return nodes.import_(tuple(map(self._alias, node.names)))

    def _import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        names: object = tuple(map(self._alias, node.names))
        if node.names[0].name == "*":
            names = nodes.import_star()
        module = _dotted(node.module) if node.module else None
        return nodes.import_from(module, names, (_DOT,) * node.level)

    def _alias(self, alias: ast.alias) -> cst.ImportAlias:
        return nodes.import_alias(
            _dotted(alias.name), nodes.as_name(nodes.name(alias.asname)) if alias.asname else None
        )

    def _raise(self, node: ast.Raise) -> cst.Raise:
        cause = nodes.from_(self._expression(node.cause)) if node.cause is not None else None
        return nodes.raise_(self._optional(node.exc), cause)

    def _return(self, node: ast.Return) -> cst.Return:
        return nodes.return_(self._optional(node.value))

    def _class(self, node: ast.ClassDef) -> cst.ClassDef:
        if getattr(node, "type_params", None):
            raise _NotBuiltError
        decorators = self._decorators(node)
        arguments = self._arguments(node.bases, node.keywords, None)
        keywords = tuple(item for item in arguments if item.keyword is not None or item.star == "**")
        bases = tuple(item for item in arguments if item not in keywords)
        made = nodes.class_def(
            decorators, self._defined_name(node), None, bases, keywords, self._suite(node.body)
        )
        self._origins[id(made)] = node
        return made

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        if getattr(node, "type_params", None):
            raise _NotBuiltError
        decorators = self._decorators(node)
        name = self._defined_name(node)
        parameters = self._parameters(node.args)
        returns = nodes.annotation(self._expression(node.returns)) if node.returns is not None else None
        asynchronous = _ASYNC if node.__class__ is ast.AsyncFunctionDef else None
        body = self._suite(node.body)
        made = nodes.function_def(decorators, name, None, parameters, returns, body, asynchronous)
        self._origins[id(made)] = node
        return made

    def _defined_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> cst.Name:
        name = nodes.name(node.name)
        self._origins[id(name)] = DefinedName(node)
        return name

    def _decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> tuple[cst.Decorator, ...]:
        decorators = []
        for expression in node.decorator_list:
            decorator = nodes.decorator(self._expression(expression))
            self._origins[id(decorator)] = Decoration(expression)
            decorators.append(decorator)
        return tuple(decorators)

    def _parameters(self, node: ast.arguments) -> cst.Parameters:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        made = tuple(map(self._parameter, positional, defaults))
        keyword_only = tuple(map(self._parameter, node.kwonlyargs, node.kw_defaults))
        count = len(node.posonlyargs)
        star = self._parameter(node.vararg, None) if node.vararg is not None else None
        keywords = self._parameter(node.kwarg, None) if node.kwarg is not None else None
        return nodes.parameters(made[:count], None, made[count:], star, keyword_only, keywords)

    def _parameter(self, node: ast.arg, default: ast.expr | None) -> cst.Param:
        annotation = (
            nodes.annotation(self._expression(node.annotation)) if node.annotation is not None else None
        )
        return nodes.param(nodes.name(node.arg), annotation, self._optional(default))

    def _if(self, node: ast.If) -> cst.If:
        test = self._expression(node.test)
        body = self._suite(node.body)
        orelse: cst.If | cst.Else | None = None
        match node.orelse:
            case [ast.If() as other] if self._places.is_elif(other):
                orelse = self._if(other)
            case [_, *_]:
                orelse = nodes.else_(self._suite(node.orelse))
        made = nodes.if_(test, body, orelse)
        self._origins[id(made)] = node
        return made

    def _for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        target, iterated = self._placed(node.target), self._placed(node.iter)
        made = nodes.for_(
            target, iterated, self._suite(node.body), self._optional_suite(nodes.else_, node.orelse)
        )
        self._origins[id(made)] = node
        return made

    def _while(self, node: ast.While) -> cst.While:
        test = self._expression(node.test)
        made = nodes.while_(test, self._suite(node.body), self._optional_suite(nodes.else_, node.orelse))
        self._origins[id(made)] = node
        return made

    def _with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        items = tuple(
            nodes.with_item(
                self._placed(item.context_expr),
                nodes.as_name(self._placed(item.optional_vars)) if item.optional_vars is not None else None,
            )
            for item in node.items
        )
        made = nodes.with_(items, self._suite(node.body))
        self._origins[id(made)] = node
        return made

    def _try(
        self,
        make: Callable[..., cst.BaseCompoundStatement],
        make_handler: Callable[..., cst.CSTNode],
        node: ast.Try,
    ) -> cst.BaseCompoundStatement:
        body = self._suite(node.body)
        handlers = tuple(self._handler(make_handler, handler) for handler in node.handlers)
        orelse = self._optional_suite(nodes.else_, node.orelse)
        return make(body, handlers, orelse, self._optional_suite(nodes.finally_, node.finalbody))

    def _handler(self, make: Callable[..., cst.CSTNode], node: ast.ExceptHandler) -> cst.CSTNode:
        caught = None
        if node.name is not None:
            name = nodes.name(node.name)
            self._origins[id(name)] = CaughtName(node)
            caught = nodes.as_name(name)
        return make(self._optional(node.type), caught, self._suite(node.body))

    # Expressions

    def _expression(self, node: ast.expr) -> cst.BaseExpression:
        make = self._expressions.get(node.__class__)
        if make is None:
            raise _NotBuiltError
        return make(node)

    def _optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        return self._expression(node) if node is not None else None

    def _placed(self, node: ast.expr) -> cst.BaseExpression:
        """For an expression whose place may be asked for."""
        made = self._expression(node)
        self._origins[id(made)] = node
        return made

    def _optional_placed(self, node: ast.expr | None) -> cst.BaseExpression | None:
        return self._placed(node) if node is not None else None

    def _attribute(self, node: ast.Attribute) -> cst.Attribute:
        name = self._attribute_names.get(node.attr)
        if name is None:
            name = self._attribute_names[node.attr] = nodes.name(node.attr)
        return nodes.attribute(self._expression(node.value), name)

    def _await(self, node: ast.Await) -> cst.Await:
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
        made = nodes.call(self._placed(node.func), self._arguments(node.args, node.keywords, node.func))
        self._origins[id(made)] = node
        return made

    def _arguments(
        self, positional: list[ast.expr], keywords: list[ast.keyword], called: ast.expr | None
    ) -> tuple[cst.Arg, ...]:
        """The arguments in the order of the text. For those of a class, where nothing is called, nobody asks
        where they stand."""
        arguments: list[ast.expr | ast.keyword] = [*positional, *keywords]
        if keywords and positional and isinstance(positional[-1], ast.Starred):
            arguments.sort(key=lambda argument: (argument.lineno, argument.col_offset))
        found = []
        before = called
        for argument in arguments:
            named: ast.keyword | ast.Starred | None = None
            keyword, star = None, ""
            if isinstance(argument, ast.keyword):
                named, value = argument, argument.value
                if argument.arg is None:
                    star = "**"
                else:
                    keyword = nodes.name(argument.arg)
            elif isinstance(argument, ast.Starred):
                named, value, star = argument, argument.value, "*"
            else:
                value = argument
            made = nodes.arg(keyword, self._placed(value), star)
            if before is not None:
                self._origins[id(made)] = Argument(value, named, before, before is called)
                before = value
            found.append(made)
        return tuple(found)

    def _comparison(self, node: ast.Compare) -> cst.Comparison:
        left = self._expression(node.left)
        targets = tuple(
            nodes.comparison_target(self._expression(comparator), _OPERATORS[operator.__class__])
            for operator, comparator in zip(node.ops, node.comparators, strict=True)
        )
        return nodes.comparison(left, targets)

    def _constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        match value:
            case str() | bytes():
                return nodes.simple_string(repr(value))
            case bool() | None:
                return nodes.name(repr(value))
            case int() if -_LARGE < value < _LARGE:
                return nodes.integer(repr(value))
            case float() if value < math.inf:
                return nodes.float_(repr(value))
            case int():
                return nodes.integer(hex(value))
            case float():
                return nodes.float_("1e999")
            case complex():
                return nodes.imaginary(repr(value))
            case _:
                return nodes.ellipsis()

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
        made = nodes.dict_comp(key, value, self._clauses(node.generators))
        self._origins[id(made)] = node
        return made

    def _comprehension(
        self, make: Callable[..., cst.BaseExpression], node: ast.ListComp | ast.SetComp | ast.GeneratorExp
    ) -> cst.BaseExpression:
        made = make(self._expression(node.elt), self._clauses(node.generators))
        self._origins[id(made)] = node
        return made

    def _clauses(self, generators: list[ast.comprehension]) -> cst.CompFor:
        first, *others = generators
        target, iterated = self._placed(first.target), self._placed(first.iter)
        conditions = tuple(nodes.comp_if(self._expression(condition)) for condition in first.ifs)
        return nodes.comp_for(target, iterated, conditions, self._clauses(others) if others else None)

    def _display(
        self, make: Callable[..., cst.BaseExpression], node: ast.Tuple | ast.List | ast.Set
    ) -> cst.BaseExpression:
        return make(
            tuple(
                nodes.starred_element(self._expression(item.value))
                if isinstance(item, ast.Starred)
                else nodes.element(self._expression(item))
                for item in node.elts
            )
        )

    def _if_expression(self, node: ast.IfExp) -> cst.IfExp:
        body, test = self._expression(node.body), self._expression(node.test)
        return nodes.if_exp(body, test, self._expression(node.orelse))

    def _lambda(self, node: ast.Lambda) -> cst.Lambda:
        made = nodes.lambda_(self._parameters(node.args), self._placed(node.body))
        self._origins[id(made)] = node
        return made

    def _name(self, node: ast.Name) -> cst.Name:
        return nodes.name(node.id)

    def _named_expression(self, node: ast.NamedExpr) -> cst.NamedExpr:
        made = nodes.named_expr(self._placed(node.target), self._placed(node.value))
        self._origins[id(made)] = node
        return made

    def _subscript(self, node: ast.Subscript) -> cst.Subscript:
        base = self._expression(node.value)
        index = node.slice
        items, comma = (index.elts, _COMMA) if isinstance(index, ast.Tuple) else ([index], None)
        return nodes.subscript(
            base, tuple(nodes.subscript_element(self._index(item), comma) for item in items)
        )

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return nodes.slice_(
                self._optional(node.lower), self._optional(node.upper), self._optional(node.step)
            )
        if isinstance(node, ast.Starred):
            return nodes.index(self._expression(node.value), "*")
        return nodes.index(self._expression(node), None)

    def _unary_operation(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        return nodes.unary_operation(self._expression(node.operand), _OPERATORS[node.op.__class__])

    def _yield(self, node: ast.Yield) -> cst.Yield:
        made = nodes.yield_(self._optional(node.value))
        self._origins[id(made)] = node
        return made

    def _yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        made = nodes.yield_(nodes.from_(self._expression(node.value)))
        self._origins[id(made)] = node
        return made

    # Formatted strings

    def _formatted_string(self, node: ast.JoinedStr) -> cst.BaseExpression:
        """Built only where it is plain: places in a formatted string are wrong before Python 3.12, and `ast`
        does not tell ``f"{a=}"``, or string literals in a row, from one string."""
        text = self._places.text_of(node)
        if _is_plain(text) and not any(isinstance(part, _WITH_PLACES) for part in ast.walk(node)):
            return nodes.formatted_string(self._parts(node))
        return self._parsed(text, self._places.start(node))

    def _parts(self, node: ast.expr) -> tuple[cst.BaseFormattedStringContent, ...]:
        parts: list[cst.BaseFormattedStringContent] = []
        assert isinstance(node, ast.JoinedStr)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                specification = self._parts(part.format_spec) if part.format_spec is not None else None
                parts.append(nodes.formatted_string_expression(self._expression(part.value), specification))
            else:
                assert isinstance(part, ast.Constant)
                parts.append(nodes.formatted_string_text(part.value))
        return tuple(parts)

    def _parsed(self, text: str, start: int) -> cst.BaseExpression:
        """An expression as LibCST's parser sees it."""
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


_LARGE = 1 << 63
_WITH_PLACES = (
    ast.Call,
    ast.Dict,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)


def _is_plain(text: str) -> bool:
    """Whether the text of a formatted string is one literal whose parts stand there as they are."""
    quote = text.lstrip("fFrR")[0]
    quotes = 6 if text.endswith(quote * 3) and len(text) > 6 else 2
    return text.count(quote) == quotes and not any(mark in text for mark in ("\\", "{{", "}}", "="))


def _dotted(name: str) -> cst.Name | cst.Attribute:
    first, *others = name.split(".")
    made: cst.Name | cst.Attribute = nodes.name(first)
    for other in others:
        made = nodes.attribute(made, nodes.name(other))
    return made
