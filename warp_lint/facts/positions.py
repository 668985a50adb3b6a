"""Where every node of a tree stands in the text.

LibCST's nodes do not know their place. Its own code generation is run once, and the lengths of the tokens it
makes are added up: the places of LibCST's `PositionProvider` at a fraction of its cost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

import libcst
from libcst._nodes.internal import CodegenState

from warp_lint.facts.parsing import TOO_DEEP, ParseFailure
from warp_lint.facts.records import Span

_DROPPED = frozenset(" \t\f\\\r\n")
"""What LibCST may leave out of a tree: form feeds and continued blank lines before a statement; a carriage
return and some blank lines at the end of the file."""


class Positions:
    """The spans of the nodes of one tree.

    A span leaves out blanks and comments around the node, the parentheses around an expression (those of a
    tuple or generator too), the decorators of a definition, the annotation and default of a parameter, and
    the comma or semicolon after an item. A statement that holds a block ends with the last statement of the
    block.
    """

    def __init__(
        self, module: libcst.Module, tokens: dict[int, tuple[int, int]], starts: list[int], ends: list[int]
    ) -> None:
        self._module = module  # keeps the nodes alive, so that their ids stay theirs
        self._tokens = tokens
        self._starts = starts
        self._ends = ends

    def span(self, node: libcst.CSTNode) -> Span:
        """The span of a node, in code points of the text.

        Raises:
            KeyError: The node is not of this tree, or LibCST does not place it: whitespace, punctuation,
                unary operators, parts of formatted strings, type parameters, `AsName`, `CompFor`, `CompIf`,
                `ComparisonTarget`, `ImportStar`, `Index`, `Module`, `Parameters`, `ParamSlash`,
                `ParamStar` and `Slice`.
        """
        first, end = self._tokens[id(node)]
        return Span(self._starts[first], self._ends[end])


def measure(module: libcst.Module, text: str) -> Positions:
    """Where the nodes of a tree stand in the text that the tree was parsed from.

    Raises:
        ParseFailure: The tree is too deep, or is not the tree of the text.
    """
    state = _Measuring(module)
    try:
        for part in (*module.header, *module.body, *module.footer):
            part._codegen(state)
    except RecursionError as error:
        raise ParseFailure(TOO_DEEP) from error
    tokens = state.tokens
    if not module.has_trailing_newline and tokens:
        tokens[-1] = ""  # the line break of the last line
    code = "".join(tokens)
    starts = ends = list(accumulate(map(len, tokens), initial=0))
    if code != text:
        places, leads = _leads(code, text)
        starts = [offset + leads[bisect_right(places, offset) - 1] for offset in ends]
        ends = [offset + leads[max(bisect_left(places, offset) - 1, 0)] for offset in ends]
    return Positions(module, state.spans, starts, ends)


class _Measuring(CodegenState):
    """Collects the tokens of the code, and for each node the numbers of its first token and of the next one.

    Its methods are called for every token and every node, so that not a frame more than needed is spent.
    """

    def __init__(self, module: libcst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.spans: dict[int, tuple[int, int]] = {}
        self._open: list[tuple[int, int, int, int]] = []
        self.add_token = self.tokens.append  # type: ignore[assignment, method-assign]
        self.before_codegen = self.after_codegen = callable  # type: ignore[assignment, method-assign]

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: libcst.CSTNode,
        *,
        start_node: libcst.CSTNode | None = None,
        end_node: libcst.CSTNode | None = None,
    ) -> _Measuring:
        self._open.append((id(node), len(self.tokens), id(start_node), id(end_node)))
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        key, start, start_key, end_key = self._open.pop()
        spans = self.spans
        spans[key] = (
            spans[start_key][0] if start_key in spans else start,
            spans[end_key][1] if end_key in spans else len(self.tokens),
        )


def _leads(code: str, text: str) -> tuple[list[int], list[int]]:
    """Where ``code`` lacks something of ``text``, and by how much ``text`` is ahead from there on."""
    places, leads = [0], [0]
    place = lead = 0
    while True:
        place += _common_length(code, place, text, place + lead)
        if place + lead == len(text):
            break
        if text[place + lead] not in _DROPPED:
            raise ParseFailure.at(place + lead, text, "the tree that LibCST gives differs from the text here")
        lead += 1
        places.append(place)
        leads.append(lead)
    if place < len(code):
        raise ParseFailure.at(len(text), text, "the tree that LibCST gives differs from the text here")
    return places, leads


def _common_length(left: str, left_start: int, right: str, right_start: int) -> int:
    """How many code points two texts have in common from there on."""
    length, step = 0, 1
    while step:
        left_end, right_end = left_start + length + step, right_start + length + step
        if left_end <= len(left) and left[left_end - step : left_end] == right[right_end - step : right_end]:
            length += step
            step *= 2
        else:
            step //= 2
    return length
