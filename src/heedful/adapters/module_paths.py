"""A module inside a module, by its dotted name."""

from difflib import get_close_matches

from torch import nn

from heedful.errors import BadConfig

LISTED = 20  # names that an error lists


def submodule(model: nn.Module, path: str, what: str) -> nn.Module:
    """The named module; an unknown name is answered with those it was meant for."""
    modules: dict[str, nn.Module] = dict(model.named_modules(remove_duplicate=False))
    names = [name for name in modules if name]
    if path in names:
        return modules[path]
    near = get_close_matches(path, names, n=3)
    last = path.rpartition(".")[2].lower()
    near += [name for name in names if last and last in name.rpartition(".")[2].lower() and name not in near]
    hint = f" (did you mean {' or '.join(map(repr, near[:3]))}?)" if near else ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = ", ".join(names[:LISTED]) or "none"
    raise BadConfig(f"{what}={path!r}: the model has no such module{hint}; its modules: {listed}{more}")
