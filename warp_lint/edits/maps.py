"""Captured values become arguments of a ``wp.map``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst


def pass_to_map(fragment: str, names: Sequence[str]) -> str | None:
    """The text of a call of ``wp.map`` whose lambda takes some names as further parameters.

    None when the function is not a lambda written in the call, when its parameters are not plain ones, or
    when it does more with a name than compute with its value.
    """
    try:
        call = cst.parse_expression(fragment)
    except cst.ParserSyntaxError:
        return None
    if not isinstance(call, cst.Call) or not call.args:
        return None
    function = call.args[0].value
    if not isinstance(function, cst.Lambda) or not _takes_plain_parameters(function):
        return None
    if not all(_is_only_a_value(function.body, name) for name in names):
        return None
    *others, last = function.params.params
    separator = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    added = [cst.Param(cst.Name(name), comma=separator) for name in names]
    added[-1] = cst.Param(cst.Name(names[-1]))
    parameters = function.params.with_changes(params=[*others, last.with_changes(comma=separator), *added])
    arguments = [call.args[0].with_changes(value=function.with_changes(params=parameters)), *call.args[1:]]
    position = next(
        (index for index, argument in enumerate(arguments) if argument.keyword or argument.star == "**"),
        len(arguments),
    )
    before = arguments[position - 1]
    values = [cst.Arg(cst.Name(name), comma=separator) for name in names]
    values[-1] = values[-1].with_changes(comma=before.comma, whitespace_after_arg=before.whitespace_after_arg)
    # The line break that ended the arguments stays at their end.
    arguments[position - 1] = before.with_changes(
        comma=separator, whitespace_after_arg=cst.SimpleWhitespace("")
    )
    arguments[position:position] = values
    return cst.Module([]).code_for_node(call.with_changes(args=arguments))


def _takes_plain_parameters(function: cst.Lambda) -> bool:
    parameters = function.params
    others = (parameters.star_arg, parameters.star_kwarg, parameters.kwonly_params, parameters.posonly_params)
    is_plain = others == (cst.MaybeSentinel.DEFAULT, None, (), ())
    return is_plain and bool(parameters.params) and all(item.default is None for item in parameters.params)


def _is_only_a_value(body: cst.BaseExpression, name: str) -> bool:
    """Whether a name is never called, and nothing of it is asked for by attribute or index."""
    finder = _UseFinder(name)
    body.visit(finder)
    return not finder.found


class _UseFinder(cst.CSTVisitor):
    """Finds uses of a name other than as a value."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.found = False

    def visit_Call(self, node: cst.Call) -> None:
        self._look(node.func)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._look(node.value)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._look(node.value)

    def visit_Lambda(self, node: cst.Lambda) -> bool:  # noqa: ARG002 (LibCST's name)
        self.found = True
        return False

    def _look(self, used: cst.BaseExpression) -> None:
        self.found |= isinstance(used, cst.Name) and used.value == self._name
