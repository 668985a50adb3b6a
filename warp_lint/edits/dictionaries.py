"""Entries of a dict display: add, change, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst


def change_entries(fragment: str, changes: Mapping[str, str | None]) -> str | None:
    """The text of a dict display with other entries.

    ``changes`` gives the new text of each entry's value by its string key, None to remove it. New entries
    come last, on lines of their own where the others are. The result is None when the fragment is no dict
    display.
    """
    try:
        display = cst.parse_expression(fragment)
    except cst.ParserSyntaxError:
        return None
    if not isinstance(display, cst.Dict):
        return None
    elements: list[cst.BaseDictElement] = list(display.elements)
    added: list[cst.DictElement] = []
    for key, value in changes.items():
        position = _position(elements, key)
        if value is None:
            if position is not None:
                elements = _without(elements, position)
        elif position is not None:
            elements[position] = elements[position].with_changes(value=cst.parse_expression(value))
        else:
            added.append(cst.DictElement(cst.SimpleString(f'"{key}"'), cst.parse_expression(value)))
    return cst.Module([]).code_for_node(_extended(display.with_changes(elements=elements), added))


def display(entries: Mapping[str, str]) -> str:
    """The text of a new dict display on one line."""
    return "{" + ", ".join(f'"{key}": {value}' for key, value in entries.items()) + "}"


def _position(elements: Sequence[cst.BaseDictElement], key: str) -> int | None:
    for position, element in enumerate(elements):
        match element:
            case cst.DictElement(key=cst.SimpleString() as found) if found.evaluated_value == key:
                return position
    return None


def _without(elements: list[cst.BaseDictElement], position: int) -> list[cst.BaseDictElement]:
    removed = elements[position]
    rest = elements[:position] + elements[position + 1 :]
    if position == len(elements) - 1 and rest:
        rest[-1] = rest[-1].with_changes(comma=removed.comma)
    return rest


def _extended(display: cst.Dict, added: Sequence[cst.DictElement]) -> cst.Dict:
    if not added:
        return display
    space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    opening = display.lbrace.whitespace_after
    closing = display.rbrace.whitespace_before
    if not display.elements:
        return display.with_changes(
            elements=[*(element.with_changes(comma=space) for element in added[:-1]), added[-1]]
        )
    *others, last = display.elements
    if not isinstance(opening, cst.ParenthesizedWhitespace):
        new = [element.with_changes(comma=space) for element in added[:-1]]
        newest = added[-1].with_changes(comma=last.comma)
        return display.with_changes(elements=[*others, last.with_changes(comma=space), *new, newest])
    newline = cst.TrailingWhitespace()
    own_line = cst.ParenthesizedWhitespace(newline, [], opening.indent, opening.last_line)
    behind_last = own_line
    if isinstance(closing, cst.ParenthesizedWhitespace):
        # The comment behind the last entry stays with it.
        behind_last = own_line.with_changes(first_line=closing.first_line)
        closing = closing.with_changes(first_line=newline)
    new = [element.with_changes(comma=cst.Comma(whitespace_after=own_line)) for element in added[:-1]]
    newest = added[-1].with_changes(
        comma=cst.Comma() if isinstance(last.comma, cst.Comma) else cst.MaybeSentinel.DEFAULT
    )
    last = last.with_changes(comma=cst.Comma(whitespace_after=behind_last))
    return display.with_changes(
        elements=[*others, last, *new, newest],
        rbrace=display.rbrace.with_changes(whitespace_before=closing),
    )
