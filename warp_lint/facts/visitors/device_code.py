"""Kernels and other device functions: what their bodies read and call."""

from __future__ import annotations

from collections import Counter

import libcst as cst
import msgspec

from warp_lint.facts.context import Context
from warp_lint.facts.expressions import count_names, dotted_name, expression
from warp_lint.facts.records import Argument, DeviceCall, DeviceCode, DeviceLoop, Span
from warp_lint.facts.walk import walk

_DEVICE_DECORATORS = frozenset({"kernel", "func", "func_native", "func_grad", "func_replay"})


class _Body:
    """One function that is being looked at."""

    def __init__(self, node: cst.FunctionDef) -> None:
        self.node = node
        self.names: tuple[str, ...] = ()
        """Read by functions in it."""
        self.bound: set[str] = {parameter.name.value for parameter in _parameters(node.params)}
        self.without_reading: Counter[str] = Counter()
        """How often names stand where nothing is read: stored into, or asked for their shape."""
        self.calls: list[DeviceCall] = []
        self.loops: list[DeviceLoop] = []
        self.loop_stack: list[int] = []
        self.targets: dict[int, str] = {}
        """The names that are assigned, by the id of the value's node."""
        self.statements = 0


class DeviceCodeVisitor(cst.CSTVisitor):
    """Finds the functions that look like device code and tells the host visitors to leave the bodies of those
    that surely are alone. Summarises them all when the file has been walked: then what they call is known."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._found: set[int] = set()
        self._outermost: list[cst.FunctionDef] = []
        self._around: list[cst.FunctionDef] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        last_parts = [_last_part(decorator.decorator) for decorator in node.decorators]
        if any(part in _DEVICE_DECORATORS for part in last_parts):
            self.context.device_suites.add(id(node.body))
        elif not any("kernel" in part or "func" in part for part in last_parts) and not _takes_arrays(node):
            return
        self._found.add(id(node))
        if not self._around:
            self._outermost.append(node)
        self._around.append(node)

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        if self._around and self._around[-1] is original_node:
            self._around.pop()

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        return id(node) not in self.context.device_suites

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> bool:
        return id(node) not in self.context.device_suites

    def leave_Module(self, original_node: cst.Module) -> None:  # noqa: ARG002 (LibCST's name)
        visitors = [_SummaryVisitor(self.context, self._found)]
        walk(cst.Module(tuple(self._outermost)), visitors, self.context.quiet)


class _SummaryVisitor(cst.CSTVisitor):
    """Summarises functions that are device code: ``functions`` are their ids."""

    def __init__(self, context: Context, functions: set[int]) -> None:
        super().__init__()
        self.context = context
        self._functions = functions
        self._bodies: list[_Body] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        if self._bodies:
            self._bodies[-1].bound.add(node.name.value)
        if id(node) in self._functions:
            self._bodies.append(_Body(node))

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        if self._bodies[-1].node is not original_node:
            return
        body = self._bodies.pop()
        counts = count_names(original_node, self._functions - {id(original_node)})
        # What functions in it read from outside, it reads as well.
        names = tuple(name for name in dict.fromkeys((*counts, *body.names)) if name not in body.bound)
        parameters = [parameter.name.value for parameter in _parameters(original_node.params)]
        self.context.facts.device_code.append(
            DeviceCode(
                scope=self.context.scope_indices[id(original_node)],
                names=names,
                calls=tuple(body.calls),
                loops=tuple(body.loops),
                statements=body.statements,
                parameters_read=tuple(
                    name
                    for name in parameters
                    if counts.get(name, 0) > body.without_reading[name] or name in body.names
                ),
            )
        )
        if self._bodies:
            self._bodies[-1].names += names

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self._bodies[-1].statements += len(node.body)

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._bind(target.target)
            self._store(target.target)
        if len(node.targets) == 1:
            self._bodies[-1].targets[id(node.value)] = dotted_name(node.targets[0].target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._bind(node.target)
        self._bodies[-1].targets[id(node.value)] = dotted_name(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._bind(node.target)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        if type(node.value) is cst.Name and node.attr.value == "shape":
            self._bodies[-1].without_reading[node.value.value] += 1

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._bind(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._bind(node.target)
        if not _counts(node):
            return
        body = self._bodies[-1]
        parent = body.loop_stack[-1] if body.loop_stack else -1
        body.loop_stack.append(len(body.loops))
        body.loops.append(
            DeviceLoop(
                arguments=tuple(
                    expression(argument.value, self.context)
                    for argument in cst.ensure_type(node.iter, cst.Call).args
                ),
                target=dotted_name(node.target),
                span=self.context.span(node),
                parent=parent,
                statements=body.statements,
                header_span=Span(self.context.span(node).start, self.context.span(node.iter).end),
                breaks=_breaks(node.body),
            )
        )

    def leave_For(self, original_node: cst.For) -> None:
        if not _counts(original_node):
            return
        body = self._bodies[-1]
        index = body.loop_stack.pop()
        loop = body.loops[index]
        body.loops[index] = msgspec.structs.replace(loop, statements=body.statements - loop.statements)

    def leave_Call(self, original_node: cst.Call) -> None:
        function = dotted_name(original_node.func)
        if not function:
            return
        body = self._bodies[-1]
        last_part = function.rpartition(".")[2]
        arguments: tuple[Argument, ...] = ()
        if last_part == "static" or last_part.startswith("tile_"):
            arguments = tuple(map(self._argument, original_node.args))
        body.calls.append(
            DeviceCall(
                function=expression(original_node.func, self.context),
                arguments=arguments,
                span=self.context.span(original_node),
                loop=body.loop_stack[-1] if body.loop_stack else -1,
                target=body.targets.get(id(original_node), ""),
            )
        )

    def _argument(self, node: cst.Arg) -> Argument:
        keyword = node.keyword.value if node.keyword is not None else node.star or None
        return Argument(
            expression(node.value, self.context),
            keyword,
            self.context.span(node.value),
        )

    def _store(self, target: cst.CSTNode) -> None:
        if type(target) is cst.Tuple or type(target) is cst.List:
            for element in target.elements:
                self._store(element.value)
        while type(target) is cst.Subscript:
            target = target.value
            if type(target) is cst.Name:
                self._bodies[-1].without_reading[target.value] += 1

    def _bind(self, target: cst.CSTNode) -> None:
        if type(target) is cst.Name:
            self._bodies[-1].bound.add(target.value)
        elif type(target) is cst.Tuple or type(target) is cst.List:
            for element in target.elements:
                self._bind(element.value)


def _counts(loop: cst.For) -> bool:
    """Whether a loop goes over a ``range``."""
    return type(loop.iter) is cst.Call and dotted_name(loop.iter.func) == "range"


def _breaks(suite: cst.BaseSuite) -> bool:
    """Whether a ``break`` in the body of a loop ends this loop, not one inside of it."""
    for statement in suite.body:
        if type(statement) is cst.SimpleStatementLine:
            if any(type(part) is cst.Break for part in statement.body):
                return True
        elif type(statement) is cst.If and _branch_breaks(statement):
            return True
    return False


def _branch_breaks(branch: cst.If | cst.Else) -> bool:
    if _breaks(branch.body):
        return True
    return type(branch) is cst.If and branch.orelse is not None and _branch_breaks(branch.orelse)


def _last_part(decorator: cst.BaseExpression) -> str:
    while type(decorator) is cst.Call:
        decorator = decorator.func
    if type(decorator) is cst.Attribute:
        return decorator.attr.value
    return decorator.value if type(decorator) is cst.Name else ""


def _parameters(parameters: cst.Parameters) -> list[cst.Param]:
    return [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]


def _takes_arrays(node: cst.FunctionDef) -> bool:
    """Whether a parameter's annotation names an array type (``wp.array(dtype=…)``, ``wp.array2d[float]``)."""
    for parameter in _parameters(node.params):
        if parameter.annotation is None:
            continue
        named: cst.BaseExpression = parameter.annotation.annotation
        while type(named) in (cst.Call, cst.Subscript):
            named = named.func if type(named) is cst.Call else cst.ensure_type(named, cst.Subscript).value
        if type(named) is cst.Attribute and "array" in named.attr.value:
            return True
    return False
