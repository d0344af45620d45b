#!/bin/bash
# compiled_once.sh PATH...: fails when a source of these, which are compiled once for the checking
# library and for the other, would differ between them.
found=$(grep -rnE '\b(GEX_DEBUG|NDEBUG|GASNET_DEBUG)\b|\bassert *\(' "$@")
[ -z "$found" ] && exit 0
echo "$found"
echo "compiled_once: these are compiled once for both forms of the library: GEX_ROOMS_WITHOUT_CHECKS in cmake/GexTargets.cmake, CHECKING of conduits"
exit 1
