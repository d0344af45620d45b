#pragma once
// The job, by the library that this program is compiled for.

#ifdef FT_ON_MPI
#include "mpi/job.h"
#elif defined(FT_ON_UPCXX)
#include "upcxx/job.h"
#else
#include "gex/job.h"
#endif
