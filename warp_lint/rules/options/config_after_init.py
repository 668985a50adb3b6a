from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import move_config_to_top
from warp_lint.facts.records import CallFact
from warp_lint.findings import Applicability, Finding, Fix, Level, Location, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import last_name
from warp_lint.project.options import ConfigWrite
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, ReadTime, find

_INITIALIZING = (
    "init", "array", "zeros", "ones", "empty", "full", "zeros_like", "from_numpy", "get_device",
    "get_devices", "get_cuda_devices", "get_cuda_device", "get_preferred_device", "set_device",
    "is_cuda_available", "launch", "launch_tiled", "load_module", "force_load", "ScopedDevice", "Stream",
    "Event", "Mesh", "HashGrid", "Bvh", "Volume", "synchronize",
)  # fmt: skip
"""Functions of Warp that initialize it, when nothing has before."""


class ConfigAfterInit(Rule):
    """A setting that Warp reads when it initializes is assigned after that.

    ## What it does
    Reports assignments to `enable_mempools_at_init`, `track_memory` and, where the target Warp has them,
    `quiet` and `verbose` banners, that come after `wp.init()` or the first call that needs a device in the
    same scope.

    ## Why is this bad
    Warp has read the attribute by then: the assignment changes nothing.

    ## Example
    ```python
    wp.init()
    wp.config.enable_mempools_at_init = False
    ```

    ## Use instead
    ```python
    wp.config.enable_mempools_at_init = False
    wp.init()
    ```

    ## Fix safety
    The fix moves the assignment behind the imports. It is unsafe: the attribute takes effect then.
    """

    code = "WRP304"
    name = "config-after-init"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        initializing: dict[tuple[int, int], list[CallSite]] = {}
        for site in sorted(project.calls_of(*_INITIALIZING)):
            initializing.setdefault((site.file, project.call(site).scope), []).append(site)
        for config in project.config_writes:
            attribute = find(CONFIG_ATTRIBUTES, config.name, project.settings.target_version)
            if attribute is None or attribute.read is not ReadTime.INIT:
                continue
            place = config.place
            for site in initializing.get((place.file, place.scope), ()):
                call = project.call(site)
                is_before = call.order < place.order and config.file.may_reach(call.block, place.block)
                if is_before and not _is_annotation(call):
                    yield self._finding(config, config.file.facts.location(call.span), project)
                    break

    def _finding(self, config: ConfigWrite, call: Location, project: Project) -> Finding:
        return self.finding(
            config.location,
            f"wp.config.{config.name} is set after Warp has initialized, which is when it is read",
            suppression_range=config.file.facts.location(config.span).range,
            related=[Related("initialized here", call)],
            fix=self._fix(config, project),
        )

    def _fix(self, config: ConfigWrite, project: Project) -> Fix | None:
        edits = move_config_to_top(config, project)
        if edits is None:
            return None
        return Fix("Set the attribute behind the imports", Applicability.UNSAFE, edits)


def _is_annotation(call: CallFact) -> bool:
    """Whether a call is the type ``wp.array(dtype=…)``, which holds no data."""
    return last_name(call.function) == "array" and all(
        argument.keyword in ("dtype", "ndim") for argument in call.arguments
    )
