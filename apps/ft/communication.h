#pragma once
// Communication, by the library that this program is compiled for.

#ifdef FT_ON_MPI
#include "mpi/communication.h"
#elif defined(FT_ON_UPCXX)
#include "upcxx/communication.h"
#else
#include "gex/communication.h"
#endif
