"""LibCST nodes that are made without their constructors.

A constructor validates what is known to be right here, and makes blanks that nobody looks at: it takes ten
times as long. What is made here has only the fields that a walk enters (`CHILD_FIELDS`), which the functions
take in their order, and those that visitors read besides. It cannot be written out as code, changed, or
visited by `libcst.CSTNode.visit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from warp_lint.facts.walk import CHILD_FIELDS

Node = TypeVar("Node", bound=cst.CSTNode)
_new = object.__new__


def _maker(kind: type[Node], *more_fields: str) -> Callable[..., Node]:
    """A function that makes a node of its children and ``more_fields``."""
    # By the descriptors of the slots: half of the time that `object.__setattr__` takes.
    setters = [getattr(kind, field).__set__ for field in (*CHILD_FIELDS[kind.__name__], *more_fields)]
    match setters:
        case []:
            return lambda: _new(kind)
        case [set_first]:

            def make_of_one(first: object) -> Node:
                node = _new(kind)
                set_first(node, first)
                return node

            return make_of_one
        case [set_first, set_second]:

            def make_of_two(first: object, second: object) -> Node:
                node = _new(kind)
                set_first(node, first)
                set_second(node, second)
                return node

            return make_of_two
        case [set_first, set_second, set_third]:

            def make_of_three(first: object, second: object, third: object) -> Node:
                node = _new(kind)
                set_first(node, first)
                set_second(node, second)
                set_third(node, third)
                return node

            return make_of_three

    def make(*values: object) -> Node:
        node = _new(kind)
        for set_field, value in zip(setters, values, strict=True):
            set_field(node, value)
        return node

    return make


ann_assign = _maker(cst.AnnAssign)
annotation = _maker(cst.Annotation)
arg = _maker(cst.Arg, "star")
as_name = _maker(cst.AsName)
assertion = _maker(cst.Assert)
assign = _maker(cst.Assign)
assign_target = _maker(cst.AssignTarget)
attribute = _maker(cst.Attribute)
aug_assign = _maker(cst.AugAssign, "operator")
await_ = _maker(cst.Await)
binary_operation = _maker(cst.BinaryOperation, "operator")
boolean_operation = _maker(cst.BooleanOperation, "operator")
break_ = _maker(cst.Break)
call = _maker(cst.Call)
class_def = _maker(cst.ClassDef)
comp_for = _maker(cst.CompFor)
comp_if = _maker(cst.CompIf)
comparison = _maker(cst.Comparison)
comparison_target = _maker(cst.ComparisonTarget, "operator")
continue_ = _maker(cst.Continue)
decorator = _maker(cst.Decorator)
del_ = _maker(cst.Del)
dict_ = _maker(cst.Dict)
dict_comp = _maker(cst.DictComp)
dict_element = _maker(cst.DictElement)
element = _maker(cst.Element)
ellipsis = _maker(cst.Ellipsis)
else_ = _maker(cst.Else)
except_handler = _maker(cst.ExceptHandler)
except_star_handler = _maker(cst.ExceptStarHandler)
expr = _maker(cst.Expr)
finally_ = _maker(cst.Finally)
float_ = _maker(cst.Float, "value")
for_ = _maker(cst.For)
formatted_string = _maker(cst.FormattedString, "start")
formatted_string_expression = _maker(cst.FormattedStringExpression)
formatted_string_text = _maker(cst.FormattedStringText, "value")
from_ = _maker(cst.From)
function_def = _maker(cst.FunctionDef, "asynchronous")
generator_exp = _maker(cst.GeneratorExp)
global_ = _maker(cst.Global)
if_ = _maker(cst.If)
if_exp = _maker(cst.IfExp)
imaginary = _maker(cst.Imaginary, "value")
import_ = _maker(cst.Import)
import_alias = _maker(cst.ImportAlias)
import_from = _maker(cst.ImportFrom, "relative")
import_star = _maker(cst.ImportStar)
indented_block = _maker(cst.IndentedBlock)
index = _maker(cst.Index, "star")
integer = _maker(cst.Integer, "value")
lambda_ = _maker(cst.Lambda)
list_ = _maker(cst.List)
list_comp = _maker(cst.ListComp)
match = _maker(cst.Match)
match_as = _maker(cst.MatchAs)
match_case = _maker(cst.MatchCase)
match_class = _maker(cst.MatchClass)
match_keyword_element = _maker(cst.MatchKeywordElement)
match_list = _maker(cst.MatchList)
match_mapping = _maker(cst.MatchMapping)
match_mapping_element = _maker(cst.MatchMappingElement)
match_or = _maker(cst.MatchOr)
match_or_element = _maker(cst.MatchOrElement)
match_sequence_element = _maker(cst.MatchSequenceElement)
match_singleton = _maker(cst.MatchSingleton)
match_star = _maker(cst.MatchStar)
match_value = _maker(cst.MatchValue)
module = _maker(cst.Module)
name = _maker(cst.Name, "value")
name_item = _maker(cst.NameItem)
named_expr = _maker(cst.NamedExpr)
nonlocal_ = _maker(cst.Nonlocal)
param = _maker(cst.Param)
parameters = _maker(cst.Parameters)
pass_ = _maker(cst.Pass)
raise_ = _maker(cst.Raise)
return_ = _maker(cst.Return)
set_ = _maker(cst.Set)
set_comp = _maker(cst.SetComp)
simple_statement_line = _maker(cst.SimpleStatementLine)
simple_statement_suite = _maker(cst.SimpleStatementSuite)
simple_string = _maker(cst.SimpleString, "value")
slice_ = _maker(cst.Slice)
starred_dict_element = _maker(cst.StarredDictElement)
starred_element = _maker(cst.StarredElement)
subscript = _maker(cst.Subscript)
subscript_element = _maker(cst.SubscriptElement, "comma")
try_ = _maker(cst.Try)
try_star = _maker(cst.TryStar)
tuple_ = _maker(cst.Tuple)
unary_operation = _maker(cst.UnaryOperation, "operator")
while_ = _maker(cst.While)
with_ = _maker(cst.With)
with_item = _maker(cst.WithItem)
yield_ = _maker(cst.Yield)
