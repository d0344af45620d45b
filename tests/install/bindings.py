"""The headers as generators of bindings and other languages use them, and the examples of these."""

import importlib.util
import os
import re
import shutil

from tree import HERE, check, expect_gasnet1_job, expect_job, run, text_of

EXAMPLES = os.path.join(HERE, "..", "..", "examples", "bindings")
# A name of each header and family.
SAMPLES = """gex_Client_Init gex_System_QueryJobRank gex_TM_QueryRank gex_Event_Wait gex_HSL_Trylock
gasnet_AMPoll gex_RMA_PutBlocking gex_RMA_GetNB gex_RMA_PutNBIVal gex_AM_RequestShort2
gex_AM_RequestMedium16 gex_AM_ReplyLong0 gex_AM_CommitReplyMedium3_v2 gex_AD_OpNB_U64 gex_AD_OpNBI_DBL
gex_VIS_StridedPutNBI gex_Coll_BroadcastNB gex_MK_Create gasnet_mynode gasnet_AMRequestLongAsync7
gasnet_put_nbi_bulk gasnet_gets_nb_bulk gasnet_coll_try_sync gasnet_exit""".split()

# bindgen 0.60 does not understand what newer ones have for the C library's headers.
OF_BINDGEN = {"LIBCLANG_PATH": "/usr/lib/llvm-14/lib"} if os.path.isdir("/usr/lib/llvm-14/lib") else {}
HEADERS = ["gasnet.h", "gasnet_coll.h", "gasnet_ratomic.h", "gasnet_vis.h", "gasnet_mk.h"]


def installed(tool, what):
    """Returns true if it can be tried; prints the reason if not."""
    found = importlib.util.find_spec("cffi") if tool == "cffi" else shutil.which(tool)
    if not found:
        print(f"NOT TRIED: {what}: there is no {tool} here")
    return bool(found)


def works(tree, command, **variables):
    output = run([tree.path("bin", "gexrun"), "-n", "2", *command], **variables)
    check(sorted(output.splitlines()) == [f"rank {rank} of 2: right" for rank in (0, 1)],
          f"{command}: {output}")


def every_function(tree):
    """It declares, as text without a pasted name, whatever the library exports beside the tools and
    what is the library's own."""
    text = run(["cc", "-E", "-P", f"-I{tree.path('include')}", "-include", "gex/functions.h", "-x", "c",
                "/dev/null"])
    check(not re.search(r"__attribute__|__asm__|\binline\b", text.split("gex_Rank_t", 1)[1]),
          "attributes, bodies or assembly")
    symbols = run(["nm", "-D", "--defined-only", tree.path("lib", "libgex.so")])
    names = re.findall(r" [TW] ((?:gex|gasnet)_\w*[^_\W])$", symbols, re.M)
    check(len(names) > 500, f"only {len(names)} names: {names}")
    missing = [name for name in names if not re.search(rf"\b{name}\(", text)]
    check(not missing, f"not declared: {missing}")
    for name in SAMPLES:
        check(name in names, f"libgex.so exports no {name}")


def generators(tree, everything):
    """By SWIG, gasnetex.h only with everything: it takes seconds, and bindgen reads the same."""
    include = f"-I{tree.path('include')}"
    header = tree.output("bindings.h")
    if installed("bindgen", "generated bindings of Rust"):
        for names, options in ((["gex/functions.h"], []), (HEADERS, ["-DGASNET_SEQ"]),
                               (HEADERS, ["-DGASNET_PAR", "-x", "c++", "-std=c++17"])):
            with open(header, "w", encoding="utf-8") as file:
                file.write("".join(f"#include <{name}>\n" for name in names))
            text = run(["bindgen", header, "--", include, *options], **OF_BINDGEN)
            missing = [name for name in SAMPLES if f"pub fn {name}(" not in text]
            check(not missing, f"of {names} bindgen finds no {missing}")
            check("pub struct gex_AM_Entry_t" in text, "structures have no names")
    if installed("swig", "SWIG"):
        interface = tree.output("bindings.i")
        for first in ("gex/functions.h", "gasnetex.h")[:2 if everything else 1]:
            with open(interface, "w", encoding="utf-8") as file:
                file.write(f"%module gex\n%include <stdint.i>\n%include <{first}>\n")
            run(["swig", "-python", "-w201,305,451,454", "-includeall", "-ignoremissing", include,
                 "-DGASNET_PAR", "-o", tree.output("bindings_wrap.c"), interface])
            wrapped = text_of(tree.output("bindings_wrap.c"))
            missing = [name for name in SAMPLES if first != "gasnetex.h"
                       and f"_wrap_{name}(" not in wrapped]
            check(not missing, f"SWIG wraps no {missing}")


def without_bodies(tree):
    """Code that reads the headers as generators do calls the library's functions."""
    if not installed("clang", "C whose calls are not inline"):
        return
    for name, mode, launch in (("client.c", "par", expect_job),
                               ("gasnet1_client.c", "seq", expect_gasnet1_job)):
        program = tree.output("without-bodies")
        label = f"gasnet-smp-{mode}"
        run(["clang", *tree.pkg_config("--cflags", label).split(), "-O0", "-c", tree.source(name),
             "-o", program + ".o"])
        call = {"par": "gex_RMA_PutBlocking", "seq": "gasnet_mynode"}[mode]
        check(call in run(["nm", "-u", program + ".o"]), f"{name} does not call {call}")
        run(["clang", program + ".o", *tree.pkg_config("--libs", label).split(), "-o", program])
        if launch is expect_job:
            expect_job(program, [tree.path("bin", "gexrun"), "-n", "2"], "smp", mode)
        else:
            expect_gasnet1_job(program)


def examples(tree):
    """Each language's program of examples/bindings as a job of two."""
    libraries = tree.pkg_config("--libs", "gex")
    program = tree.output("ring")
    if installed("cffi", "Python by cffi"):
        works(tree, ["python3", "-B", os.path.join(EXAMPLES, "ring.py"), tree.prefix])
    if installed("gfortran", "Fortran"):
        run(["gfortran", "-Wall", "-Werror", "-J", tree.work, os.path.join(EXAMPLES, "ring.f90"), "-o",
             program, *libraries.split()])
        works(tree, [program])
    if installed("rustc", "Rust"):
        run(["rustc", "-L", tree.path("lib"), os.path.join(EXAMPLES, "ring.rs"), "-o", program])
        works(tree, [program], LD_LIBRARY_PATH=tree.path("lib"))
    if installed("go", "Go by cgo"):
        run(["go", "build", "-o", program, os.path.join(EXAMPLES, "ring.go")], GO111MODULE="off",
            GOCACHE=tree.output("go-cache"), CGO_CFLAGS=tree.pkg_config("--cflags", "gex"),
            CGO_LDFLAGS=libraries)
        works(tree, [program])
