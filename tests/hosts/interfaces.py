"""Hosts with interfaces that do not lead to one another, as users' machines have them beside the one
that does: bridges of containers, tunnels, cables that are not plugged in. For hosts_test.py.
"""

import os
import subprocess
import sys

# What users choose an interface by.
VARIABLES = {"udp": "GEX_UDP_INTERFACE", "ofi": "GEX_OFI_INTERFACE", "ucx": "GEX_UCX_DEVICES",
             "mpi": "GEX_MPI_INTERFACE"}


def networks(job, *without):
    """The networks of this build that IP carries."""
    lib = os.path.join(job.build, "lib")
    built = {"udp": True, "ofi": os.path.exists(f"{lib}/libgex-ofi.so"),
             "ucx": os.path.exists(f"{lib}/libgex-ucx.so"),
             "mpi": os.path.exists(f"{lib}/libgex-mpi-mpich.so") and not job.is_sanitized()}
    return [name for name in VARIABLES if built[name] and name not in without]


def add_interfaces(job):
    """docker0 with one address on all hosts, br-x with one subnet on all that is each host's own, dead
    without a carrier, tun0. Both bridges have a carrier. eth0 is not in one subnet with the others'."""
    for number, host in enumerate(job.network.hosts, 1):
        for bridge, address in (("docker0", "172.17.0.1/16"), ("br-x", f"172.18.0.{number}/16")):
            host.call("sh", "-c", f"ip link add {bridge} type bridge && ip link add c-{bridge} type veth "
                      f"peer name i-{bridge} && ip link set c-{bridge} master {bridge} up && "
                      f"ip link set i-{bridge} up && ip addr add {address} dev {bridge} && "
                      f"ip link set {bridge} up")
        host.call("sh", "-c", "ip link add dead type veth peer name no-cable && "
                  f"ip addr add 192.168.50.{number}/24 dev dead && ip link set dead up && "
                  f"ip link add tun0 type veth peer name tun1 && ip addr add 10.9.0.{number}/32 dev tun0 && "
                  "ip link set tun0 up && ip link set tun1 up && "
                  f"ip addr del {host.address}/24 dev eth0 && ip addr add {host.address}/32 dev eth0 && "
                  "ip route add 10.77.0.0/24 dev eth0")


def run(job, network, **variables):
    return job.run(1, job.tool("hosts_probe"), limit=60, environment={
        "GEX_CONDUIT": network, "GEX_VERBOSE": "1", "GEX_MPI": "mpich", "UCX_MEM_EVENTS": "no",
        **variables})


def every_network_finds_the_interface_that_leads_to_the_others(job):
    add_interfaces(job)
    for network in networks(job):
        done = run(job, network)
        own = job.network.hosts[0].address
        assert done.returncode == 0, f"{network}: {done.stdout}{done.stderr}"
        lines = [line for line in done.stderr.splitlines() if "ranks of different hosts" in line]
        assert len(lines) == 1, f"{network} does not print which way: {done.stderr}"
        texts = [f"{own} (eth0), where the other hosts reach it"]
        # UCX itself names the interfaces, those of /sys, which in a host of namespaces is the machine's.
        if network != "ucx":
            texts += ["172.17.0.1 (docker0): several hosts have it", "172.18.0.1 (br-x): host2 has no "]
        for text in texts:
            assert text in lines[0], f"{network} has no {text}: {lines[0]}"


def what_does_not_join_the_hosts_is_named_with_the_variable(job):
    for network in networks(job)[:2]:
        done = run(job, network, **{VARIABLES[network]: "br-x"})
        lines = [line for line in done.stderr.splitlines() if " do not reach each other: " in line]
        assert done.returncode == 1 and len(lines) == 1, f"{network}: {done.stdout}{done.stderr}"
        for text in ("hosts host1 and host2", "host1 at 172.18.0.1 (br-x): ",
                     "host2 at 172.18.0.2 (br-x): ", VARIABLES[network]):
            assert text in lines[0], f"{network} has no {text}: {lines[0]}"


def close_all_ports_but(job, ports):
    """Acts as a firewall on each host does that has no record of connections."""
    for host in job.network.hosts:
        # Addresses of this host itself are looked up behind the rules.
        rules = ["add prio 200 lookup local", "del prio 0"]
        for protocol in ("tcp", "udp"):
            rules += [f"add prio 8 iif eth0 ipproto {protocol} {end} {ports} lookup local"
                      for end in ("dport", "sport")]
            rules += [f"add prio 10 iif eth0 ipproto {protocol} blackhole"]
        host.call("sh", "-c", " && ".join(f"ip rule {rule}" for rule in rules))


def the_ports_that_a_firewall_passes_are_enough(job):
    for network in networks(job, "mpi"):
        done = run(job, network, GEX_PORTS="41000-41015")
        assert done.returncode == 0, f"{network}, all ports: {done.stdout}{done.stderr}"
    # UCX takes no port of a connection that has just ended.
    for network in networks(job, "mpi", "ucx"):
        done = run(job, network, GEX_PORTS="41000", GEX_LAUNCH_PORTS="41001",
                   **{f"GEX_{network.upper()}_LANES": "1"})
        assert done.returncode == 0, f"{network}, a port for each: {done.stdout}{done.stderr}"
    close_all_ports_but(job, "41000-41015")
    done = run(job, "udp", GEX_LAUNCH_PORTS="41000")
    assert done.returncode == 1, f"the firewall passes all: {done.stdout}{done.stderr}"
    for network in networks(job, "mpi"):
        done = run(job, network, GEX_PORTS="41000-41015")
        assert done.returncode == 0, f"{network}, by a firewall: {done.stdout}{done.stderr}"


def ports_that_are_all_taken_are_named(job):
    holder = ("import socket,sys; one=socket.socket(); one.bind(('', 41000)); one.listen(); "
              "two=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); two.bind(('', 41000)); "
              "print('ready', flush=True); sys.stdin.read()")
    with subprocess.Popen([*job.network.hosts[1].enter(), sys.executable, "-c", holder],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as taken:
        assert taken.stdout.readline() == "ready\n"
        for network in networks(job, "mpi"):
            done = run(job, network, GEX_PORTS="41000", GEX_LAUNCH_PORTS="41001")
            lines = [line for line in done.stderr.splitlines() if "no allowed port is free" in line]
            assert done.returncode == 1 and len(lines) == 1 and "host2 at 10.77.0.2 (eth0): " in lines[0], \
                f"{network} does not name them: {done.stdout}{done.stderr}"
        taken.communicate()


def ucx_on_one_host_opens_no_port(job):
    if "ucx" not in networks(job):
        return
    host = job.network.hosts[0]
    done = job.run_on(host.name, 2, job.tool("hosts_probe"), environment={
        "GEX_CONDUIT": "ucx", "GEX_VERBOSE": "1", "GASNET_SUPERNODE_MAXSIZE": "1", "UCX_MEM_EVENTS": "no"})
    lines = [line for line in done.stderr.splitlines() if "ucx: UCX " in line]
    assert done.returncode == 0 and len(lines) == 1 and "tcp" not in lines[0], \
        f"ucx is not in memory alone: {done.stdout}{done.stderr}"
