#!/bin/bash
# install.sh SOURCE BUILD WORK: installs BUILD below WORK and builds examples/ from the installed tree
# alone, with CMake and with pkg-config, then moves the tree and does the former again. Other ways in
# which clients are built: tests/install.
set -euo pipefail

source=$1
build=$2
work=$3

unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH gex_DIR
rm -rf "$work"
mkdir -p "$work"

fail() {
  echo "install: $*" >&2
  exit 1
}

# expect_ranks PROGRAM: two ranks, each printing its line.
expect_ranks() {
  local output
  output=$("$prefix/bin/gexrun" -n 2 "$1") || fail "$1 failed: $output"
  for rank in 0 1; do
    grep -q "^rank $rank: " <<<"$output" || fail "$1: no line of rank $rank in: $output"
  done
}

# expect_library PROGRAM FILE: the libgex.so that the program loads.
expect_library() {
  local loaded
  loaded=$(ldd "$1" | awk '$1 ~ /^libgex\.so/ { print $3 }')
  [ -n "$loaded" ] || fail "$1 does not link libgex.so"
  [ "$(realpath "$loaded")" = "$(realpath "$2")" ] || fail "$1 loads $loaded, not $2"
}

# expect_checking PROGRAM: LD_LIBRARY_PATH selects the checking library for it.
expect_checking() {
  LD_LIBRARY_PATH="$prefix/lib/debug" expect_library "$1" "$prefix/lib/debug/libgex.so"
}

# expect_refusal LINE COMMAND...: status 2 and that line alone.
expect_refusal() {
  local line=$1 output status=0
  shift
  output=$("$@" 2>&1) || status=$?
  [ "$status" = 2 ] || fail "status $status of $*: $output"
  [ "$output" = "$line" ] || fail "$* prints: $output"
}

# expect_mistakes PROGRAM: what examples/mistakes prints when it cannot make the mistake.
expect_mistakes() {
  local usage="mistakes: usage: gexrun -n 2 mistakes beyond|crash|leave" words
  for words in "" "crush" "crash leave"; do
    # shellcheck disable=SC2086  # each word an argument
    expect_refusal "$usage" "$prefix/bin/gexrun" -n 2 "$1" $words
  done
  expect_refusal "mistakes: rank 1 makes the mistake: start two ranks (gexrun -n 2)" \
    "$prefix/bin/gexrun" -n 1 "$1" crash
}

# Some systems' linkers do so by default.
rpath_before_environment=-Wl,--disable-new-dtags

# find_package_examples FOLDER: examples/ with CMake.
find_package_examples() {
  local out=$1 program
  cmake -S "$source/examples" -B "$out/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS="$rpath_before_environment" \
    >"$out.log" 2>&1 && cmake --build "$out/cmake" >>"$out.log" 2>&1 ||
    { cat "$out.log"; fail "examples do not build with find_package"; }
  for program in hello put_get hello_static; do
    expect_ranks "$out/cmake/$program"
  done
  expect_library "$out/cmake/put_get" "$prefix/lib/libgex.so"
  expect_checking "$out/cmake/put_get"
  ! ldd "$out/cmake/hello_static" | grep -q libgex || fail "hello_static links libgex.so"
}

# other_examples FOLDER: in the Debug configuration, with pkg-config, and the conduit.
other_examples() {
  local out=$1 program kind
  cmake -S "$source/examples" -B "$out/cmake-debug" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Debug >"$out.log" 2>&1 && cmake --build "$out/cmake-debug" >>"$out.log" 2>&1 ||
    { cat "$out.log"; fail "examples do not build with find_package in the Debug configuration"; }
  mkdir "$out/make"
  PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make --no-print-directory -C "$source/examples" \
    OUT="$out/make" LDFLAGS="$rpath_before_environment" >"$out.log" 2>&1 ||
    { cat "$out.log"; fail "examples do not build with pkg-config"; }

  for program in hello put_get; do
    for kind in cmake-debug make; do
      expect_ranks "$out/$kind/$program"
    done
    expect_library "$out/make/$program" "$prefix/lib/libgex.so"
    expect_checking "$out/make/$program"
    readelf -d "$out/make/$program" | grep -q '(RUNPATH)' || fail "$program has no DT_RUNPATH"
    expect_library "$out/cmake-debug/$program" "$prefix/lib/debug/libgex.so"
  done
  expect_mistakes "$out/make/mistakes"

  cmake -S "$source/examples/conduit" -B "$out/conduit" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    >"$out.log" 2>&1 && cmake --build "$out/conduit" >>"$out.log" 2>&1 ||
    { cat "$out.log"; fail "the example of a conduit does not build"; }
  ! readelf -d "$out/conduit/libgex-example.so" | grep NEEDED | grep -q 'libgex\.' ||
    fail "the example of a conduit links libgex"
  # Where plug-ins looked for the interface before its version 4.
  echo 'namespace { constexpr unsigned version = gex::net::interface_version; } static_assert(version >= 4);' |
    c++ -std=c++20 -fsyntax-only -I "$prefix/include/gex/plugin" -include net/conduit.h -x c++ - ||
    fail "there is no net/conduit.h for plug-ins any more"
  GEX_CONDUIT=example GEX_CONDUIT_PATH="$out/conduit" GASNET_SUPERNODE_MAXSIZE=1 \
    expect_ranks "$out/cmake/put_get"
}

# The target `installed` builds whatever is installed, and no test.
needed=$(ninja -C "$build" -t graph installed | sed -n 's/.*\[label="\([^"]*\)".*/\1/p')
! grep '^tests/' <<<"$needed" || fail "the target installed builds tests"
outputs=$(ninja -C "$build" -t targets all | sed 's/: .*//')
for file in lib/libgex.a lib/libgex_tools.a lib/debug/libgex.a lib/debug/libgex_tools.a \
  $(find "$build" -name cmake_install.cmake -exec grep -hoE "\"$build/[^\"]+\"" {} + |
    tr -d '"' | sed "s|^$build/||" | sort -u); do
  ! grep -qxF "$file" <<<"$outputs" || grep -qxF "$file" <<<"$needed" ||
    fail "the target installed does not build $file"
done

prefix=$work/first
cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
for file in include/gasnetex.h include/gex/abi.h lib/libgex.so lib/libgex.a lib/libgex_tools.a \
  lib/debug/libgex.so lib/debug/libgex.a lib/debug/libgex_tools.a lib/pkgconfig/gex.pc lib/cmake/gex/gexConfig.cmake bin/gexrun bin/gexinfo \
  bin/gexperf bin/gextrace bin/ft share/doc/libgex/ft/LICENSE.binary; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
# What programs and manual pages name is found from share/doc/libgex, and so is what the documents show.
documents=$prefix/share/doc/libgex
for name in $({ for program in gexrun gexinfo gexperf gextrace gasnetrun amudprun; do
    "$prefix/bin/$program" --help
  done; grep -h . "$prefix"/share/man/man1/*.1; echo README.md; } | tr -d '\\' |
  grep -oE '(docs/[a-z0-9-]+|README)\.md' | sort -u); do
  [ -e "$documents/$name" ] || fail "share/doc/libgex/$name is not installed"
done
while IFS=: read -r file picture; do
  picture=${picture#*\](}
  [ -e "$(dirname "$file")/${picture%)}" ] || fail "$file shows ${picture%)}, which is not installed"
done < <(grep -rHoE '!\[[^]]*\]\([^)]*\)' "$documents/README.md" "$documents/docs")
[ ! -e "$documents/docs/notes" ] || fail "docs/notes is installed"
if grep -rIl -e "$prefix" -e "$build" "$prefix/lib/pkgconfig/gex.pc" "$prefix/lib/cmake"; then
  fail "these files name the prefix or the build tree"
fi
for program in gexrun gexinfo gexperf gextrace; do
  "$prefix/bin/$program" --help >/dev/null || fail "$program does not start"
done
"$prefix/bin/gexrun" -n 2 "$prefix/bin/ft" --class S | grep "VERIFICATION SUCCESSFUL" >/dev/null ||
  fail "ft does not run"
mkdir "$work/out-first"
find_package_examples "$work/out-first"
other_examples "$work/out-first"

prefix="$work/moved/elsewhere"
mkdir "$work/moved" "$work/out-moved"
mv "$work/first" "$prefix"
find_package_examples "$work/out-moved"

mkdir "$work/stage"
DESTDIR="$work/stage" cmake --install "$build" --prefix /opt/gex >/dev/null
[ -e "$work/stage/opt/gex/lib/libgex.so" ] || fail "DESTDIR is not honoured"

# The README shows examples/hello.c, to the letter.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source/README.md" |
  cmp -s - "$source/examples/hello.c" || fail "README.md does not show examples/hello.c as it is"

rm -rf "$work"
echo "installed, built and ran: hello, put_get, hello_static, the example of a conduit, ft"
