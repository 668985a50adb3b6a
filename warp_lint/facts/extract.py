"""From the source of a file to its facts."""

from __future__ import annotations

import libcst

from warp_lint.facts.building import build
from warp_lint.facts.context import Context
from warp_lint.facts.parsing import parse
from warp_lint.facts.places import SpanOf
from warp_lint.facts.positions import measure
from warp_lint.facts.records import FileFacts
from warp_lint.facts.visitors import all_visitors
from warp_lint.facts.walk import walk
from warp_lint.source import Source


def extract(source: Source) -> FileFacts:
    """The facts of a file.

    Raises `warp_lint.facts.parsing.ParseFailure` when the file is not Python that LibCST can read.
    """
    return facts_of(source, *(build(source) or parsed(source)))


def facts_of(source: Source, module: libcst.Module, span: SpanOf, quiet: set[int]) -> FileFacts:
    """What the visitors find in a tree, however it was made."""
    facts = FileFacts(path=source.path, line_starts=list(source.line_starts), length=len(source.text))
    context = Context(facts, span, quiet)
    walk(module, all_visitors(context), quiet)
    facts.attributes = tuple(sorted(context.attribute_names))
    return facts


def parsed(source: Source) -> tuple[libcst.Module, SpanOf, set[int]]:
    """The tree of a file as LibCST's parser makes it, and the places of its nodes; raises as `extract`."""
    module = parse(source.text)
    return module, measure(module, source.text).span, set()
