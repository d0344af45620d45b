"""The figures: what each measures, at which sizes, beside what, and the number its paper is known for."""

import dataclasses

import hosts
from parts import (ALL_MILLIONS, HIGHEST, MEBIBYTES, MEGABYTES, MEMORY, MESSAGES_TO_EACH, MICROSECONDS, MILLIONS,
                   MILLISECONDS, PAIRS_MILLIONS, PRINTED_MILLIONS, SECONDS, WHOLE, Figure, Headline, Series,
                   Shares, powers)

KIB = 1024
MIB = 1024 * 1024


# libgex over a network, whatever else the ranks share.
def over(conduit, **variables):
    return {"GEX_CONDUIT": conduit, "GASNET_SUPERNODE_MAXSIZE": "1", **variables}


# Every library over TCP/IP of the loopback.
OPENMPI_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo",
               "OMPI_MCA_osc": "^ucx,sm"}
MPICH_TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
OFI_TCP = over("ofi", GEX_OFI_PROVIDER="tcp;ofi_rxm")
LCI_SHM = {"LCI_ATTR_OFI_PROVIDER_NAME": "shm"}
LCI_TCP = {"LCI_ATTR_OFI_PROVIDER_NAME": "tcp;ofi_rxm"}
UCX_SHM = {"UCX_TLS": "posix,cma,self"}
UCX_TCP = over("ucx", UCX_TLS="tcp,self")

LATENCIES = tuple(powers(8, 64 * KIB))
BANDWIDTHS = tuple(powers(1, 4 * MIB))
COLLECTIVES = tuple(powers(8, 4 * MIB))
MEDIUMS = (0, *powers(8, 64 * KIB))
STRIDES = tuple(powers(128, 2 * MIB))
# The sizes of the paper's figure of shares of the limit.
SHARED_SIZES = (4 * KIB, 512 * KIB)

IPDPS = "Bell and others, IPDPS 2006"
EX_2018 = "GASNet-EX specialized for Aries, LBNL 2018"
TALK = "GASNet-EX talk, CRD 2021"
PORTALS = "Porting GASNet to Portals, 2009"

# Every library between two hosts: by the device of each that leads to the other.
OPENMPI_HOSTS = {**OPENMPI_TCP, "OMPI_MCA_btl_tcp_if_include": "eth0"}
MPICH_HOSTS = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
OVER_MPICH_HOSTS = {**over("mpi", GEX_MPI="mpich"), **MPICH_HOSTS}

EXCHANGES = ("OpenSHMEM's blocks lie in the symmetric heap, where libgex's puts between segments are alike; the "
             "calls of libgex and of MPI take memory of any place.")

TYPES = ("i32", "u32", "i64", "u64", "flt", "dbl")
OVER_MPICH_TCP = {**over("mpi", GEX_MPI="mpich"), **MPICH_TCP}


def fixed_and_negotiated(**variables):
    return (Series("fixed payload", "gex", "am.fixed", variables),
            Series("negotiated payload", "gex", "am.negotiated", variables))


def local_completion(**variables):
    return (Series("in the call (GEX_EVENT_NOW)", "gex", "put.now", variables),
            Series("with the put (GEX_EVENT_DEFER)", "gex", "put.defer", variables),
            Series("by an event, two buffers", "gex", "put.event", variables))


def inattentive(**variables):
    """The paper's three schedules, static and reactive."""
    return tuple(Series(f"{kind}, {name}", "gex", f"inattentive.{block}{behind}", variables)
                 for kind, behind in (("static", ""), ("reactive", ".reactive"))
                 for name, block in (("all at once", "all"), ("5 in turn", "5"), ("cyclic", "1")))


def rows(**variables):
    """Strided puts: as libgex makes them, and packed by the client into messages of both kinds."""
    return (Series("libgex strided put", "gex", "rows", variables, kind="strided"),
            Series("messages of fixed payload", "gex", "rows.fixed", variables, kind="messages"),
            Series("messages of negotiated payload", "gex", "rows.negotiated", variables, kind="messages"))


def native_and_by_messages(row):
    return (Series("native", "gex", row, over("emu", GEX_EMU="xt")),
            Series("by messages", "gex", row, over("emu", GEX_EMU="xt,native=0")))


def eight_bytes(network, series):
    return Figure(
        f"eight-bytes-{network[0]}", "Puts and gets of 8 bytes against MPI-3 RMA", TALK, network[1],
        ("put", "get"), x="operation", categories=True, unit=MICROSECONDS, series=series,
        headline=Headline("8-byte gets take 5 to 45% less than MPI's, puts 6 to 55%", 1.45,
                          tuple(one.label for one in series if one.system == "gex"),
                          tuple(one.label for one in series if one.system != "gex"), at="get",
                          why="The paper's four systems had networks that put and get; here the processors do."))


def atomics(row):
    return (Series("the network's own", "gex", row, over("emu", GEX_EMU="aries")),
            Series("by messages", "gex", row, over("emu", GEX_EMU="aries,atomics=0")))


def beside_peers(row, shmem=False):
    """The operation of all libraries that have it."""
    return (Series("libgex", "gex", row), Series("Open MPI", "openmpi", row), Series("MPICH", "mpich", row),
            *([Series("OpenSHMEM", "shmem", row)] if shmem else []))


def ft_over_emu(what):
    return tuple(Series(variant, "ft", f"{variant}.{what}", over("emu", GEX_EMU="{x}"))
                 for variant in ("exchange", "slabs", "pencils"))


def ft_beside_mpi(ours, theirs):
    return (Series("libgex", "ft", "{x}.seconds", ours), Series("Open MPI", "ft_mpi", "{x}.seconds", theirs),
            Series("FFTW's MPI transform, Open MPI", "fftw", "{x}.seconds", theirs))


def ft_by_ranks(ours, theirs):
    """The fastest variants of each library, and the benchmark's original."""
    return (Series("libgex slabs", "ft", "slabs.seconds", ours),
            Series("libgex pencils", "ft", "pencils.seconds", ours),
            Series("the original, MPI_Alltoall of Open MPI", "ft_mpi", "alltoall.seconds", theirs),
            Series("slabs by MPI_Isend of Open MPI", "ft_mpi", "slabs.seconds", theirs),
            Series("FFTW's MPI transform, Open MPI", "fftw", "fftw.seconds", theirs))


NETWORKS = ("myrinet", "elan3", "elan4", "infiniband", "xt", "aries", "edr")
VARIANTS = ("alltoall", "exchange", "slabs", "pencils", "fftw")
ONE_SIDED = Headline("the best one-sided variant is some 15% faster than the best two-sided one", 1.15,
                     ("libgex",), ("Open MPI", "FFTW's MPI transform, Open MPI"), at="bests",
                     why="On one host the transforms take most of the time.")
OVER_ORIGINAL = Headline("slabs and pencils are up to 1.9 times as fast as the original", 1.9,
                         ("libgex slabs", "libgex pencils"), ("the original, MPI_Alltoall of Open MPI",),
                         why="Two ranks, where the paper had 64 and more; their network is slower beside "
                             "their processors.")
NEGOTIATED = Headline("negotiated payload gains up to 14%", 1.14, ("negotiated payload",), ("fixed payload",),
                      why="It gains what a copy takes; small messages are copied in their header's line.")
BY_EVENT = Headline("local completion by the network's event gains up to 32% (at 8 KiB)", 1.32,
                    ("by an event, two buffers",), ("in the call (GEX_EVENT_NOW)",), at=8 * KIB,
                    why="libgex copies what is small, so that the call can return.")
NEGOTIATED_ROWS = Headline(
    "messages of negotiated payload make strided puts 6.2% faster on average than those of fixed payload", 1.062,
    ("messages of negotiated payload",), ("messages of fixed payload",), at="mean",
    why="It gains what a copy of the payload takes, which is little beside the network's time.")
INATTENTIVE = Headline("injection that reacts takes up to 93% less time than a static schedule", 14.3,
                       ("reactive, all at once",), ("static, all at once",))
NATIVE_IN_MODEL = Headline(
    "a native network is about twice as fast as one over MPI", 2.0, ("native",), ("by messages",),
    why="The messages are the model's own, without MPI's matching and copies.")
NATIVE_TWICE = Headline("a native network is about twice as fast as one over MPI", 2.0,
                        ("libgex over ofi", "libgex over ucx"), ("libgex over mpi (MPICH)",),
                        why="On the loopback most of the time is the kernel's in all of them.")

FIGURES = (
    Figure(
        "put-get-latency-shm", "Round-trip latency of put and get", f"{IPDPS}: figure 2", "shared memory",
        LATENCIES, unit=MICROSECONDS, series=(
            Series("libgex put", "gex", "put", kind="put"),
            Series("libgex get", "gex", "get", kind="get"),
            Series("Open MPI MPI_Put, flush", "openmpi", "put", kind="put"),
            Series("Open MPI MPI_Get, flush", "openmpi", "get", kind="get"),
            Series("Open MPI send, empty answer", "openmpi", "message.ack", kind="put"),
            Series("MPICH MPI_Put, flush", "mpich", "put", kind="put"),
            Series("MPICH send, empty answer", "mpich", "message.ack", kind="put"),
            Series("shmem_putmem, quiet", "shmem", "put", kind="put"),
            Series("shmem_getmem", "shmem", "get", kind="get"),
            Series("UCX put, there and back", "ucx", "put", UCX_SHM, kind="put"),
        ),
        headline=Headline("8-byte puts take 6 to 55% less than MPI's (GASNet-EX talk, four systems)", 1.55,
                          ("libgex put",), ("Open MPI MPI_Put, flush", "MPICH MPI_Put, flush"), at=8,
                          why="On one host a put is a store; the paper's crossed a network.")),
    Figure(
        "put-get-latency-tcp", "Round-trip latency of put and get", f"{IPDPS}: figure 2",
        "TCP/IP on the loopback, UDP/IP for udp", LATENCIES, unit=MICROSECONDS, series=(
            Series("libgex put, udp", "gex", "put", over("udp"), kind="put"),
            Series("libgex put, ofi", "gex", "put", OFI_TCP, kind="put"),
            Series("libgex put, ucx", "gex", "put", UCX_TCP, kind="put"),
            Series("libgex get, udp", "gex", "get", over("udp"), kind="get"),
            Series("Open MPI MPI_Put, flush", "openmpi", "put", OPENMPI_TCP, kind="put"),
            Series("Open MPI MPI_Get, flush", "openmpi", "get", OPENMPI_TCP, kind="get"),
            Series("Open MPI send, empty answer", "openmpi", "message.ack", OPENMPI_TCP, kind="put"),
            Series("MPICH MPI_Put, flush", "mpich", "put", MPICH_TCP, kind="put"),
            Series("MPICH send, empty answer", "mpich", "message.ack", MPICH_TCP, kind="put"),
            Series("UCX put, there and back", "ucx", "put", {"UCX_TLS": "tcp,self"}, kind="put"),
            Series("libfabric message, there and back", "libfabric", "message.rtt", kind="put"),
        ),
        headline=Headline("8-byte puts take 6 to 55% less than MPI's (GASNet-EX talk, four systems)", 1.55,
                          ("libgex put, udp", "libgex put, ofi", "libgex put, ucx"),
                          ("Open MPI MPI_Put, flush", "MPICH MPI_Put, flush"), at=8,
                          why="Nearly all of it is the kernel's, which all of them use.")),
    Figure(
        "put-get-latency-hosts", "Round-trip latency of put and get", f"{IPDPS}: figure 2", hosts.NETWORK,
        tuple(powers(8, 4 * KIB)), unit=MICROSECONDS, hosts=True, series=(
            Series("libgex put, udp", "gex", "put", over("udp"), kind="put"),
            Series("libgex put, ofi", "gex", "put", OFI_TCP, kind="put"),
            Series("libgex put, mpi (MPICH)", "gex", "put", OVER_MPICH_HOSTS),
            Series("libgex get, udp", "gex", "get", over("udp"), kind="get"),
            Series("Open MPI MPI_Put, flush", "openmpi", "put", OPENMPI_HOSTS, kind="put"),
            Series("Open MPI MPI_Get, flush", "openmpi", "get", OPENMPI_HOSTS, kind="get"),
            Series("Open MPI send, empty answer", "openmpi", "message.ack", OPENMPI_HOSTS, kind="put"),
            Series("MPICH send, empty answer", "mpich", "message.ack", MPICH_HOSTS, kind="put"),
        ),
        headline=Headline("a native network is about twice as fast as one over MPI (2009)", 2.0,
                          ("libgex put, udp", "libgex put, ofi"), ("libgex put, mpi (MPICH)",),
                          why="Most of the time is the kernel's in all of them.")),
    Figure(
        "flood-bandwidth-shm", "Flood bandwidth", f"{IPDPS}: figures 3 and 4", "shared memory", BANDWIDTHS,
        unit=MEGABYTES, keep=SHARED_SIZES, limit="memcpy by the sender, the limit", series=(
            Series("libgex put", "gex", "put.flood", kind="put"),
            Series("libgex get", "gex", "get.flood", kind="get"),
            Series("Open MPI MPI_Put", "openmpi", "put.flood", kind="put"),
            Series("Open MPI MPI_Get", "openmpi", "get.flood", kind="get"),
            Series("Open MPI MPI_Isend, 64 under way", "openmpi", "message.flood", kind="put"),
            Series("MPICH MPI_Put", "mpich", "put.flood", kind="put"),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood", kind="put"),
            Series("shmem_putmem_nbi", "shmem", "put.flood", kind="put"),
            Series("UCX put", "ucx", "put.flood", UCX_SHM, kind="put"),
            Series("memcpy by the sender, the limit", "gex", "copy.flood", kind="limit"),
        ),
        headline=Headline("at 4 KiB puts are well ahead of MPI's messages on every network", None,
                          ("libgex put",),
                          ("Open MPI MPI_Isend, 64 under way", "MPICH MPI_Isend, 64 under way"),
                          at=4 * KIB, why="A put is a copy here, and a message of MPI two.")),
    Figure(
        "flood-bandwidth-tcp", "Flood bandwidth", f"{IPDPS}: figures 3 and 4",
        "TCP/IP on the loopback, UDP/IP for udp", BANDWIDTHS, unit=MEGABYTES, keep=SHARED_SIZES,
        limit=HIGHEST, series=(
            Series("libgex put, udp", "gex", "put.flood", over("udp"), kind="put"),
            Series("libgex put, ofi", "gex", "put.flood", OFI_TCP, kind="put"),
            Series("libgex put, ucx", "gex", "put.flood", UCX_TCP, kind="put"),
            Series("Open MPI MPI_Put", "openmpi", "put.flood", OPENMPI_TCP, kind="put"),
            Series("Open MPI MPI_Isend, 64 under way", "openmpi", "message.flood", OPENMPI_TCP, kind="put"),
            Series("MPICH MPI_Put", "mpich", "put.flood", MPICH_TCP, kind="put"),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood", MPICH_TCP, kind="put"),
            Series("UCX put", "ucx", "put.flood", {"UCX_TLS": "tcp,self"}, kind="put"),
            Series("libfabric write, 64 under way", "libfabric", "put.flood", kind="put"),
        ),
        headline=Headline("at 4 KiB puts are well ahead of MPI's messages on every network", None,
                          ("libgex put, udp", "libgex put, ofi", "libgex put, ucx"),
                          ("Open MPI MPI_Isend, 64 under way", "MPICH MPI_Isend, 64 under way"),
                          at=4 * KIB, why="udp sends many at a call.")),
    Figure(
        "flood-bandwidth-hosts", "Flood bandwidth", f"{IPDPS}: figures 3 and 4", hosts.NETWORK, BANDWIDTHS,
        unit=MEGABYTES, keep=SHARED_SIZES, limit=hosts.MEGABYTES, hosts=True, longer=5, series=(
            Series("libgex put, udp", "gex", "put.flood", over("udp"), kind="put"),
            Series("libgex put, ofi", "gex", "put.flood", OFI_TCP, kind="put"),
            Series("Open MPI MPI_Put", "openmpi", "put.flood", OPENMPI_HOSTS, kind="put"),
            Series("Open MPI MPI_Isend, 64 under way", "openmpi", "message.flood", OPENMPI_HOSTS, kind="put"),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood", MPICH_HOSTS, kind="put"),
        ),
        note="The link carries 125 MB/s, frames and headers among them.",
        headline=Headline("at 4 KiB puts are well ahead of MPI's messages on every network", None,
                          ("libgex put, udp", "libgex put, ofi"),
                          ("Open MPI MPI_Isend, 64 under way", "MPICH MPI_Isend, 64 under way"),
                          at=4 * KIB, why="The link is full from there on.")),
    eight_bytes(("shm", "shared memory"), (
        Series("libgex", "gex", "{x}"), Series("Open MPI", "openmpi", "{x}"), Series("MPICH", "mpich", "{x}"))),
    eight_bytes(("tcp", "TCP/IP on the loopback, UDP/IP for udp"), (
        Series("libgex, udp", "gex", "{x}", over("udp")), Series("libgex, ofi", "gex", "{x}", OFI_TCP),
        Series("Open MPI", "openmpi", "{x}", OPENMPI_TCP), Series("MPICH", "mpich", "{x}", MPICH_TCP))),
    Figure(
        "ft-emu", "NAS FT by the overlap of communication", f"{IPDPS}: figure 7",
        "emu: the paper's networks, and later",
        NETWORKS, x="network", categories=True, unit=SECONDS, series=ft_over_emu("seconds"),
        headline=Headline("slabs and pencils are up to 1.9 times as fast as the original exchange", 1.9,
                          ("slabs", "pencils"), ("exchange",),
                          why="The original had MPI_Alltoall. Two dimensions of three can overlap with the "
                              "transpose: against our exchange 1.64 is the most, where they take as long as "
                              "the network.")),
    Figure(
        "ft-communication-emu", "NAS FT: seconds of a rank in communication", f"{IPDPS}: figures 8 and 9",
        "emu: the paper's networks, and later", NETWORKS, x="network", categories=True, unit=SECONDS,
        series=ft_over_emu("communication")),
    Figure(
        "ft-shm", "NAS FT, one-sided and two-sided", f"{IPDPS}: figures 9 and 10", "shared memory", VARIANTS,
        x="variant", categories=True, unit=SECONDS, series=ft_beside_mpi({}, {}), headline=ONE_SIDED),
    Figure(
        "ft-tcp", "NAS FT, one-sided and two-sided", f"{IPDPS}: figures 9 and 10",
        "TCP/IP on the loopback, UDP/IP for udp", VARIANTS, x="variant", categories=True, unit=SECONDS,
        series=(*ft_beside_mpi(over("udp"), OPENMPI_TCP), Series("libgex, ofi", "ft", "{x}.seconds", OFI_TCP)),
        headline=ONE_SIDED),
    Figure(
        "ft-original-shm", "NAS FT against the original and FFTW", f"{IPDPS}: figures 7 and 10", "shared memory",
        (2, 4), x="ranks", unit=SECONDS, series=ft_by_ranks({}, {}),
        headline=dataclasses.replace(OVER_ORIGINAL, why="Without a network there is little to overlap.")),
    Figure(
        "ft-original-hosts", "NAS FT against the original and FFTW", f"{IPDPS}: figures 7 and 10", hosts.NETWORK,
        (2,), x="ranks", unit=SECONDS, hosts=True, series=ft_by_ranks(over("udp"), OPENMPI_HOSTS),
        headline=OVER_ORIGINAL),
    Figure(
        "ft-ranks", "NAS FT by ranks, and what its time goes to", f"{IPDPS}: figures 7 and 9",
        "shared memory", (2, 4, 8, 16), x="ranks", unit=SECONDS, on_cores=True, large=True, series=(
            *ft_by_ranks({}, {}),
            Series("libgex slabs, in communication", "ft", "slabs.communication", kind="communication"),
            Series("libgex pencils, in communication", "ft", "pencils.communication", kind="communication"),
            Series("libgex pencils, computing of all ranks", "ft", "pencils.work", kind="work"),
            Series("slabs by MPI_Isend, in communication", "ft_mpi", "slabs.communication",
                   kind="communication"),
        ), note="Of ranks for which there are cores; class B in a full report. What all ranks compute together "
                "grows where they share the memory's bandwidth; else they wait for the slowest."),
    Figure(
        "ft-hosts", "NAS FT, one-sided and two-sided", f"{IPDPS}: figures 7, 9 and 10", hosts.NETWORK, VARIANTS,
        x="variant", categories=True, unit=SECONDS, hosts=True,
        series=ft_beside_mpi(over("udp"), OPENMPI_HOSTS),
        headline=dataclasses.replace(ONE_SIDED, why="The link takes most of the time, and carries as much.")),
    Figure(
        "ft-communication-tcp", "NAS FT: seconds of a rank in communication", f"{IPDPS}: figure 9",
        "TCP/IP on the loopback, UDP/IP for udp", VARIANTS, x="variant", categories=True, unit=SECONDS, series=(
            Series("libgex", "ft", "{x}.communication", over("udp")),
            Series("Open MPI", "ft_mpi", "{x}.communication", OPENMPI_TCP),
        )),
    Figure(
        "am-payload-shm", "Medium messages there and back, payload built in place", f"{EX_2018}: figure 1",
        "shared memory", MEDIUMS, unit=MICROSECONDS, series=fixed_and_negotiated(), headline=NEGOTIATED),
    Figure(
        "am-payload-udp", "Medium messages there and back, payload built in place", f"{EX_2018}: figure 1",
        "UDP/IP on the loopback", MEDIUMS, unit=MICROSECONDS, series=fixed_and_negotiated(**over("udp")),
        headline=NEGOTIATED),
    Figure(
        "am-payload-hosts", "Medium messages there and back, payload built in place",
        f"{EX_2018}: figures 1 and 6", hosts.NETWORK, MEDIUMS, unit=MICROSECONDS, hosts=True,
        series=fixed_and_negotiated(**over("udp")), headline=NEGOTIATED),
    Figure(
        "inattentive-shm", "Messages to ranks that look every 500 us", f"{EX_2018}: figure 2",
        "shared memory", (2, 4, 8), x="ranks", unit=MESSAGES_TO_EACH, series=inattentive(),
        headline=dataclasses.replace(
            INATTENTIVE, why="Here room is the sender's, for all receivers together: there is little to react to.")),
    Figure(
        "inattentive-emu", "Messages to ranks that look every 500 us", f"{EX_2018}: figure 2",
        "emu: a Cray XC's network, room for 3 messages to each rank", (2, 4, 8, 16), x="ranks",
        unit=MESSAGES_TO_EACH, longer=10, series=inattentive(**over("emu", GEX_EMU="aries", GEX_EMU_QUEUE="3")),
        headline=dataclasses.replace(
            INATTENTIVE, why="All at once takes a rank's time after the other's: the gain is the number of "
                             "receivers, 14 in the paper's best run.")),
    Figure(
        "local-completion-udp", "Flood of puts, by when the source may be written again",
        f"{EX_2018}: figure 3", "UDP/IP on the loopback", BANDWIDTHS, unit=MEGABYTES,
        series=local_completion(**over("udp")), headline=BY_EVENT),
    Figure(
        "local-completion-emu", "Flood of puts, by when the source may be written again",
        f"{EX_2018}: figure 3", "emu: a Cray XC's network", BANDWIDTHS, unit=MEGABYTES,
        series=local_completion(**over("emu", GEX_EMU="aries")), headline=BY_EVENT),
    Figure(
        "fetch-add-shm", "Fetch-and-add of each type, one after the other", f"{EX_2018}: table 1",
        "shared memory", TYPES, x="type", categories=True, unit=MICROSECONDS, series=(
            Series("libgex", "gex", "fadd.{x}"),
            Series("Open MPI MPI_Fetch_and_op, flush", "openmpi", "fadd.{x}"),
            Series("MPICH MPI_Fetch_and_op, flush", "mpich", "fadd.{x}"),
            Series("shmem_atomic_fetch_add", "shmem", "fadd.{x}"),
        )),
    Figure(
        "fetch-add-emu", "Fetch-and-add of each type, one after the other", f"{EX_2018}: table 1",
        "emu: a Cray XC's network", TYPES, x="type", categories=True, unit=MICROSECONDS,
        series=atomics("fadd.{x}"), headline=Headline(
            "the network's own atomics are 1.7 times as fast as messages", 1.7, ("the network's own",),
            ("by messages",), at="mean", why="The ratio is the model's: emu takes the latency of an Aries.")),
    Figure(
        "fetch-add-flood-emu", "Fetch-and-add of each type, as many as go", f"{EX_2018}: table 1",
        "emu: a Cray XC's network", TYPES, x="type", categories=True, unit=MILLIONS,
        series=atomics("fadd.{x}.flood"), headline=Headline(
            "the network's own atomics have 1.7 to 1.8 times the throughput", 1.7, ("the network's own",),
            ("by messages",), at="mean", why="The ratio is the model's, and what a handler takes.")),
    Figure(
        "fetch-add-flood-shm", "Fetch-and-add of each type, as many as go", f"{EX_2018}: table 1",
        "shared memory", TYPES, x="type", categories=True, unit=MILLIONS, series=(
            Series("libgex", "gex", "fadd.{x}.flood"),
            Series("Open MPI MPI_Fetch_and_op", "openmpi", "fadd.{x}.flood"),
            Series("MPICH MPI_Fetch_and_op", "mpich", "fadd.{x}.flood"),
        )),
    Figure(
        "hot-spot-shm", "All ranks add to one word", f"{EX_2018}: figure 4", "shared memory", (2, 4, 8),
        x="ranks", unit=ALL_MILLIONS, series=(
            Series("libgex", "gex", "hot_spot"),
            Series("Open MPI MPI_Fetch_and_op", "openmpi", "hot_spot"),
            Series("MPICH MPI_Fetch_and_op", "mpich", "hot_spot"),
            Series("shmem_atomic_fetch_add", "shmem", "hot_spot"),
        )),
    Figure(
        "hot-spot-emu", "All ranks add to one word", f"{EX_2018}: figure 4", "emu: a Cray XC's network",
        (2, 4, 8), x="ranks", unit=ALL_MILLIONS, series=atomics("hot_spot")),
    Figure(
        "strided-shm", "Non-contiguous puts, elements of 8 bytes, one in four places", f"{EX_2018}: figure 5",
        "shared memory", tuple(powers(16, 2 * MIB)), unit=MEGABYTES, series=(
            *(Series(f"libgex strided, {dims} dimensions", "gex", f"strided.{dims}", kind="strided")
              for dims in (3, 8, 32)),
            *(Series(f"a put for each element, {dims} loops", "gex", f"nested.{dims}", kind="loops")
              for dims in (3, 32)),
            Series("libgex indexed", "gex", "indexed", kind="indexed"),
            *(Series(f"Open MPI datatype, {dims} dimensions", "openmpi", f"strided.{dims}", kind="strided")
              for dims in (3, 32)),
            Series("Open MPI indexed datatype", "openmpi", "indexed", kind="indexed"),
            Series("MPICH datatype, 32 dimensions", "mpich", "strided.32", kind="strided"),
        ),
        headline=Headline("folded strides of 32 dimensions have up to 8.6 times the bandwidth of nested loops",
                          8.6, ("libgex strided, 32 dimensions",), ("a put for each element, 32 loops",),
                          why="Without a network a put for each element is a store each.")),
    Figure(
        "strided-ofi", "Non-contiguous puts of 3 dimensions, elements of 64 bytes", f"{EX_2018}: figure 6",
        "TCP/IP on the loopback", STRIDES, unit=MEGABYTES, series=(
            Series("packed into messages", "gex", "rows", {**OFI_TCP, "GEX_VIS_PIECES": "never"}),
            Series("pieces of the network's puts", "gex", "rows", {**OFI_TCP, "GEX_VIS_PIECES": "always"}),
            Series("as libgex chooses", "gex", "rows", OFI_TCP),
        )),
    Figure(
        "strided-hosts", "Non-contiguous puts of 3 dimensions, elements of 64 bytes", f"{EX_2018}: figure 6",
        hosts.NETWORK, STRIDES, unit=MEGABYTES, hosts=True, longer=5, series=(
            *rows(**over("udp")),
            Series("Open MPI datatype", "openmpi", "rows", OPENMPI_HOSTS, kind="strided"),
            Series("MPICH datatype", "mpich", "rows", MPICH_HOSTS, kind="strided"),
        ), headline=dataclasses.replace(NEGOTIATED_ROWS, why="The link takes nearly all of the time.")),
    Figure(
        "strided-udp", "Non-contiguous puts of 3 dimensions, elements of 64 bytes", f"{EX_2018}: figure 6",
        "UDP/IP on the loopback, TCP/IP for MPI", STRIDES, unit=MEGABYTES, series=(
            *rows(**over("udp")), Series("Open MPI datatype", "openmpi", "rows", OPENMPI_TCP, kind="strided"),
        ), headline=NEGOTIATED_ROWS),
    Figure(
        "strided-emu", "Non-contiguous puts of 3 dimensions, elements of 64 bytes", f"{EX_2018}: figure 6",
        "emu: a Cray XC's network", STRIDES, unit=MEGABYTES,
        series=rows(**over("emu", GEX_EMU="aries")), headline=NEGOTIATED_ROWS),
    Figure(
        "native-put-latency", "Put latency, native against active messages over MPI",
        f"{PORTALS}: figure 2", "TCP/IP on the loopback", tuple(powers(8, KIB)), unit=MICROSECONDS, series=(
            Series("libgex over ofi", "gex", "put", OFI_TCP),
            Series("libgex over ucx", "gex", "put", UCX_TCP),
            Series("libgex over mpi (MPICH)", "gex", "put", OVER_MPICH_TCP),
            Series("MPICH send, empty answer", "mpich", "message.ack", MPICH_TCP),
        ), headline=NATIVE_TWICE),
    Figure(
        "native-put-bandwidth", "Put bandwidth, native against active messages over MPI",
        f"{PORTALS}: figure 3", "TCP/IP on the loopback", tuple(powers(2 * KIB, 2 * MIB)), unit=MEGABYTES,
        series=(
            Series("libgex over ofi", "gex", "put.flood", OFI_TCP),
            Series("libgex over ucx", "gex", "put.flood", UCX_TCP),
            Series("libgex over mpi (MPICH)", "gex", "put.flood", OVER_MPICH_TCP),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood", MPICH_TCP),
        ), headline=NATIVE_TWICE),
    Figure(
        "native-am-latency", "Medium messages there and back, native against over MPI",
        f"{PORTALS}: figure 4", "TCP/IP on the loopback", tuple(powers(8, KIB)), unit=MICROSECONDS, series=(
            Series("libgex over ofi", "gex", "am.rtt", OFI_TCP),
            Series("libgex over ucx", "gex", "am.rtt", UCX_TCP),
            Series("libgex over mpi (MPICH)", "gex", "am.rtt", OVER_MPICH_TCP),
            Series("MPICH send and receive", "mpich", "message.rtt", MPICH_TCP),
        ), headline=NATIVE_TWICE),
    Figure(
        "native-put-latency-emu", "Put latency, native against active messages", f"{PORTALS}: figure 2",
        "emu: a Cray XT's network", tuple(powers(8, KIB)), unit=MICROSECONDS,
        series=native_and_by_messages("put"), headline=NATIVE_IN_MODEL),
    Figure(
        "native-put-bandwidth-emu", "Put bandwidth, native against active messages", f"{PORTALS}: figure 3",
        "emu: a Cray XT's network", tuple(powers(2 * KIB, 2 * MIB)), unit=MEGABYTES,
        series=native_and_by_messages("put.flood"), headline=NATIVE_IN_MODEL),
    Figure(
        "registration-emu", "Blocking puts from outside the segment", f"{PORTALS}: figure 5",
        "emu: a Cray XT's network, 1 us to register memory", tuple(powers(8 * KIB, MIB)), unit=MEGABYTES,
        series=(
            Series("registration cache", "gex_par", "put",
                   over("emu", GEX_EMU="xt,registration=1us,cache=1GB")),
            Series("registered each time", "gex_par", "put", over("emu", GEX_EMU="xt,registration=1us")),
            Series("copied to bounce buffers in the segment", "gex_par", "put.bounced",
                   over("emu", GEX_EMU="xt,registration=1us")),
        ),
        headline=Headline("the registration cache has 8.5% more bandwidth at 8 KiB", 1.085,
                          ("registration cache",), ("registered each time",), at=8 * KIB,
                          why="The ratio is the model's; the paper has no time of a registration.")),
    Figure(
        "message-rate-shm", "Messages one way, as many as go", "ours", "shared memory",
        tuple(powers(8, 4 * KIB)),
        unit=MILLIONS, series=(
            Series("libgex medium messages", "gex", "am.flood"),
            Series("Open MPI MPI_Isend, 64 under way", "openmpi", "message.flood"),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood"),
            Series("LCI active messages", "lci", "am.flood", LCI_SHM),
        )),
    Figure(
        "message-rate-tcp", "Messages one way, as many as go", "ours", "TCP/IP on the loopback, UDP/IP for udp",
        tuple(powers(8, 4 * KIB)), unit=MILLIONS, series=(
            Series("libgex medium messages, udp", "gex", "am.flood", over("udp")),
            Series("libgex medium messages, ofi", "gex", "am.flood", OFI_TCP),
            Series("Open MPI MPI_Isend, 64 under way", "openmpi", "message.flood", OPENMPI_TCP),
            Series("MPICH MPI_Isend, 64 under way", "mpich", "message.flood", MPICH_TCP),
            Series("LCI active messages", "lci", "am.flood", LCI_TCP),
        )),
    Figure(
        "message-rate-ranks", "Messages of 8 bytes from all ranks to all others", "ours", "shared memory",
        (2, 4, 8), x="ranks", unit=PAIRS_MILLIONS, series=(
            Series("libgex medium messages", "gex", "am.all"),
            Series("Open MPI MPI_Isend", "openmpi", "message.all"),
            Series("MPICH MPI_Isend", "mpich", "message.all"),
            Series("LCI active messages", "lci", "am.all", LCI_SHM),
        )),
    Figure(
        "all-to-all-shm", "All to all, on four ranks", "ours", "shared memory", tuple(powers(8, 256 * KIB)),
        unit=MICROSECONDS, ranks=4, series=(
            *beside_peers("exchange", shmem=True),
            Series("libgex, puts between segments", "gex", "exchange.puts")), note=EXCHANGES),
    Figure(
        "all-to-all-ranks", "All to all, 1 KiB from each to each", "ours", "shared memory", (2, 4, 8),
        x="ranks", unit=MICROSECONDS, series=(
            *beside_peers("exchange:1024", shmem=True),
            Series("libgex, puts between segments", "gex", "exchange.puts:1024")), note=EXCHANGES),
    Figure(
        "message-rate-threads", "Short messages from the threads of one rank to those of another",
        "ours", "shared memory, a core for each thread", ("1", "2", "4", "8"), x="threads", categories=True,
        unit=PRINTED_MILLIONS, series=(
            Series("libgex", "gexperf", "threads.flood.{x}"),
            Series("bare rings, the limit", "gexperf", "threads.flood.{x}.limit"),
        ), note="Of threads for which there are cores."),
    Figure(
        "barrier-shm", "Barrier", "ours", "shared memory", (2, 4, 8, 16, 32), x="ranks", unit=MICROSECONDS,
        series=beside_peers("barrier", shmem=True)),
    Figure(
        "oversubscription", "8 bytes from each rank to the next, and the next", "ours", "shared memory",
        (2, 4, 8, 16, 32), x="ranks", unit=MICROSECONDS, series=beside_peers("ring"),
        note="Where there are more ranks than cores, ranks that wait have to leave theirs to others."),
    Figure(
        "broadcast-ranks", "Broadcast of 1 MiB", "ours", "shared memory", (2, 4, 8), x="ranks",
        unit=MICROSECONDS, series=(*beside_peers("broadcast:1048576"),
                                   Series("libgex, in segments", "gex", "broadcast.segment:1048576"))),
    Figure(
        "sum-ranks", "Sum of 1 MiB of doubles on all ranks", "ours", "shared memory", (2, 4, 8), x="ranks",
        unit=MICROSECONDS, series=(*beside_peers("sum:1048576"),
                                   Series("libgex, in segments", "gex", "sum.segment:1048576"))),
    Figure(
        "broadcast-shm", "Broadcast to two ranks", "ours", "shared memory", COLLECTIVES, unit=MICROSECONDS,
        series=(*beside_peers("broadcast"), Series("libgex, in segments", "gex", "broadcast.segment"))),
    Figure(
        "sum-shm", "Sum of doubles on both of two ranks", "ours", "shared memory", COLLECTIVES,
        unit=MICROSECONDS, series=(*beside_peers("sum"), Series("libgex, in segments", "gex", "sum.segment"))),
    Figure(
        "start-up", "From start to end of a job that does nothing", "ours", "shared memory", (2, 4, 8, 16, 32),
        x="ranks", unit=MILLISECONDS, series=beside_peers(WHOLE, shmem=True)),
    Figure(
        "memory", "Memory of a rank when the job has started", "ours", "shared memory", (2, 4, 8, 16, 32),
        x="ranks", unit=MEBIBYTES, series=beside_peers(MEMORY, shmem=True),
        note="Of shared pages each rank has its part."),
    Figure(
        "gpu-put-get", "Puts and gets of a GPU's memory", "GASNet-EX talk on memory kinds", "shared memory",
        (8, 4 * KIB, 64 * KIB, MIB, 64 * MIB), unit=MICROSECONDS, series=tuple(
            Series(f"libgex {call}, {way.replace('.', ' to ')}", "gexperf_cuda", f"cuda.{call}.{way}.{{x}}")
            for call in ("put", "get") for way in ("host.device", "device.host", "device.device"))),
)

SHARES = Shares(
    "flood-share", "Flood bandwidth as a share of the limit", f"{IPDPS}: figure 4",
    ("flood-bandwidth-shm", "flood-bandwidth-tcp", "flood-bandwidth-hosts"), SHARED_SIZES, (
        ("libgex put", "libgex put", True), ("MPI_Put of the better MPI", "MPI_Put", False),
        ("MPI_Isend of the better MPI", "MPI_Isend", False)),
    "The limit is memcpy in shared memory, the highest bandwidth of any library at any size on the loopback, and "
    "125 MB/s of the link.")
