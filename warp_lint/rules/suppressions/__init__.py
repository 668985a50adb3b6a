"""Rules about the linter itself: its suppressions, and files that it cannot read.

They look at sources instead of facts, so their `check` finds nothing: `warp_lint.suppressions` and
`warp_lint.run` hand them what they report.
"""
