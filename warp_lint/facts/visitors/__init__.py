"""The visitors: one small LibCST visitor for each kind of fact.

Which calls are launches, loads or option writes is not known until names are resolved across files, so
a visitor records every call as what it is: a call. `warp_lint.project` tells them apart.
"""

from __future__ import annotations

import libcst as cst

from warp_lint.facts.context import Context
from warp_lint.facts.visitors.bindings import BindingsVisitor
from warp_lint.facts.visitors.blocks import BlocksVisitor
from warp_lint.facts.visitors.calls import CallsVisitor
from warp_lint.facts.visitors.device_code import DeviceCodeVisitor
from warp_lint.facts.visitors.imports import ImportsVisitor
from warp_lint.facts.visitors.returns import ReturnsVisitor
from warp_lint.facts.visitors.scopes import ScopesVisitor


def all_visitors(context: Context) -> list[cst.CSTVisitor]:
    """The visitors in the order they must be driven.

    Scopes and blocks come first: the others read from the context where the walk stands. Device code
    comes before scopes are entered so that host visitors know which bodies to leave alone.
    """
    return [
        DeviceCodeVisitor(context),
        ScopesVisitor(context),
        BlocksVisitor(context),
        ImportsVisitor(context),
        CallsVisitor(context),
        BindingsVisitor(context),
        ReturnsVisitor(context),
    ]
