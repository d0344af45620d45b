"""Two hosts of namespaces, joined by a link that tc shapes, and the commands that start jobs on them."""

import contextlib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("tests/hosts", "bench/shaped_link"):
    sys.path.insert(0, os.path.join(ROOT, folder))

import measure  # noqa: E402  below the path
import namespaces  # noqa: E402

SHAPE = "tbf rate 1gbit burst 256kb latency 50ms"
MEGABYTES = 125  # that the link carries in a second, headers among them
NETWORK = "two hosts of namespaces, a link of 1 Gbit/s"


class Pair:
    """The two hosts, made when they are first needed, each with a processor of its own."""

    def __init__(self, build):
        self.build = build
        self._network = None
        self._trouble = ""
        self._stack = contextlib.ExitStack()

    def trouble(self):
        """Why there are no such hosts; empty: there are."""
        if not self._network and not self._trouble:
            try:
                if len(os.sched_getaffinity(0)) < 2:
                    raise namespaces.Forbidden("there is one processor")
                self._network = self._stack.enter_context(
                    namespaces.Network(2, os.path.abspath(self.build), SHAPE))
            except (namespaces.Forbidden, OSError) as error:
                self._trouble = f"this machine lets us make no hosts of namespaces: {error}"
        return self._trouble

    def command(self, system, arguments, environment):
        """One that runs a job of a rank on each host."""
        rsh = measure.bound(self._network, self._network.folder.name)
        names = [host.name for host in self._network.hosts]
        return self._network.command(system.between(self.build, names, rsh, arguments, environment))

    def end(self):
        self._stack.close()
        self._network = None


def shown(system, build, arguments, environment):
    """The command as the report has it, without folders of a run."""
    return system.between(build, ["host1", "host2"], "RSH", arguments, environment)
