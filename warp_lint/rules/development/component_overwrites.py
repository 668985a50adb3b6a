from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, find


class ComponentOverwrites(Rule):
    """The longer code for component assignments is on for every module.

    ## What it does
    Reports `wp.config.enable_vector_component_overwrites = True` where no condition decides about it. Tests
    may set it.

    ## Why is this bad
    With it, every assignment to a component of a vector, matrix or quaternion makes a copy of the whole
    value, so that a component can be written more than once in code that is differentiated. The copies make
    the source longer and the build slower, in all modules of the process, also in those that need none of it.

    ## Example
    ```python
    wp.config.enable_vector_component_overwrites = True


    @wp.kernel
    def shift(x: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        v = x[i]
        v[0] = v[0] + 1.0
        x[i] = v
    ```

    ## Use instead
    ```python
    @wp.kernel
    def shift(x: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        v = x[i]
        x[i] = wp.vec3(v[0] + 1.0, v[1], v[2])
    ```

    ## Fix safety
    There is no fix: which kernels write a component twice and are differentiated, only the author knows.
    """

    code = "WRP805"
    name = "component-overwrites"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        if find(CONFIG_ATTRIBUTES, "enable_vector_component_overwrites", version) is None:
            return
        for setting in project.lasting_settings:
            is_on = setting.is_config and setting.values == (constant(True),)
            if setting.name == "enable_vector_component_overwrites" and is_on:
                yield self.finding(
                    setting.location,
                    "component assignments copy whole vectors in every module, whether it is differentiated "
                    "or not",
                    suppression_range=setting.suppression_range,
                )
