"""The last part of a path expression, taken off."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst


def without_last_part(statement: str, is_dropped: Callable[[str], bool]) -> str | None:
    """The text of an assignment or ``setattr`` call whose value loses the last part of a path.

    The part is taken off ``os.path.join(base, part)``, ``base / part`` and ``f"{base}/…{part}"`` when
    ``is_dropped`` says so of the part's own text. None when the value has no such form.
    """
    try:
        parsed = cst.parse_statement(statement)
    except cst.ParserSyntaxError:
        return None
    match parsed:
        case cst.SimpleStatementLine(body=[cst.Assign(value=value)]):
            pass
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(args=[_, _, cst.Arg(value=value)]))]):
            pass
        case _:
            return None
    base = _base(value, is_dropped)
    if base is None:
        return None
    changed = parsed.deep_replace(value, base)
    assert isinstance(changed, cst.SimpleStatementLine)
    return cst.Module([changed]).code.rstrip("\n")


def _base(value: cst.BaseExpression, is_dropped: Callable[[str], bool]) -> cst.BaseExpression | None:
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("join" | "joinpath")), args=[*kept, last]):
            if not kept or not is_dropped(_code(last.value)) or any(argument.star for argument in value.args):
                return None
            if len(kept) == 1 and isinstance(value.func, cst.Attribute) and value.func.attr.value == "join":
                return kept[0].value
            end = kept[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
            return value.with_changes(args=[*kept[:-1], end])
        case cst.BinaryOperation(left=left, operator=cst.Divide(), right=right) if is_dropped(_code(right)):
            return left
        case cst.FormattedString(parts=parts):
            return _shortened(value, list(parts), is_dropped)
        case _:
            return None


def _shortened(
    string: cst.FormattedString,
    parts: list[cst.BaseFormattedStringContent],
    is_dropped: Callable[[str], bool],
) -> cst.FormattedString | None:
    """An f-string up to its last slash, when what follows holds no expression but the dropped one."""
    dropped = False
    while parts:
        last = parts.pop()
        if isinstance(last, cst.FormattedStringText):
            before, slash, _ = last.value.rpartition("/")
            if slash:
                kept = [*parts, last.with_changes(value=before)] if before else parts
                return string.with_changes(parts=kept) if dropped and kept else None
        elif isinstance(last, cst.FormattedStringExpression) and is_dropped(_code(last.expression)):
            dropped = True
        else:
            return None
    return None


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
