"""A Ray cluster of this process's own: its servers listen on the loopback interface only, and ask for a token.

Ray by itself listens on all interfaces, and runs any code that it is sent.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from typing import Any

from heedful.errors import BadConfig

_TOKEN = secrets.token_hex(32)  # in the environment, which other users cannot read, and in no file
_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the name misleads: on any system, nodes then have the loopback address
    "RAY_AUTH_MODE": "token",  # older versions know no tokens and ignore it
    "RAY_AUTH_TOKEN": _TOKEN,
    "RAY_USAGE_STATS_ENABLED": "0",  # else it reports to its makers
}


@contextmanager
def own_cluster(processors: int) -> Iterator[Any]:
    """Ray, connected to a cluster of its own that ends with the block."""
    with _environment(_SETTINGS):
        import ray

        _read_settings_again()
        try:
            # no dashboard: it is a web server, and nobody looks
            ray.init(
                address="local",
                num_cpus=processors,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
            address = ray.util.get_node_ip_address()
            if not ip_address(address).is_loopback:
                raise BadConfig(
                    f"Ray {ray.__version__} listens on {address} instead of this machine's loopback interface: use "
                    "--on local, or start a cluster yourself (`ray start --head`) and give its --address"
                )
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _read_settings_again() -> None:
    """Ray reads its settings when it is imported, which may be long ago; it has no public function for this."""
    with suppress(ImportError, AttributeError):
        from ray._private import ray_constants

        ray_constants.ENABLE_RAY_CLUSTER = False
    with suppress(ImportError, AttributeError):  # a version without tokens
        raylet = import_module("ray._raylet")
        raylet.Config.initialize("")
        raylet.AuthenticationTokenLoader.instance().reset_cache()
