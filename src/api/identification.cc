// Texts that scripts look for in the library and in programs that hold its archive: how it was
// built. What depends on the client stands in the client (gex/mode.h, gex/tools_system.h).

#include <gex/platform.h>
#include <gex/tools_system.h>
#include <gex/version.h>

GEX_IDENT_("BuildId", GASNETI_BUILD_ID " " GEX_LIBRARY_VERSION)
GEX_IDENT_("GitHash", GASNETI_BUILD_ID "-" GEX_LIBRARY_VERSION)
GEX_IDENT_("ConfigureArgs", GASNETI_CONFIGURE_ARGS)
GEX_IDENT_("SystemTuple", GASNETT_SYSTEM_TUPLE)
GEX_IDENT_("CompilerID", PLATFORM_COMPILER_IDSTR)
