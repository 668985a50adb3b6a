"""Where every node of a tree stands in the text.

LibCST's nodes do not know their place. Its own code generation is run once, the tokens that it makes are
counted instead of written: several times cheaper than a `PositionProvider`, and no copy of the tree.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import libcst
from libcst._nodes.internal import CodegenState

from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.records import Span

_DROPPED = frozenset(" \t\f\\\r\n")
"""What LibCST leaves out of its tree: a form feed or a continued empty line before a statement, and a
carriage return alone at the end of the file."""


class Positions:
    """The spans of the nodes of one tree."""

    __slots__ = ("_ends", "_module", "_offsets", "_starts")

    def __init__(
        self, module: libcst.Module, starts: dict[int, int], ends: dict[int, int], offsets: list[int]
    ) -> None:
        self._module = module  # keeps the ids alive
        self._starts = starts
        self._ends = ends
        self._offsets = offsets

    def span(self, node: libcst.CSTNode) -> Span:
        """The code points of the text that a node of the tree takes.

        Raises:
            KeyError: The node is not of this tree, or is of a kind that LibCST gives no place.
        """
        key = id(node)
        return Span(self._offsets[self._starts[key]], self._offsets[self._ends[key]])


def measure(module: libcst.Module, text: str) -> Positions:
    """The places of the nodes of ``module``, parsed from ``text``.

    Raises:
        ParseFailure: The tree does not give the text back, so that no place could be trusted.
    """
    state = _Measuring(module)
    try:
        for part in (*module.header, *module.body, *module.footer):
            part._codegen(state)
    except RecursionError as error:
        raise ParseFailure("is nested too deeply") from error
    tokens = state.tokens
    if not module.has_trailing_newline and tokens:
        tokens.pop()
    offsets = list(accumulate(map(len, tokens), initial=0))
    offsets.append(offsets[-1])
    code = "".join(tokens)
    if code != text:
        offsets = _placed(offsets, code, text)
    return Positions(module, state.starts, state.ends, offsets)


def _placed(offsets: list[int], code: str, text: str) -> list[int]:
    """Move offsets into ``code`` to ``text``, which holds more than ``code`` does."""
    ends = [0]  # of stretches that are the same in both, in `code`
    shifts = [0]  # by how much `text` is ahead in the stretch that ends there
    place = shift = 0
    while True:
        place += _common(code, place, text, place + shift)
        ends.append(place)
        shifts.append(shift)
        if place + shift == len(text):
            break
        if text[place + shift] not in _DROPPED:
            raise ParseFailure("cannot be read: LibCST's tree is not the same text")
        shift += 1
    if place < len(code):
        raise ParseFailure("cannot be read: LibCST's tree is not the same text")
    return [
        offset + shifts[bisect_right(ends, offset)] if offset < place else len(text) for offset in offsets
    ]


def _common(left: str, left_start: int, right: str, right_start: int) -> int:
    """How many code points are the same from there on."""
    length = 0
    step = 1 << 12
    while step:
        if left[left_start + length : left_start + length + step] == right[
            right_start + length : right_start + length + step
        ] and left_start + length + step <= len(left):
            length += step
        else:
            step >>= 1
    return length


class _Measuring(CodegenState):
    """Keeps, per node, the number of the first token and of the one after its last."""

    def __init__(self, module: libcst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        # Called for every token and node: not a frame more than needed.
        self.add_token = self.tokens.append  # type: ignore[assignment, method-assign]
        self.before_codegen = self.after_codegen = callable  # type: ignore[assignment, method-assign]

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: libcst.CSTNode,
        *,
        start_node: libcst.CSTNode | None = None,
        end_node: libcst.CSTNode | None = None,
    ) -> _Recording:
        return _Recording(self, node, start_node, end_node)


class _Recording:
    """Stands around the tokens of a node; much cheaper than a generator as context manager."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self,
        state: _Measuring,
        node: libcst.CSTNode,
        start_node: libcst.CSTNode | None,
        end_node: libcst.CSTNode | None,
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = len(self.state.tokens)

    def __exit__(self, *_: object) -> None:
        state = self.state
        key = id(self.node)
        state.starts[key] = state.starts.get(id(self.start_node), self.start)
        state.ends[key] = state.ends.get(id(self.end_node), len(state.tokens))
