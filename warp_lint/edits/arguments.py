"""Keyword arguments of a decorator or call: add, change, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst


def change_arguments(fragment: str, changes: Mapping[str, str | None]) -> str | None:
    """The text of a decorator's or call's expression with other keyword arguments.

    ``changes`` gives the new text of each argument's value, None to remove it. Arguments that are there keep
    their place; new ones come last, in the order given, on lines of their own where the others are. The
    result is None when the fragment is no name, attribute or call.
    """
    try:
        expression = cst.parse_expression(fragment)
    except cst.ParserSyntaxError:
        return None
    if isinstance(expression, (cst.Name, cst.Attribute)):
        expression = cst.Call(func=expression)
    if not isinstance(expression, cst.Call):
        return None
    arguments = list(expression.args)
    added: list[cst.Arg] = []
    for keyword, value in changes.items():
        position = _position(arguments, keyword)
        if value is None:
            if position is not None:
                arguments = _without(arguments, position)
        elif position is not None:
            arguments[position] = arguments[position].with_changes(value=cst.parse_expression(value))
        else:
            added.append(_argument(keyword, value))
    call = expression.with_changes(args=arguments)
    return cst.Module([]).code_for_node(_extended(call, added))


def _position(arguments: Sequence[cst.Arg], keyword: str) -> int | None:
    for position, argument in enumerate(arguments):
        if argument.keyword is not None and argument.keyword.value == keyword:
            return position
    return None


def _argument(keyword: str, value: str) -> cst.Arg:
    return cst.Arg(
        keyword=cst.Name(keyword),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def _without(arguments: list[cst.Arg], position: int) -> list[cst.Arg]:
    """The arguments without one of them; what ended the list ends it still."""
    removed = arguments[position]
    rest = arguments[:position] + arguments[position + 1 :]
    if position == len(arguments) - 1 and rest:
        rest[-1] = rest[-1].with_changes(
            comma=removed.comma, whitespace_after_arg=removed.whitespace_after_arg
        )
    return rest


def _extended(call: cst.Call, added: Sequence[cst.Arg]) -> cst.Call:
    if not call.args:
        return call.with_changes(args=_on_one_line(added), whitespace_before_args=cst.SimpleWhitespace(""))
    if not added:
        return call
    if isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        return call.with_changes(args=_on_own_lines(call, call.whitespace_before_args, added))
    *others, last = call.args
    closing = last.comma
    after = last.whitespace_after_arg
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
        whitespace_after_arg=cst.SimpleWhitespace(""),
    )
    *new, newest = _on_one_line(added)
    newest = newest.with_changes(comma=closing, whitespace_after_arg=after)
    return call.with_changes(args=[*others, last, *new, newest])


def _on_one_line(arguments: Sequence[cst.Arg]) -> list[cst.Arg]:
    if not arguments:
        return []
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [*(argument.with_changes(comma=comma) for argument in arguments[:-1]), arguments[-1]]


def _on_own_lines(
    call: cst.Call, opening: cst.ParenthesizedWhitespace, added: Sequence[cst.Arg]
) -> list[cst.Arg]:
    """The arguments of a call that has them on lines below its parenthesis, each new one on its own line."""
    *others, last = call.args
    has_comma = isinstance(last.comma, cst.Comma)
    closing = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else last.whitespace_after_arg
    newline = cst.TrailingWhitespace()
    if isinstance(closing, cst.ParenthesizedWhitespace):
        # The comment behind the last argument stays with it.
        own_line = cst.ParenthesizedWhitespace(closing.first_line, [], opening.indent, opening.last_line)
        end: cst.BaseParenthesizableWhitespace = closing.with_changes(first_line=newline)
    else:
        own_line = cst.ParenthesizedWhitespace(newline, [], opening.indent, opening.last_line)
        end = closing
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=own_line), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    between = cst.Comma(
        whitespace_after=cst.ParenthesizedWhitespace(newline, [], opening.indent, opening.last_line)
    )
    new = [argument.with_changes(comma=between) for argument in added[:-1]]
    newest = added[-1]
    if has_comma:
        newest = newest.with_changes(comma=cst.Comma(whitespace_after=end))
    else:
        newest = newest.with_changes(whitespace_after_arg=end)
    return [*others, last, *new, newest]
