"""Hosts made of Linux namespaces: each has a network, memory files, /tmp, host name and processes of
its own, so that nothing but the network between them connects their ranks.

    with Network(2) as network:
        network.hosts[0].name               # "host1"
        network.rsh                         # for gexrun --rsh
        network.command([...])              # on the front end, which reaches all hosts

The front end is the machine itself, but with a network of its own, in which a bridge joins the hosts'
links, and a /dev/shm and /tmp of its own, so that what a job leaves there is distinguished from all else. A
host is its first process: when that is killed all of the host is gone.
"""

import argparse
import contextlib
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

SKIPPED = 77
FRONT_ADDRESS = "10.77.0.254"
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# An address that no host has.
NOWHERE = "02:00:00:00:00:01"


class Forbidden(Exception):
    """This machine does not let us make namespaces."""


def build_folder(path):
    """For a command line: a build's folder, absolute."""
    if not os.path.isdir(os.path.join(path, "bin")):
        raise argparse.ArgumentTypeError(f"{path} is no build's folder, there is no bin in it")
    return os.path.abspath(path)


def restore_signals():
    """Also in the jobs, which leave ignored what they find so: in a shell's background these are."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def wait_for(condition, what, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(what)
        time.sleep(0.01)


def child_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as children:
        found = children.read().split()
    return int(found[0]) if found else None


def namespace_of(process, kind):
    """Null: it has none any more."""
    try:
        return os.readlink(f"/proc/{process}/ns/{kind}")
    except OSError:
        return None


class Namespace:
    """Processes in namespaces of their own, held by one that sleeps. They have an empty /dev/shm and
    /tmp, but for what of the folders `keep` lies in /tmp."""

    # Only processes inside see one another.
    has_processes = True

    def __init__(self, flags, script, keep, forks):
        self.kept = {path.split("/")[2] for path in keep if path.startswith("/tmp/")}
        hide = ["mount -t tmpfs tmpfs /dev/shm", "mount -t tmpfs tmpfs /mnt"]
        for name in map(shlex.quote, self.kept):
            hide += [f"mkdir /mnt/{name}", f"mount --rbind /tmp/{name} /mnt/{name}"]
        hide += ["mount --move /mnt /tmp"]
        # Nothing stays when the test is killed.
        command = ["setpriv", "--pdeathsig", "KILL", "setsid", "unshare", *flags, "--propagation",
                   "private", "bash", "-c",
                   " && ".join([*hide, script, "echo ready", "trap '' CHLD", "exec sleep infinity"])]
        self.holder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            why = self.holder.stderr.read().strip().replace("\n", "; ")
            self.holder.wait()
            raise Forbidden(why)
        self.init = child_of(self.holder.pid) if forks else self.holder.pid
        self.own = {self.init, self.holder.pid}

    def enter(self):
        raise NotImplementedError

    def named_processes(self, ended=True):
        """Processes besides the namespace's own, as this machine numbers them, and their names: those
        inside, and those that wait outside for one of them (nsenter). `ended`: also those whose parent
        has not asked yet how they have ended."""
        kinds = ("net", "pid") if self.has_processes else ("net",)
        inside = {namespace_of(self.init, kind) for kind in kinds} - {None}
        found = {}
        for entry in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if entry in self.own:
                continue
            # A process that waits outside is in the same network; one that has ended is in no network.
            if not inside.intersection(namespace_of(entry, kind) for kind in kinds):
                continue
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as stat:
                    name, state = re.search(r"\((.*)\) (.)", stat.read(), re.DOTALL).groups()
                if ended or state != "Z":
                    found[entry] = name
            except OSError:
                pass
        return found

    def processes(self, ended=True):
        return list(self.named_processes(ended).values())

    def leftovers(self):
        """The leftovers of a job: processes, and files of shared memory and /tmp. ThreadSanitizer
        itself leaves one of a process that is killed while it starts."""
        files = self.call("sh", "-c", "ls -A /dev/shm; ls -A /tmp").split()
        return self.processes() + [name for name in files if name not in self.kept
                                   and not name.startswith("tsan.rodata.")]

    def call(self, *command):
        """Runs a command inside, which must succeed; its output."""
        done = subprocess.run([*self.enter(), *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(command)}: {done.stdout}")
        return done.stdout

    def end(self):
        if self.holder.poll() is None:
            try:
                os.kill(self.init, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.holder.wait()
        self.holder.stdout.close()
        self.holder.stderr.close()


class Front(Namespace):
    name = "the front end"
    has_processes = False

    def __init__(self, keep):
        super().__init__(["-n", "-m"], "ip link set lo up && ip link add bridge type bridge && "
                         f"ip address add {FRONT_ADDRESS}/24 dev bridge && ip link set bridge up", keep,
                         forks=False)

    def enter(self):
        return ["sh", "-c", f'exec nsenter -t {self.init} -n -m --wdns="$PWD" -- "$@"', "sh"]


def unpack_sshd(folder):
    """Debian's sshd with what it needs, unpacked into `folder` and not installed, which would have it
    listen on this machine. Nothing where it cannot be had."""
    with tempfile.TemporaryDirectory(prefix="sshd-", dir=os.path.dirname(folder)) as download:
        wanted = ["apt-get", "-qq", "download", "openssh-server", "libwrap0"]
        if not shutil.which("apt-get") or subprocess.run(
                wanted, cwd=download, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False).returncode != 0:
            return
        for package in os.listdir(download):
            subprocess.run(["dpkg-deb", "-x", package, "unpacked"], cwd=download, check=True)
        os.rename(f"{download}/unpacked", folder)


def find_sshd(keep):
    """The command that starts this machine's sshd, or Debian's, which is then kept in `keep`. Null where
    there is none."""
    installed = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
    if installed:
        return [installed]
    folder = os.path.join(keep, "sshd")
    if not os.path.exists(folder):
        unpack_sshd(folder)
    libraries = {os.path.dirname(path) for path in glob.glob(f"{folder}/**/lib*.so*", recursive=True)}
    sshd = f"{folder}/usr/sbin/sshd"
    if not os.path.exists(sshd):
        return None
    return ["env", f"LD_LIBRARY_PATH={':'.join(sorted(libraries))}", sshd]


class Host(Namespace):
    def __init__(self, number, keep):
        self.name = f"host{number}"
        self.number = number
        self.address = f"10.77.0.{number}"
        super().__init__(["-n", "-u", "-i", "-m", "-p", "-f", "--kill-child"],
                         f"mount -t proc proc /proc && hostname {self.name} && ip link set lo up", keep,
                         forks=True)

    def enter(self):
        return ["nsenter", "-t", str(self.init), "-n", "-u", "-i", "-m", "-p"]

    def join(self, front, shape):
        """Connects the host to the front end's bridge; `shape`: what tc adds to both ends."""
        link = f"port{self.number}"
        front.call("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns",
                   str(self.init))
        front.call("ip", "link", "set", link, "master", "bridge", "up")
        self.call("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.call("ip", "link", "set", "eth0", "up")
        if shape:
            self.call("tc", "qdisc", "add", "dev", "eth0", "root", *shape.split())
            front.call("tc", "qdisc", "add", "dev", link, "root", *shape.split())

    def cut(self):
        """The link goes down, without a report to any process."""
        self.call("ip", "link", "set", "eth0", "down")

    def mend(self):
        self.call("ip", "link", "set", "eth0", "up")

    def lose_way_to(self, address):
        """Loses packets of the host to that address, for now."""
        self.call("ip", "neighbor", "replace", address, "lladdr", NOWHERE, "dev", "eth0", "nud",
                  "permanent")

    def find_way_to(self, address):
        self.call("ip", "neighbor", "delete", address, "dev", "eth0")

    def freeze(self):
        """All processes stop; so does, by itself, nsenter outside that waits for one of them."""
        self._signal(signal.SIGSTOP, [process for process in self.named_processes()
                                      if self._is_inside(process)])

    def thaw(self):
        """They go on. Nsenter comes last: it would stop again, seeing that what it waits for has."""
        self._signal(signal.SIGCONT, sorted(self.named_processes(), key=self._is_inside, reverse=True))

    def _is_inside(self, process):
        return namespace_of(process, "pid") == namespace_of(self.init, "pid")

    @staticmethod
    def _signal(number, processes):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self):
        """All of the host's processes end at once, and its link vanishes."""
        os.kill(self.init, signal.SIGKILL)
        # It is the child of the holder, which ends a moment later.
        self.holder.wait()

    def alive(self):
        return self.holder.poll() is None

    def serve_ssh(self, sshd, configuration):
        """Lets others log in; what sshd runs in, and the user that it becomes, go with the host."""
        self.call("sh", "-c", "mount -t tmpfs tmpfs /run && mkdir /run/sshd && "
                  "{ grep -q ^sshd: /etc/passwd || { cp /etc/passwd /run/passwd && "
                  "echo sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin >>/run/passwd && "
                  "mount --bind /run/passwd /etc/passwd; }; } && "
                  f"exec {shlex.join(sshd)} -f {shlex.quote(configuration)}")
        wait_for(lambda: ":22 " in self.call("ss", "-Hltn"), "sshd")
        self.own.add(child_of(self.init))


class Network:
    """`count` hosts on one bridge. `keep`: a folder that all see. `rsh` HOST WORD... runs a command
    on one of them; `ssh` [OPTION...] HOST TEXT... gives a text to its shell, as the real one does."""

    def __init__(self, count, keep, shape="tbf rate 1gbit burst 256kb latency 50ms"):
        self.count = count
        self.keep = keep
        self.shape = shape
        self.hosts = []
        self.front = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise Forbidden("only root makes hosts of namespaces")
        try:
            self.front = Front([self.keep, SOURCES])
            for number in range(1, self.count + 1):
                host = Host(number, [self.keep])
                self.hosts.append(host)
                host.join(self.front, self.shape)
            # The hosts see it too: launchers look for what they start others with there.
            self.folder = tempfile.TemporaryDirectory(prefix="hosts-", dir=self.keep)
            self.rsh = os.path.join(self.folder.name, "rsh")
            with open(self.rsh, "w", encoding="utf-8") as script:
                script.write("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
                for host in self.hosts:
                    script.write(f'{host.name}) exec {shlex.join(host.enter())} -- "$@" ;;\n')
                script.write('esac\necho "rsh: no host $host" >&2\nexit 255\n')
            os.chmod(self.rsh, 0o755)
            self.ssh = os.path.join(self.folder.name, "ssh")
            with open(self.ssh, "w", encoding="utf-8") as script:
                script.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1\n'
                             f'shift\nexec {self.rsh} "$host" sh -c "$*"\n')
            os.chmod(self.ssh, 0o755)
        except BaseException as error:
            self.__exit__()
            # As by a kernel without such links or queues.
            if isinstance(error, RuntimeError):
                raise Forbidden(str(error).strip().replace("\n", "; ")) from error
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()
        if self.front:
            self.front.end()
        for name in ("folder", "keys"):
            if hasattr(self, name):
                getattr(self, name).cleanup()

    def serve_ssh(self):
        """Has all hosts serve ssh; the folder of an `ssh` that finds and trusts them. Null where there
        is no sshd, or it refuses root."""
        sshd = find_sshd(self.keep)
        if sshd is None:
            return None
        self.keys = tempfile.TemporaryDirectory(dir=self.keep)
        folder = self.keys.name
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"],
                           check=True)
        with open(f"{folder}/sshd_config", "w", encoding="utf-8") as text:
            text.write(f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nPidFile none\n"
                       "StrictModes no\nUsePAM no\nPermitRootLogin yes\n")
        with open(f"{folder}/ssh_config", "w", encoding="utf-8") as text:
            for host in self.hosts:
                host.serve_ssh(sshd, f"{folder}/sshd_config")
                text.write(f"Host {host.name}\n  HostName {host.address}\n")
            text.write(f"Host *\n  User root\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
                       "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n"
                       "  LogLevel ERROR\n")
        with open(f"{folder}/ssh", "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
        os.chmod(f"{folder}/ssh", 0o755)
        one = self.command([f"{folder}/ssh", "-o", "BatchMode=yes", self.hosts[0].name, "true"])
        return folder if subprocess.run(one, check=False).returncode == 0 else None

    def command(self, words):
        """`words` as they are run on the front end."""
        return [*self.front.enter(), *words]
