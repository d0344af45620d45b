/// @file
/// The versions that programs test, and what a program chooses before it includes upcxx/upcxx.hpp.
/// Part of upcxx/upcxx.hpp.
#ifndef UPCXX_VERSION_HPP_
#define UPCXX_VERSION_HPP_

#include <cstddef>
#include <cstdint>

/// Release of the interface that these headers follow, and of its specification: YYYYMMPP.
#define UPCXX_VERSION 20251000L
#define UPCXX_SPEC_VERSION 20230900L

// UPCXX_THREADMODE is not defined in seq, and UPCXX_CODEMODE not in debug: the wrapper, or the
// command that compiles, defines them. Programs from before them test the names below.
#if defined(UPCXX_THREADMODE)
#define UPCXX_BACKEND_GASNET_PAR 1
#else
#define UPCXX_BACKEND_GASNET_SEQ 1
#endif
#if !defined(UPCXX_NETWORK_SMP) && !defined(UPCXX_NETWORK_UDP) && !defined(UPCXX_NETWORK_MPI) && \
    !defined(UPCXX_NETWORK_IBV) && !defined(UPCXX_NETWORK_UCX) && !defined(UPCXX_NETWORK_OFI)
// The network is chosen when a job starts; the label is that of libgex without one.
#define UPCXX_NETWORK_SMP 1
#endif

// Memory of CUDA devices needs nothing when it is compiled. Programs include CUDA's headers where
// this is defined, and so it is where there are any.
#if !defined(UPCXX_KIND_CUDA) && defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#define UPCXX_KIND_CUDA 202103L
#endif
#endif

/// Largest size in bytes of a value that is passed by itself, and of an argument of an RPC: a
/// program may define others.
#ifndef UPCXX_MAX_VALUE_SIZE
#define UPCXX_MAX_VALUE_SIZE 512
#endif
#ifndef UPCXX_MAX_RPC_ARG_SIZE
#define UPCXX_MAX_RPC_ARG_SIZE 512
#endif

#define UPCXXI_EXPORT __attribute__((visibility("default")))

namespace upcxx {

/// A rank of the job or of a team.
using intrank_t = std::int32_t;

#ifdef UPCXXI_NETWORK_LABEL
namespace detail {
// upcxx-run looks for it in the program's file.
#define UPCXXI_TEXT_OF(name) #name
#define UPCXXI_TEXT(name) UPCXXI_TEXT_OF(name)
__attribute__((used)) inline const char network_label[] =
    "$UPCXXNetwork: " UPCXXI_TEXT(UPCXXI_NETWORK_LABEL) " $";
#undef UPCXXI_TEXT
#undef UPCXXI_TEXT_OF
}  // namespace detail
#endif

/// The versions of the library that the program runs with.
UPCXXI_EXPORT long release_version();
UPCXXI_EXPORT long spec_version();

}  // namespace upcxx

#endif
