"""One walk over a tree for many visitors.

`libcst.CSTNode.visit` rebuilds every node it leaves and enters every blank and comma: it costs as much as
the parse. This walk rebuilds nothing and enters only nodes that say something, so it costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import libcst

from warp_lint.facts.parsing import TOO_DEEP, ParseFailure

_Method = Callable[[Any], Any]

CHILD_FIELDS: dict[str, tuple[str, ...]] = {
    "AnnAssign": ("target", "annotation", "value"),
    "Annotation": ("annotation",),
    "Arg": ("keyword", "value"),
    "AsName": ("name",),
    "Assert": ("test", "msg"),
    "Assign": ("targets", "value"),
    "AssignTarget": ("target",),
    "Attribute": ("value", "attr"),
    "AugAssign": ("target", "value"),
    "Await": ("expression",),
    "BinaryOperation": ("left", "right"),
    "BooleanOperation": ("left", "right"),
    "Break": (),
    "Call": ("func", "args"),
    "ClassDef": ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    "CompFor": ("target", "iter", "ifs", "inner_for_in"),
    "CompIf": ("test",),
    "Comparison": ("left", "comparisons"),
    "ComparisonTarget": ("comparator",),
    "ConcatenatedString": ("left", "right"),
    "Continue": (),
    "Decorator": ("decorator",),
    "Del": ("target",),
    "Dict": ("elements",),
    "DictComp": ("key", "value", "for_in"),
    "DictElement": ("key", "value"),
    "Element": ("value",),
    "Ellipsis": (),
    "Else": ("body",),
    "ExceptHandler": ("type", "name", "body"),
    "ExceptStarHandler": ("type", "name", "body"),
    "Expr": ("value",),
    "Finally": ("body",),
    "Float": (),
    "For": ("target", "iter", "body", "orelse"),
    "FormattedString": ("parts",),
    "FormattedStringExpression": ("expression", "format_spec"),
    "FormattedStringText": (),
    "From": ("item",),
    "FunctionDef": ("decorators", "name", "type_parameters", "params", "returns", "body"),
    "GeneratorExp": ("elt", "for_in"),
    "Global": ("names",),
    "If": ("test", "body", "orelse"),
    "IfExp": ("body", "test", "orelse"),
    "Imaginary": (),
    "Import": ("names",),
    "ImportAlias": ("name", "asname"),
    "ImportFrom": ("module", "names"),
    "ImportStar": (),
    "IndentedBlock": ("body",),
    "Index": ("value",),
    "Integer": (),
    "Lambda": ("params", "body"),
    "LazyImport": ("names",),
    "LazyImportFrom": ("module", "names"),
    "List": ("elements",),
    "ListComp": ("elt", "for_in"),
    "Match": ("subject", "cases"),
    "MatchAs": ("pattern", "name"),
    "MatchCase": ("pattern", "guard", "body"),
    "MatchClass": ("cls", "patterns", "kwds"),
    "MatchKeywordElement": ("key", "pattern"),
    "MatchList": ("patterns",),
    "MatchMapping": ("elements", "rest"),
    "MatchMappingElement": ("key", "pattern"),
    "MatchOr": ("patterns",),
    "MatchOrElement": ("pattern",),
    "MatchSequenceElement": ("value",),
    "MatchSingleton": ("value",),
    "MatchStar": ("name",),
    "MatchTuple": ("patterns",),
    "MatchValue": ("value",),
    "Module": ("body",),
    "Name": (),
    "NameItem": ("name",),
    "NamedExpr": ("target", "value"),
    "Nonlocal": ("names",),
    "Param": ("name", "annotation", "default"),
    "ParamSlash": (),
    "ParamSpec": ("name",),
    "ParamStar": (),
    "Parameters": ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
    "Pass": (),
    "Raise": ("exc", "cause"),
    "Return": ("value",),
    "Set": ("elements",),
    "SetComp": ("elt", "for_in"),
    "SimpleStatementLine": ("body",),
    "SimpleStatementSuite": ("body",),
    "SimpleString": (),
    "Slice": ("lower", "upper", "step"),
    "StarredDictComp": ("value", "for_in"),
    "StarredDictElement": ("value",),
    "StarredElement": ("value",),
    "Subscript": ("value", "slice"),
    "SubscriptElement": ("slice",),
    "TemplatedString": ("parts",),
    "TemplatedStringExpression": ("expression", "format_spec"),
    "TemplatedStringText": (),
    "Try": ("body", "handlers", "orelse", "finalbody"),
    "TryStar": ("body", "handlers", "orelse", "finalbody"),
    "Tuple": ("elements",),
    "TypeAlias": ("name", "type_parameters", "value"),
    "TypeParam": ("param", "default"),
    "TypeParameters": ("params",),
    "TypeVar": ("name", "bound"),
    "TypeVarTuple": ("name",),
    "UnaryOperation": ("expression",),
    "While": ("test", "body", "orelse"),
    "With": ("items", "body"),
    "WithItem": ("item", "asname"),
    "Yield": ("value",),
}
"""The classes of nodes that the walk enters, and their children in the order of the text.

Left out: whitespace, comments, punctuation, operators and keywords, all of which their parent tells.
"""


def walk(
    module: libcst.Module, visitors: Sequence[libcst.CSTVisitor], quiet: Container[int] = frozenset()
) -> None:
    """Call the ``visit_*`` and ``leave_*`` methods of many visitors, as `libcst.CSTNode.visit` would.

    Nodes come in the order of the text; at each, the visitors are called in the order given. A visitor
    whose ``visit_*`` method returns False is not shown what is below the node, but still leaves the node.
    The methods of attributes (``visit_If_body``, ``leave_If_body``) are called around each attribute in
    `CHILD_FIELDS`, also where it is None. Never called: methods for classes and attributes that are not in
    `CHILD_FIELDS`, ``on_visit``, ``on_leave`` and their like. Below the nodes whose ids are ``quiet`` nobody
    is shown anything: there no visitor has methods.

    The walk itself does not recurse, however deep the tree is.

    Raises:
        ParseFailure: A method recursed too deeply.
    """
    plans = _Plans(tuple(visitors))
    try:
        _walk(module, plans, quiet)
    except RecursionError as error:
        raise ParseFailure(TOO_DEEP) from error
    finally:
        plans.let_go()


def _walk(module: libcst.Module, plans: _Plans, quiet: Container[int]) -> None:
    stack: list[Any] = [module]
    pop, push, extend = stack.pop, stack.append, stack.extend
    while stack:
        node = pop()
        plan = plans[node.__class__]
        if plan is None:
            continue
        visits, leaves, child, children = plan
        if visits is None:
            methods, node, plans = node
            for method in methods:
                method(node)
            continue
        if visits or leaves:
            refusing: list[libcst.CSTVisitor] = []
            for visitor, method in visits:
                if method(node) is False:
                    refusing.append(visitor)
            if id(node) in quiet:
                for method in leaves:
                    method(node)
                continue
            if leaves or refusing:
                push(_new_tuple(_Calls, (leaves, node, plans)))
            if refusing:
                plans = plans.without(refusing)
                plan = plans[node.__class__]
                if plan is None:
                    continue
                _, _, child, children = plan
        if child is not None:
            push(child(node))
        elif children is not None:
            extend(children(node))


_new_tuple = tuple.__new__


class _Calls(NamedTuple):
    """Stands on the stack of the walk among the nodes: methods to call, and the plans to go on with."""

    methods: tuple[_Method, ...]
    node: libcst.CSTNode
    plans: _Plans


class _Plan(NamedTuple):
    """What to do at a node of one class. Neither ``child`` nor ``children`` where nothing is below, or nobody
    looks."""

    visits: tuple[tuple[libcst.CSTVisitor, _Method], ...] | None = ()
    """None for `_Calls`."""
    leaves: tuple[_Method, ...] = ()
    child: Callable[[Any], Any] | None = None
    """Gives the only child, or a tuple of children."""
    children: Callable[[Any], Any] | None = None
    """Gives several such in reverse, which may be `_Calls` too."""


class _Plans(dict[type, "_Plan | None"]):
    """The plans of some visitors, each made when the walk first meets a node of the class. None where there
    is nothing to do."""

    def __init__(self, visitors: tuple[libcst.CSTVisitor, ...]) -> None:
        super().__init__()
        self._visitors = visitors
        self._kinds = tuple(map(type, visitors))
        self._fewer: dict[tuple[int, ...], _Plans] = {}
        self[_Calls] = _Plan(visits=None)
        self[tuple] = _Plan(children=reversed)
        self[type(None)] = self[libcst.MaybeSentinel] = None

    def without(self, refusing: list[libcst.CSTVisitor]) -> _Plans:
        """The plans of the other visitors."""
        key = tuple(map(id, refusing))
        if key not in self._fewer:
            self._fewer[key] = _Plans(tuple(visitor for visitor in self._visitors if id(visitor) not in key))
        return self._fewer[key]

    def let_go(self) -> None:
        """Leave nothing that holds itself, and the visitors with it, until the garbage collector comes."""
        for fewer in self._fewer.values():
            fewer.let_go()
        self.clear()

    def __missing__(self, kind: type) -> _Plan | None:
        visits, leaves, child, children, hooked = _outline(self._kinds, kind)
        if hooked:
            children = self._children_with_calls(hooked)
        plan = None
        if visits or leaves or child or children:
            visitors = self._visitors
            methods = tuple([(visitors[index], getattr(visitors[index], name)) for index, name in visits])
            plan = _Plan(methods, self._methods(leaves), child, children)
        self[kind] = plan
        return plan

    def _children_with_calls(
        self, fields: tuple[_HookedField, ...]
    ) -> Callable[[libcst.CSTNode], tuple[Any, ...]]:
        parts = [
            (self._methods(field.visits), field.child, self._methods(field.leaves))
            for field in reversed(fields)
        ]

        def children(node: libcst.CSTNode) -> tuple[Any, ...]:
            return tuple(
                part
                for before, child, after in parts
                for part in (_Calls(after, node, self), child(node), _Calls(before, node, self))
            )

        return children

    def _methods(self, hooks: _Hooks) -> tuple[_Method, ...]:
        return tuple([getattr(self._visitors[index], name) for index, name in hooks])


_Hooks: TypeAlias = tuple[tuple[int, str], ...]
"""Methods, by the position of their visitor and their name."""


class _HookedField(NamedTuple):
    """An attribute, around which methods are called."""

    visits: _Hooks
    child: Callable[[Any], Any]
    leaves: _Hooks


class _Outline(NamedTuple):
    """What the plans for one class of nodes have in common, whoever the visitors are, by their classes."""

    visits: _Hooks
    leaves: _Hooks
    child: Callable[[Any], Any] | None
    children: Callable[[Any], Any] | None
    hooked: tuple[_HookedField, ...]
    """Instead of ``child`` and ``children``, where methods of attributes are to be called."""


@cache
def _outline(visitors: tuple[type[libcst.CSTVisitor], ...], kind: type) -> _Outline:
    name = kind.__name__

    def hooks(method: str) -> _Hooks:
        return tuple(
            (index, method) for index, visitor in enumerate(visitors) if method in _method_names(visitor)
        )

    outline = _Outline(hooks(f"visit_{name}"), hooks(f"leave_{name}"), None, None, ())
    fields = CHILD_FIELDS.get(name)
    if not visitors:
        return outline
    if fields is None:  # a class of a newer LibCST
        return outline._replace(child=_children)
    hooked = tuple(
        _HookedField(hooks(f"visit_{name}_{field}"), attrgetter(field), hooks(f"leave_{name}_{field}"))
        for field in fields
    )
    if any(field.visits or field.leaves for field in hooked):
        return outline._replace(hooked=hooked)
    if not hooks("visit_Name") and not hooks("leave_Name"):
        fields = tuple(field for field in fields if (name, field) not in _NAMES)
    match fields:
        case ():
            return outline
        case (field,):
            return outline._replace(child=attrgetter(field))
        case _:
            return outline._replace(children=attrgetter(*reversed(fields)))


_NAMES = frozenset(
    {
        ("Arg", "keyword"),
        ("Attribute", "attr"),
        ("ClassDef", "name"),
        ("FunctionDef", "name"),
        ("Param", "name"),
    }
)
"""Fields that hold a name and nothing else."""


def _children(node: libcst.CSTNode) -> tuple[libcst.CSTNode, ...]:
    """What is below a node of any class; slow, since LibCST visits the node to find out."""
    return tuple(node.children)


@cache
def _method_names(visitor: type[libcst.CSTVisitor]) -> frozenset[str]:
    """The methods that a class of visitors has of its own: LibCST's base class has one for all there is."""
    return frozenset(
        name
        for name in dir(visitor)
        if name.startswith(("visit_", "leave_")) and not getattr(getattr(visitor, name), "_is_no_op", False)
    )
