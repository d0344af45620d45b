// Compiled for each program: its threading mode, and the record of it that start-up checks.

#include "conformance.h"

namespace conformance {

#if GASNET_SEQ
const Mode mode = Mode::seq;
#elif GASNET_PARSYNC
const Mode mode = Mode::parsync;
#else
const Mode mode = Mode::par;
#endif
const char* const config_string = GASNET_CONFIG_STRING;
const int max_threads = GASNETI_MAX_THREADS;

}  // namespace conformance
