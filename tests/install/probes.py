"""How software written for GASNet looks for it and builds with it, each way made again in small.

Every function takes a tree, does what the named program's build does with it, builds a client that
way, and runs it.
"""

import glob
import os
import re
import shutil

from tree import (MODES, check, expect_gasnet1_job, expect_identification, expect_job,
                  run, ssh_spawner, text_of)

SETTINGS = """PREFIX CC OPT_CFLAGS MISC_CFLAGS MISC_CPPFLAGS DEVWARN_CFLAGS CXX OPT_CXXFLAGS MISC_CXXFLAGS
MISC_CXXCPPFLAGS DEVWARN_CXXFLAGS DEFINES INCLUDES LIBDIRS CFLAGS CPPFLAGS CXXFLAGS CXXCPPFLAGS LD
LDFLAGS LIBS LD_REQUIRES_MPI LD_REQUIRES_CXX""".split()
# So that its mpirun starts two ranks, as any user and with however few cores.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}
SPAWNERS = "SPAWNER_DEFAULT SPAWNER_FORK SPAWNER_PMI SPAWNER_MPI SPAWNER_SSH".split()


def fragment(tree, conduit, mode):
    return tree.path("include", f"{conduit}-conduit", f"{conduit}-{mode}.mak")


def expect_job_without_launcher(tree, program, conduit, mode):
    """A program linked with the archive finds plug-ins where that was installed; in a tree that was
    moved since, with the launcher's help."""
    if conduit == "ofi" and tree.moved:
        expect_job(program, [tree.path("bin", "gexrun"), "-n", "2"], conduit, mode)
    else:
        expect_job(program, [], conduit, mode, GASNET_PSHM_NODES="2")


def gasnet_tests(tree, conduit, mode):
    """The reference's own tests: a Makefile that includes the fragment, in C, with the MANUAL_ hooks.
    Here also with whatever a linker may drop, which keeps the identification strings."""
    program = tree.output(f"tests-{conduit}-{mode}")
    makefile = tree.output("tests.mk")
    with open(makefile, "w", encoding="utf-8") as file:
        file.write(f"include {fragment(tree, conduit, mode)}\n"
                   f"program: {tree.source('client.c')}\n"
                   "\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) $(GASNET_DEVWARN_CFLAGS) -c "
                   f"$< -o {program}.o\n"
                   f"\t$(GASNET_LD) $(GASNET_LDFLAGS) {program}.o $(GASNET_LIBS) -o {program}\n")
    run(["make", "-f", makefile, "MANUAL_DEFINES=-DMANUAL=1", "MANUAL_CFLAGS=-ffunction-sections",
         "MANUAL_LDFLAGS=-Wl,--gc-sections -s", "MANUAL_LIBS=-lm"])
    expect_job(program, [tree.path("bin", f"gasnetrun_{conduit}"), "-np", "2"], conduit, mode)
    expect_job_without_launcher(tree, program, conduit, mode)
    expect_identification(program, conduit, mode)


def every_setting(tree, everything):
    """A fragment defines every name, and adds what the hooks hold to those that are for it. Without
    everything, those of one network and one plug-in."""
    few = [conduit for conduit in ("smp", "ofi") if conduit in tree.conduits]
    for conduit in tree.conduits if everything else few:
        for mode in MODES:
            names = [f"GASNET_{name}" for name in SETTINGS + SPAWNERS]
            text = text_of(fragment(tree, conduit, mode))
            for name in names:
                check(re.search(rf"^{name} =", text, re.M) and
                      len(re.findall(rf"\b{name}\b", text)) == 1,
                      f"{conduit}-{mode}.mak does not hold {name} once, as NAME = value")
            values = tree.settings(fragment(tree, conduit, mode), names)
            check(values["GASNET_PREFIX"] == tree.prefix, f"GASNET_PREFIX: {values}")
            check(values["GASNET_SPAWNER_SSH"] == ssh_spawner(conduit), f"SPAWNER_SSH: {values}")
            check(values["GASNET_LIBS"].startswith(f"-L{tree.prefix}/lib "), f"LIBS: {values}")
            check("-fPI" not in str(values), "flags of position-independent code leak to clients")
            empty = [name for name, value in values.items() if not value]
            check(not empty, f"{conduit}-{mode}.mak: empty values, which scripts do not take: {empty}")
            package = f"gasnet-{conduit}-{mode}"
            empty = [name for name in names if not tree.pkg_config(f"--variable={name}", package)]
            check(not empty, f"{package}.pc: empty values: {empty}")
    hooks = {f"MANUAL_{name}": f"-Dhook_{name}"
             for name in ("DEFINES", "CFLAGS", "CXXFLAGS", "LDFLAGS", "LIBS")}
    values = tree.settings(fragment(tree, "smp", "par"),
                           [f"GASNET_{name}" for name in SETTINGS], **hooks)
    for name in SETTINGS:
        hook = {"CPPFLAGS": "DEFINES", "CXXCPPFLAGS": "DEFINES"}.get(name, name)
        expected = f"MANUAL_{hook}" in hooks
        value = values[f"GASNET_{name}"]
        # The user's folder of libraries comes first.
        at_its_end = value.startswith if name == "LDFLAGS" else value.endswith
        check(at_its_end(f"-Dhook_{hook}") == expected, f"{name}: {values}")


def compilers(tree):
    """They are the library's own, never what starts them, and the user's choice goes before. Their
    warnings are not of a client's unused functions."""
    names = ["GASNET_CC", "GASNET_CXX", "GASNET_LD"]
    values = tree.settings(fragment(tree, "smp", "par"), names)
    for value in values.values():
        real = os.path.basename(os.path.realpath(value))
        check(os.access(value, os.X_OK) and not re.search("ccache|distcc|icecc", real), f"{values}")
    chosen = tree.settings(fragment(tree, "smp", "par"), names, GASNET_CC="mine", GASNET_CXX="mine++")
    check((chosen["GASNET_CC"], chosen["GASNET_CXX"], chosen["GASNET_LD"])
          == ("mine", "mine++", values["GASNET_LD"]), f"{chosen}")
    check(tree.pkg_config("--define-variable=GASNET_CC=mine", "--variable=GASNET_CC",
                          "gasnet-smp-par") == "mine", "--define-variable")
    source = tree.output("unused.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <gasnetex.h>\n#include <gasnet_tools.h>\n#include <gasnet_coll.h>\n"
                   "static int unused_function(int x) { return x; }\n"
                   "static int unused_variable;\n"
                   "int used(int unused_parameter) { int unused_local; return 0; }\n")
    names = [f"GASNET_{name}" for name in SETTINGS]
    s = tree.settings(fragment(tree, "smp", "par"), names)
    of_clang = tree.settings(fragment(tree, "smp", "par"), names, GASNET_CC="clang")
    gnu = "Free Software" in run([s["GASNET_CC"], "--version"])
    check(("--param" in s["GASNET_CFLAGS"]) == gnu
          and "--param" not in str(of_clang) + s["GASNET_CXXFLAGS"]
          and "--param" not in tree.pkg_config("--cflags", "gasnet-smp-par"),
          f"limits of inlining: {s}, {of_clang}")
    for words in (["gcc", s["GASNET_CPPFLAGS"], s["GASNET_CFLAGS"], s["GASNET_DEVWARN_CFLAGS"]],
                  ["clang", of_clang["GASNET_CPPFLAGS"], of_clang["GASNET_CFLAGS"],
                   of_clang["GASNET_DEVWARN_CFLAGS"]],
                  ["g++ -x c++", s["GASNET_CXXCPPFLAGS"], s["GASNET_CXXFLAGS"],
                   s["GASNET_DEVWARN_CXXFLAGS"]],
                  ["clang++ -x c++", s["GASNET_CXXCPPFLAGS"], s["GASNET_CXXFLAGS"],
                   s["GASNET_DEVWARN_CXXFLAGS"]]):
        compiler, *flags = " ".join(words).split()
        run([compiler, "-Wextra", *flags, s["GASNET_MISC_CFLAGS"], "-Werror", "-c", source, "-o",
             source + ".o"])


def links(tree):
    """The tree through symbolic links: to a folder of it, to a file, to all of it."""
    place = tree.output(os.path.join("links", "a", "b", "c", "d", "e"))
    shutil.rmtree(tree.output("links"), ignore_errors=True)
    os.makedirs(place)

    def link(*parts):
        there = os.path.join(place, parts[-1])
        os.symlink(tree.path(*parts), there)
        return there

    facade = link("share", "libgex", "upcxx")
    folder = link("include", "smp-conduit")
    file = link("include", "smp-conduit", "smp-par.mak")
    tools = link("include", "gasnet_tools-par.mak")
    whole = os.path.join(place, "whole")
    os.symlink(tree.prefix, whole)
    for name in (os.path.join(facade, "smp-conduit", "smp-par.mak"), file,
                 os.path.join(folder, "smp-par.mak"),
                 os.path.join(whole, "include", "smp-conduit", "smp-par.mak")):
        s = tree.settings(name, ["GASNET_PREFIX", "GASNET_CPPFLAGS", "GASNET_LIBS"])
        check(s["GASNET_PREFIX"] == tree.prefix, f"{name}: prefix is {s['GASNET_PREFIX']}")
        check(f"-I{tree.prefix}/include " in s["GASNET_CPPFLAGS"]
              and f"-L{tree.prefix}/lib " in s["GASNET_LIBS"], f"{name}: {s}")
    check(tree.settings(tools, ["GASNETTOOLS_PREFIX"])["GASNETTOOLS_PREFIX"] == tree.prefix, tools)
    run(["make", "install", f"prefix={os.path.join(place, 'copy')}"], cwd=place + "/upcxx")
    check(os.path.exists(os.path.join(place, "copy", "include", "gasnetex.h")), "make install")
    run(["make", "-C", os.path.join(facade, "smp-conduit"), "seq", "par"])

    packages = link("lib", "pkgconfig")
    for where in (packages, os.path.join(whole, "lib", "pkgconfig")):
        for package in ("gasnet-smp-par", "gex"):
            prefix = run(["pkg-config", "--variable=prefix", package], PKG_CONFIG_PATH=where).strip()
            check(os.path.samefile(prefix, tree.prefix), f"{where}: {package} names {prefix}")
    config = os.path.join(place, "config")
    os.symlink(tree.path("lib", "cmake", "gex"), config)
    client = os.path.join(place, "client")
    os.makedirs(client)
    with open(os.path.join(client, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.22)\nproject(linked C)\n"
                   "find_package(gex REQUIRED)\nadd_executable(linked "
                   f"{tree.source('client.c')})\n"
                   "target_compile_definitions(linked PRIVATE GASNET_PAR)\n"
                   "target_link_libraries(linked PRIVATE gex::gex)\n")
    run(["cmake", "-S", client, "-B", client, "-G", "Ninja", f"-Dgex_DIR={config}"])
    run(["cmake", "--build", client])

    program = os.path.join(client, "linked")
    # Links to launchers, by path and as found in PATH.
    binaries = os.path.join(place, "bin")
    os.makedirs(binaries)
    for name in ("gexrun", "gasnetrun_emu", "amudprun"):
        os.symlink(tree.path("bin", name), os.path.join(binaries, name))
    expect_job(program, [os.path.join(binaries, "gexrun"), "-n", "2"], "smp", "par")
    check("1 in the neighborhood" in run(
        ["env", f"PATH={binaries}:{os.environ['PATH']}", "gasnetrun_emu", "-n", "2", program],
        GASNET_SUPERNODE_MAXSIZE="1"), "gasnetrun_emu by PATH through a link")
    expect_job(program, [os.path.join(binaries, "amudprun"), "-np", "2"], "smp", "par")
    if "ofi" in tree.conduits:
        # A library that is found through a link has its plug-ins where the link leads.
        libraries = os.path.join(place, "libraries")
        os.makedirs(libraries)
        name = os.path.basename(glob.glob(tree.path("lib", "libgex.so.?*"))[0])
        os.symlink(tree.path("lib", name), os.path.join(libraries, name))
        output = run([program], GEX_CONDUIT="ofi", GASNET_PSHM_NODES="2",
                     GASNET_SUPERNODE_MAXSIZE="1", LD_LIBRARY_PATH=libraries)
        check(output.count("1 in the neighborhood, right") == 2, output)


def plug_ins(tree):
    """Where a program that is linked with the archive finds the plug-in of its network, started by
    itself and by launchers of others: first in the folder that the environment names, then the program's,
    then the one that the archive was installed in. A failure names them."""
    if "ofi" not in tree.conduits:
        return
    place = tree.output("plug-ins")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    program = os.path.join(place, "client")
    run(["cc", *tree.pkg_config("--cflags", "gasnet-ofi-par").split(), tree.source("client.c"),
         *tree.pkg_config("--libs", "gasnet-ofi-par").split(), "-o", program])
    alone = {"GASNET_PSHM_NODES": "2", "GASNET_SUPERNODE_MAXSIZE": "1"}

    def refusal(**variables):
        printed = run([program], status=1, **alone, **variables)
        check(printed.count("\n") == 1, printed)
        return printed

    def works(command, **variables):
        output = run(command, **variables)
        for rank in (0, 1):
            line = f"rank {rank} of 2: OFI PAR, 1 in the neighborhood, right"
            check(line in output.splitlines(), f"{command}: no line '{line}' in:\n{output}")

    searched = f"{place}, {place}/gex, {tree.installed}/lib"
    if tree.moved:
        printed = refusal()
        # Other built-in networks stand there too.
        check(re.search(r"conduit 'ofi' not found; available: smp, emu\b[^(;]* "
                        rf"\(looked for libgex-ofi\.so in: {re.escape(searched)};", printed), printed)
        works([program], GEX_CONDUIT_PATH=tree.path("lib"), **alone)
    else:
        works([program], **alone)
        for launcher in ("mpirun.openmpi", "mpirun.mpich"):
            if shutil.which(launcher) is not None:
                works([launcher, "-n", "2", program], GASNET_SUPERNODE_MAXSIZE="1", **OPEN_MPI)
        check(f"looked for libgex-other.so in: {searched};" in refusal(GEX_CONDUIT="other"),
              "where it looked")
    # Beside the program, which is found whatever it was called.
    os.symlink(tree.path("lib", "libgex-ofi.so"), os.path.join(place, "libgex-ofi.so"))
    works([program], **alone)
    works(["env", f"PATH={place}:{os.environ['PATH']}", "client"], **alone)
    wrong = os.path.join(place, "wrong")
    os.makedirs(wrong)
    with open(os.path.join(wrong, "libgex-ofi.so"), "w", encoding="utf-8") as file:
        file.write("this is no library\n")
    check(f"{wrong}/libgex-ofi.so" in refusal(GEX_CONDUIT_PATH=wrong), "GEX_CONDUIT_PATH is first")


def blanks(tree):
    """The tree at a place with a blank in its name, by pkg-config, whose words a shell takes apart."""
    place = tree.output("with a blank")
    os.makedirs(place, exist_ok=True)
    prefix = os.path.join(place, "gex")
    if not os.path.islink(prefix):
        os.symlink(tree.prefix, prefix)
    program = os.path.join(place, "client")
    for package in ("gex", "gasnet-smp-par"):
        run(["sh", "-c", f"eval cc -DGASNET_PAR $(pkg-config --cflags {package}) '\"$1\"' -o client "
             f"$(pkg-config --libs {package}) -lm", "sh", tree.source("client.c")], cwd=place,
            PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
        expect_job(program, [os.path.join(prefix, "bin", "gexrun"), "-n", "2"], "smp", "par")


def tools_tests(tree):
    """Programs of the tools: alone in C, by the fragment; beside GASNet in C++, by pkg-config."""
    for mode in ("seq", "par"):
        names = [f"GASNETTOOLS_{name}" for name in SETTINGS]
        s = tree.settings(tree.path("include", f"gasnet_tools-{mode}.mak"), names)
        program = tree.output(f"tools-{mode}")
        flags = f"{s['GASNETTOOLS_CPPFLAGS']} {s['GASNETTOOLS_CFLAGS']}".split()
        run([s["GASNETTOOLS_CC"], *flags, tree.source("tools_client.c"), "-o", program,
             *s["GASNETTOOLS_LDFLAGS"].split(), *s["GASNETTOOLS_LIBS"].split()])
        check(run([program]) == "tools right\n", program)
        check("gex_Client_Init" not in run(["nm", program]), f"{program} holds all of libgex")
        found = re.findall(rb"\$GASNetTools(\w+): ([^$\0]*) \$", open(program, "rb").read())
        check((b"ThreadModel", mode.upper().encode()) in found and
              any(name == b"Config" and b"RELEASE=2025.8.0" in value for name, value in found),
              f"{program}: identified as {found}")
        package = f"gasnet_tools-{mode}"
        run(["c++", *tree.pkg_config("--cflags", package).split(),
             tree.source("tools_client.c", ".cc"), "-o", program + "-cxx",
             *tree.pkg_config("--libs", package, f"gasnet-smp-{mode}").split()])
        check(run([program + "-cxx"]) == "tools right\n", program)


def tools_beside_gasnet(tree):
    """Both archives in one program that joins a job and uses the tools, in either order, by every
    linker there is."""
    flags = tree.pkg_config("--cflags", "gasnet-smp-par").split()
    libraries = [tree.pkg_config("--libs", package).split()
                 for package in ("gasnet_tools-par", "gasnet-smp-par")]
    for linker in ("bfd", "gold", "lld"):
        if shutil.which(f"ld.{linker}") is None:
            continue
        for order, words in (("before", sum(libraries, [])), ("after", sum(libraries[::-1], []))):
            program = tree.output(f"tools-{order}-gasnet-{linker}")
            run(["cc", f"-fuse-ld={linker}", *flags, tree.source("client.c"),
                 "-Wl,--undefined=gasnett_print_backtrace", *words, "-o", program])
            expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")


def pkg_config(tree, conduit, mode, standard):
    """pkg-config with C and with C++ of an old and of a new standard."""
    package = f"gasnet-{conduit}-{mode}"
    compiler, suffix = ("c++", ".cc") if standard.startswith("c++") else ("cc", ".c")
    program = tree.output(f"pkg-{conduit}-{mode}-{standard}")
    run([compiler, f"-std={standard}", *tree.pkg_config("--cflags", package).split(),
         tree.source("client.c", suffix), "-o", program,
         *tree.pkg_config("--libs", package).split()])
    check("libgex" not in run(["ldd", program]), f"{program} loads a shared libgex")
    expect_job(program, [tree.path("bin", "gexrun"), "-n", "2"], conduit, mode)
    for name in ("GASNET_" + name for name in SETTINGS + SPAWNERS):
        check(f"{name}=" in text_of(tree.path("lib", "pkgconfig", f"{package}.pc")),
              f"{package}.pc has no variable {name}")
    check(tree.pkg_config("--modversion", package) == "2025.8.0", "version")
    check(os.path.samefile(tree.pkg_config("--variable=prefix", package), tree.prefix), "prefix")


def cmake(tree, labels):
    """CMake: Legion's module over the fragments of these labels, and HPX's imported targets."""
    flavours = [f"{conduit}_{mode}" for conduit, mode in labels]
    build = tree.output("cmake")
    run(["cmake", "-S", tree.source("cmake_client"), "-B", build, "-G", "Ninja",
         f"-DGASNet_ROOT_DIR={tree.prefix}", f"-DCLIENT={tree.source('client.c')}",
         f"-DFLAVOURS={';'.join(flavours)}"],
        PKG_CONFIG_PATH=tree.path("lib", "pkgconfig"))
    run(["cmake", "--build", build])
    for conduit, mode in labels:
        expect_job_without_launcher(tree, os.path.join(build, f"legion_{conduit}_{mode}"), conduit, mode)
    for mode in MODES:
        expect_job(os.path.join(build, f"hpx_{mode}"), [], "smp", mode, GASNET_PSHM_NODES="2")


def static_program(tree):
    """A program without a loader: a job on one machine, and one line where a library would have to be
    loaded, which brings another C library."""
    program = tree.output("static")
    run(["cc", "-static", *tree.pkg_config("--cflags", "gasnet-smp-par").split(),
         tree.source("client.c"), *tree.pkg_config("--libs", "gasnet-smp-par").split(), "-o", program])
    expect_job(program, [tree.path("bin", "gasnetrun_smp"), "-n", "2"], "smp", "par")
    expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")
    if "ofi" in tree.conduits:
        printed = run([tree.path("bin", "gexrun"), "-n", "2", program], status=1, GEX_CONDUIT="ofi")
        check("libgex-ofi.so cannot be loaded: the program is linked with -static" in printed
              and printed.count("\n") == 1, printed)
    if shutil.which("mpirun.mpich") is not None:
        expect_job(program, ["mpirun.mpich", "-n", "2"], "smp", "par")
    if shutil.which("mpirun.openmpi") is not None:
        printed = run(["mpirun.openmpi", "-n", "2", program], status=1, **OPEN_MPI)
        check("this program is linked with -static" in printed and "signal" not in printed, printed)


def realm_runtime_mk(tree):
    """Realm's runtime.mk goes by the names of files, of networks in its list, and names the network
    again on the command line."""
    known = "ibv aries gemini pami mpi udp ofi psm mxm portals4 smp ucx".split()
    found = [net for net in known if glob.glob(tree.path("lib", f"libgasnet-{net}-par.*"))]
    check(found == [net for net in known if net in tree.conduits], f"networks {found}")
    program = tree.output("realm")
    run(["c++", "-std=c++17", f"-I{tree.path('include')}", f"-I{tree.path('include/smp-conduit')}",
         "-DGASNET_PAR", "-DGASNET_CONDUIT_SMP", tree.source("client.c", ".cc"), "-o", program,
         f"-L{tree.path('lib')}", "-lgasnet-smp-par", "-lpthread", "-ldl"])
    expect_job(program, [tree.path("bin", "gasnetrun_smp"), "-n", "2"], "smp", "par")
    check(tree.pkg_config("--variable=GASNET_LD_REQUIRES_MPI", "gasnet-smp-par") == "0", "MPI")


def osss(tree):
    """The OpenSHMEM reference implementation: awk on gasnet_config.h, ls for networks, then the
    fragment; the program is linked for fixed addresses."""
    version = [run(["awk", f"/GASNET_RELEASE_VERSION_{part}/{{print $3}}",
                    tree.path("include", "gasnet_config.h")]).split()
               for part in ("MAJOR", "MINOR", "PATCH")]
    check(all(len(part) == 1 for part in version), f"version is {version}")
    check([int(part[0]) for part in version] >= [1, 18, 0], f"version is {version}")
    check(os.path.isdir(tree.path("bin")), "no bin")
    conduits = [os.path.basename(path)[:-len("-conduit")]
                for path in glob.glob(tree.path("include", "*-conduit"))]
    check(sorted(conduits) == sorted(tree.conduits), f"networks {conduits}")
    for conduit in conduits:
        check(os.path.exists(tree.path("include", f"{conduit}-conduit", "gasnet_core.h")), conduit)
    s = tree.settings(fragment(tree, "smp", "seq"),
                      ["GASNET_CPPFLAGS", "GASNET_LDFLAGS", "GASNET_LIBS", "GASNET_LD"])
    program = tree.output("osss")
    run(["cc", *s["GASNET_CPPFLAGS"].split(), "-fno-pie", "-c", tree.source("gasnet1_client.c"),
         "-o", program + ".o"])
    run([s["GASNET_LD"], "-no-pie", *s["GASNET_LDFLAGS"].split(), program + ".o",
         *s["GASNET_LIBS"].split(), "-o", program])
    expect_gasnet1_job(program)


def caffeine(tree):
    """Caffeine reads variables through pkg-config, finds the prefix in the first word of the
    libraries, and wants its own C compiler."""
    value = {name: tree.pkg_config(f"--variable=GASNET_{name}", "gasnet-smp-par")
             for name in ("LDFLAGS", "LIBS", "CC", "CFLAGS", "CPPFLAGS")}
    first = re.fullmatch(r"-L(.*)/lib", value["LIBS"].split()[0])
    check(first, f"libraries begin with no -L<prefix>/lib: {value['LIBS']}")
    check(os.path.exists(os.path.join(first.group(1), "include", "gasnetex.h")), "no gasnetex.h")
    check(run([value["CC"], "--version"]) == run([tree.compiler, "--version"]), "another compiler")
    for name in ("RELEASE_VERSION", "BUILD_ID", "CONFIGURE_ARGS"):
        check(re.search(rf"^#define GASNETI_{name}\b",
                        text_of(tree.path("include", "gasnet_config.h")), re.M), name)
    program = tree.output("caffeine")
    run([*value["CC"].split(), *value["CPPFLAGS"].split(), *value["CFLAGS"].split(),
         tree.source("client.c"), *value["LDFLAGS"].split(), *value["LIBS"].split(), "-o", program])
    expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")


def chapel(tree):
    """Chapel reads the .pc file itself: variables are replaced if they were defined before, fields
    and variables share one table, and nothing is predefined."""
    table = {}
    for line in text_of(tree.path("lib", "pkgconfig", "gasnet-smp-par.pc")).splitlines():
        if line.startswith("#") or not line.strip():
            continue
        found = re.match(r"\s*(\S+?)\s*=\s*(.*)$", line) or re.match(r"\s*(\S+?)\s*:\s*(.*)$", line)
        check(found, f"neither variable nor field: {line}")
        value = found.group(2)
        for name in re.findall(r"\${([^}]+)}", value):
            check(name in table, f"{name} is used before it is defined: {line}")
            value = value.replace("${" + name + "}", table[name])
        table[found.group(1)] = value
    check("Requires" not in table and "Requires.private" not in table, "Requires")
    program = tree.output("chapel")
    run(["cc", *table["Cflags"].split(), tree.source("client.c"), "-o", program,
         *table["Libs"].split()])
    expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")


def devastator(tree):
    """devastator takes the settings out of the text of a build folder's fragment."""
    text = text_of(tree.path("share", "libgex", "upcxx", "smp-conduit", "smp-par.mak"))
    value = {name: re.search(rf"^GASNET_{name}\s*=(.*)$", text, re.M).group(1).split()
             for name in ("LDFLAGS", "CXXCPPFLAGS", "CXXFLAGS", "LIBS")}
    program = tree.output("devastator")
    run(["c++", "-std=c++11", *value["CXXCPPFLAGS"], *value["CXXFLAGS"],
         tree.source("client.c", ".cc"), "-o", program, *value["LDFLAGS"], *value["LIBS"]])
    expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")


def omni(tree):
    """Omni XcalableMP greps the settings out of the fragment and puts them into its own Makefile."""
    lines = run(["grep", "^GASNET_", fragment(tree, "smp", "seq")])
    program = tree.output("omni")
    makefile = tree.output("omni.mk")
    with open(makefile, "w", encoding="utf-8") as file:
        file.write(lines + "all:\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) "
                   f"{tree.source('gasnet1_client.c')} -o {program} $(GASNET_LDFLAGS) "
                   "$(GASNET_LIBS)\n")
    run(["make", "-f", makefile])
    expect_gasnet1_job(program)


def bcl(tree):
    """BCL looks for the header and the library by name, and links nothing else by itself."""
    program = tree.output("bcl")
    run(["c++", "-std=c++20", "-DGASNET_PAR", f"-I{tree.path('include')}",
         tree.source("client.c", ".cc"), "-o", program,
         tree.path("lib", "libgasnet-smp-par.a")])
    expect_job(program, [tree.path("bin", "gasnetrun_smp"), "-n", "2"], "smp", "par")


def installed_upcxx(tree, prefix, conduit, mode):
    """A program by UPC++'s own copy of the tree, started as UPC++ does: what all ranks of one machine
    share memory for starts itself, the rest by a launcher named for the network."""
    s = tree.settings(os.path.join(prefix, "include", f"{conduit}-conduit", f"{conduit}-{mode}.mak"),
                      [f"GASNET_{name}" for name in SETTINGS])
    check(s["GASNET_PREFIX"] == prefix, f"installed in {s['GASNET_PREFIX']}")
    program = tree.output(f"upcxx-{conduit}-{mode}")
    run([*s["GASNET_CXX"].split(), "-std=c++17", *s["GASNET_CXXCPPFLAGS"].split(),
         *s["GASNET_CXXFLAGS"].split(), tree.source("client.c", ".cc"), "-o", program,
         *s["GASNET_LDFLAGS"].split(), *s["GASNET_LIBS"].split()])
    recorded = None
    with open(program, "rb") as file:
        for line in file:
            for word in line.split(b"$"):
                if word.startswith(b"GASNetConduitName:"):
                    recorded = word.split()[1].decode().lower()
    check(recorded == conduit, f"{program}: network {recorded}")
    if conduit == "smp":
        expect_job(program, [], conduit, mode, GASNET_PSHM_NODES="2")
    expect_job(program, [os.path.join(prefix, "bin", f"gasnetrun_{conduit}"), "-n", "2"], conduit,
               mode)
    printed = run([program], status=1, GEX_CONDUIT="other", GASNET_PSHM_NODES="2")
    check(f", {prefix}/lib;" in printed, f"plug-ins are not looked for in UPC++'s copy: {printed}")


def upcxx(tree, install_name, everything):
    """UPC++: a build folder of GASNet, from which it installs a copy for itself. It links with the C++
    compiler, never with GASNET_LD, and reads the network out of the executable. Programs are built
    for every network in one mode, or in both."""
    folder = tree.path("share", "libgex", "upcxx")
    config = text_of(os.path.join(folder, "gasnet_config.h"))
    spec = [re.search(rf"EX_SPEC_VERSION_{part} +(\d+)$", config, re.M)
            for part in ("MAJOR", "MINOR")]
    check(all(spec) and (int(spec[0].group(1)), int(spec[1].group(1))) >= (0, 10), "specification")
    names = ("PERL CONDUITS EXESUFFIX CC_FAMILY CXX_FAMILY CC_SUBFAMILY CXX_SUBFAMILY "
             "GASNET_THREAD_DEFINES GASNET_THREAD_LIBS").split()
    template = tree.output("facts.in")
    with open(template, "w", encoding="utf-8") as file:
        file.write("".join(f"{name}=@{name}@\n" for name in names))
    run([os.path.join(folder, "config.status")], cwd=tree.work, CONFIG_FILES="facts:facts.in")
    facts = dict(line.split("=", 1) for line in text_of(tree.output("facts")).splitlines())
    known = [conduit for conduit in tree.conduits if conduit != "emu"]
    # Built-in networks stand before plug-ins there.
    check(sorted(facts["CONDUITS"].split()) == sorted(known) and facts["CC_FAMILY"] in ("GNU", "CLANG")
          and facts["GASNET_THREAD_LIBS"] == "-lpthread" and "@" not in str(facts), f"{facts}")
    for words in (["all"], *(["-C", f"{conduit}-conduit", "seq", "par"] for conduit in tree.conduits),
                  ["clean"]):
        run(["make", *words], cwd=folder)
    for conduit in tree.conduits:
        for mode in ("seq", "par"):
            name = os.path.join(folder, f"{conduit}-conduit", f"{conduit}-{mode}.mak")
            s = tree.settings(name, ["GASNET_PREFIX", "GASNET_CXXCPPFLAGS"])
            check(s["GASNET_PREFIX"] == tree.prefix
                  and f"-DGASNET_CONDUIT_{conduit.upper()}=1" in s["GASNET_CXXCPPFLAGS"].split(),
                  f"{name}: {s}")
    prefix = tree.output(install_name)
    run(["make", "install", f"prefix={prefix}"], cwd=folder)
    for at, conduit in enumerate(tree.conduits):
        for mode in ("seq", "par") if everything else [("par", "seq")[at % 2]]:
            installed_upcxx(tree, prefix, conduit, mode)
    words = ("GASNET_MAXEPS", "GASNET_HIDDEN_AM_CONCURRENCY_LEVEL",
             "GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM")
    probe = tree.output("probe.c")
    with open(probe, "w", encoding="utf-8") as file:
        file.write("#include <gasnetex.h>\n" + "".join(f"probe_{word} {word}\n" for word in words))
    text = run(["cc", "-E", "-DGASNET_PAR", f"-I{tree.path('include')}", probe])
    for word in words:
        value = re.search(rf"^probe_{word} (.*)$", text, re.M).group(1)
        check(value == word or re.fullmatch(r"\d+", value), f"{word} expands to '{value}'")


def upcxx_folders(tree):
    """The build folder has what UPC++ reads: the folder of the sources and a header in it, launchers
    before they are installed, and one line for each fact of the configuration. The folder for
    debugging makes clients that are debugged, with the checking library."""
    for name, optimised in (("upcxx", "-O3"), ("upcxx-debug", "-O0 -g")):
        folder = tree.path("share", "libgex", name)
        text = text_of(os.path.join(folder, "Makefile"))
        sources = re.findall(r"^TOP_SRCDIR *= *(.*)$", text, re.M)
        check(sources == [folder.replace(tree.prefix, tree.installed)], f"TOP_SRCDIR: {sources}")
        check(run(["make", "-s", "-f", "Makefile", "-f", "/dev/stdin", "print"], cwd=folder,
                  stdin="print:; @echo $(TOP_SRCDIR)\n").strip() == folder, "TOP_SRCDIR by make")
        run(["cc", "-E", f"-I{os.path.join(folder, 'other')}", "-include",
             "gasnet_portable_platform.h", "/dev/null", "-o", "/dev/null"])
        launchers = [("other/amudp", "amudprun")] + [(f"{conduit}-conduit/contrib", f"gasnetrun_{conduit}")
                                                     for conduit in tree.conduits]
        for place, launcher in launchers:
            for found in (os.path.join(folder, place, launcher), os.path.join(folder, "bin", launcher)):
                check(os.access(found, os.X_OK), f"no {found}")
        config = text_of(os.path.join(folder, "gasnet_config.h"))
        for fact, value in (("CONFIGURE_ARGS", '"--.*"'), ("EX_SPEC_VERSION_MAJOR", "0"),
                            ("EX_SPEC_VERSION_MINOR", "19"), ("SYSTEM_NAME", '".+"'),
                            ("SYSTEM_TUPLE", rf'"{os.uname().machine}-unknown-linux-gnu"'),
                            ("CONDUITS", f'"{" ".join(sorted(tree.conduits))}"')):
            line = re.findall(rf"^#define GASNETI_{fact} (.*)$", config, re.M)
            if fact == "CONDUITS" and line:
                line = ['"' + " ".join(sorted(line[0].strip('"').split())) + '"']
            check(len(line) == 1 and re.fullmatch(value, line[0]), f"GASNETI_{fact}: {line}")
        prefix = tree.output(f"{name}-copy")
        shutil.rmtree(prefix, ignore_errors=True)
        check(run(["make", "-s", "install", f"prefix={prefix}"], cwd=folder) == "", "make install")
        fragment_of_copy = os.path.join(prefix, "include", "smp-conduit", "smp-par.mak")
        names = [f"GASNET_{setting}" for setting in SETTINGS]
        s = tree.settings(fragment_of_copy, names)
        check(s["GASNET_PREFIX"] == prefix and s["GASNET_CFLAGS"].startswith(optimised),
              f"{s}")
        program = tree.output(f"{name}-program")
        run(["cc", *s["GASNET_CPPFLAGS"].split(), *s["GASNET_CFLAGS"].split(),
             tree.source("client.c"), "-o", program, *s["GASNET_LIBS"].split()])
        with open(program, "rb") as file:
            check((b"Usage checks are on" in file.read()) == (name == "upcxx-debug"), program)
        expect_job(program, [os.path.join(prefix, "bin", "gasnetrun_smp"), "-n", "2"], "smp", "par")
        shutil.rmtree(prefix)


def by_hand(tree):
    """Nothing but folders and a name; a label of a network that is not here is one line."""
    program = tree.output("by-hand")
    words = ["cc", "-DGASNET_PAR", f"-I{tree.path('include')}", tree.source("client.c"),
             f"-L{tree.path('lib')}", "-lgasnet-smp-par", "-lm", "-o", program]
    run(words)
    expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")
    run([*words, "-DGASNET_CONDUIT_IBV"])
    printed = run([tree.path("bin", "gexrun"), "-n", "2", program], status=1)
    check("conduit 'ibv' not found; available: smp, emu" in printed and printed.count("\n") == 1, printed)
    expect_job(program, [tree.path("bin", "gexrun"), "-n", "2", "--conduit", "smp"], "ibv", "par",
               neighbors=2)


def linkers(tree):
    """The archive in a program that drops what it can, and in a shared library without undefined
    names, by every linker there is."""
    s = tree.settings(fragment(tree, "smp", "par"), ["GASNET_CPPFLAGS", "GASNET_LIBS"])
    flags, libraries = s["GASNET_CPPFLAGS"].split(), s["GASNET_LIBS"].split()
    for linker in ("bfd", "gold", "lld"):
        if shutil.which(f"ld.{linker}") is None:
            continue
        program = tree.output(f"linked-{linker}")
        words = ["cc", f"-fuse-ld={linker}", "-Wl,--gc-sections", *flags]
        run([*words, "-ffunction-sections", tree.source("client.c"), *libraries, "-o", program])
        expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")
        expect_identification(program, "smp", "par")
        run([*words, "-shared", "-fPIC", "-Wl,-z,defs", tree.source("client.c"), *libraries, "-o",
             program + ".so"])


def checking_library(tree):
    """The checking library has the same names one folder further down, in place of a debug build."""
    program = tree.output("checked")
    words = ["cc", *tree.pkg_config("--cflags", "gasnet-smp-par").split(),
             tree.source("client.c"), "-o", program]
    libraries = tree.pkg_config("--libs", "gasnet-smp-par").split()
    for folders, checked in (([], False), ([f"-L{tree.path('lib', 'debug')}"], True)):
        run([*words, *folders, *libraries])
        with open(program, "rb") as file:
            check((b"Usage checks are on" in file.read()) == checked, f"linked with {folders}")
        expect_job(program, [], "smp", "par", GASNET_PSHM_NODES="2")


def exit_flushes(tree):
    """The rest of a C++ client's std::cout is written out when it ends the job."""
    program = tree.output("exit_client")
    package = "gasnet-smp-par"
    run(["c++", "-std=c++11", *tree.pkg_config("--cflags", package).split(),
         tree.source("exit_client.cc"), "-o", program,
         *tree.pkg_config("--libs", package).split()])
    check("libstdc++" in run(["ldd", program]), "the client is to have a runtime of its own")
    output = run([tree.path("bin", "gasnetrun_smp"), "-n", "2", program])
    check(sorted(output.splitlines()) == [f"final output of rank {rank}" for rank in (0, 1)], output)


def launchers(tree):
    """The options that scripts give; what cannot be done is one line."""
    client = tree.output("pkg-smp-par-c11")
    smp, emu, udp = (tree.path("bin", name) for name in ("gasnetrun_smp", "gasnetrun_emu",
                                                         "amudprun"))
    expect_job(client, [smp, "-n", "2", "-N", "1", "-c", "0", "-E", "HOME,PATH", "-k",
                        "-spawner=fork", "--"], "smp", "par")
    expect_job(client, [udp, "-np", "2", "-spawn", "L", "-depth", "4", "-E", "HOME"], "smp", "par")
    expect_job(client, [udp, "-N", "2"], "smp", "par", GASNET_SPAWNFN="L")
    check("1 in the neighborhood" in run([emu, "-n", "2", client], GASNET_SUPERNODE_MAXSIZE="1"),
          "gasnetrun_emu names the network")
    check("--conduit" not in run([emu, "-t", "-n", "2", client], GEX_CONDUIT="smp"),
          "who names a network in the environment has the last word")
    check(run([smp, "-t", "-n3", "-v", client, "-n", "5"]).split()[1:] ==
          ["-n", "3", "--conduit", "smp", "-v", "--", client, "-n", "5"], "-t")
    for refused, reason in (([smp, "-n", "2", "-N", "2", client],
                             "-N 2: the network smp works on one machine only"),
                            ([emu, "-n", "2", "-spawner=ssh", client],
                             "spawner 'ssh': the network emu works on one machine only"),
                            ([smp, "-n", "2", "-spawner=pmi", client], "spawner 'pmi' is not supported"),
                            ([udp, "-np", "2", "-spawn", "S", client], "no machines are named"),
                            ([udp, "-np", "2", "-spawn", "C", client],
                             "spawn function 'C' is not supported"),
                            ([smp, "-n", "x", client], "-n 'x' is not a number of ranks"),
                            ([smp, "-n", "2"], "the program to run is missing"),
                            ([smp, client], "the number of ranks is missing"),
                            ([smp, "-n", "2", "-what", client], "unknown option -what")):
        printed = run(refused, status=2)
        check(reason in printed and printed.count("\n") == 1, f"{refused}: {printed}")
    check("is not supported" in run([smp, "-n", "2", client], status=2, GASNET_SMP_SPAWNER="mpi"),
          "GASNET_SMP_SPAWNER")
    run([smp, "-t", "-n", "2", client], GASNET_SPAWNER="mpi")
    check("is not supported" in run([udp, "-n", "2", client], status=2, GASNET_SPAWNFN="C"), "SPAWNFN")


def launchers_on_hosts(tree):
    """Two machines, which are this one, as scripts name them. Ranks on one would be neighbors."""
    if "ofi" not in tree.conduits:
        return
    client = tree.output("on-hosts")
    run(["cc", *tree.pkg_config("--cflags", "gasnet-ofi-par").split(), tree.source("client.c"),
         *tree.pkg_config("--libs", "gasnet-ofi-par").split(), "-o", client])
    ofi, udp = (tree.path("bin", name) for name in ("gasnetrun_ofi", "amudprun"))
    reached = {"GASNET_SSH_CMD": tree.source(os.path.join("..", "jobs", "launch", "rsh_here.sh"))}
    for launch, variables in (
            ([ofi, "-n", "2", "-N", "2"], {"GASNET_SSH_SERVERS": "one two three"}),
            ([ofi, "-n", "2", "-N", "2", "-c", "0", "-E", "HOME", "-spawner=ssh"],
             {"SSH_SERVERS": "one,two"}),
            ([ofi, "-n", "2"], {"GASNET_OFI_SPAWNER": "ssh", "GASNET_SSH_SERVERS": "one two"}),
            ([udp, "-np", "2"], {"GASNET_SPAWNFN": "S", "SSH_SERVERS": "one two"})):
        output = run([*launch, client], **reached, **variables)
        for rank in (0, 1):
            line = f"rank {rank} of 2: OFI PAR, 1 in the neighborhood, right"
            check(line in output.splitlines(), f"{launch}, {variables}: no line '{line}':\n{output}")


def names_of_the_reference(tree):
    """Names beside the interface: archives that build scripts link, symbols that configure scripts
    probe, and a team's internal name."""
    for conduit, archive in (("udp", "amudp"), ("mpi", "ammpi")):
        if conduit in tree.conduits:
            program = tree.output(archive)
            for folder in ("lib", os.path.join("lib", "debug")):
                run(["cc", "-DGASNET_PAR", f"-DGASNET_CONDUIT_{conduit.upper()}=1",
                     f"-I{tree.path('include')}", f"-I{tree.path('include', conduit + '-conduit')}",
                     tree.source("client.c"), "-o", program, f"-L{tree.path(folder)}", f"-lgasnet-{conduit}-par", f"-l{archive}",
                     "-lpthread", "-lm"])
    expect_job(tree.output("amudp"), [tree.path("bin", "gexrun"), "-n", "2"], "udp", "par")
    probe = tree.output("probe.c")
    with open(probe, "w", encoding="utf-8") as file:
        file.write("char gasnetc_AMPoll();\nextern char gasnete_coll_team_all;\n"
                   "int main(void) { return gasnetc_AMPoll() + gasnete_coll_team_all; }\n")
    # As such a script links: without the mathematics library.
    run(["cc", "-w", "-Wl,--fatal-warnings", probe, "-o", tree.output("probed"),
         f"-L{tree.path('lib')}", "-lgasnet-smp-par", "-lrt", "-lpthread"])
