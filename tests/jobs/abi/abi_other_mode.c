/* A translation unit compiled for another threading mode than the rest of its program. */
#include <gasnetex.h>
