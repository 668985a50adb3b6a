"""From the source of a file to its facts."""

from __future__ import annotations

from warp_lint.facts.context import Context
from warp_lint.facts.parsing import parse
from warp_lint.facts.positions import measure
from warp_lint.facts.records import FileFacts
from warp_lint.facts.visitors import all_visitors
from warp_lint.facts.walk import walk
from warp_lint.source import Source


def extract(source: Source) -> FileFacts:
    """The facts of a file.

    Raises `warp_lint.facts.parsing.ParseFailure` when the file is not Python that LibCST can read.
    """
    module = parse(source.text)
    facts = FileFacts(path=source.path, line_starts=list(source.line_starts), length=len(source.text))
    context = Context(facts, measure(module, source.text))
    walk(module, all_visitors(context))
    return facts
