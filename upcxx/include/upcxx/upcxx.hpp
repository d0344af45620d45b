/// @file
/// The whole interface. Programs include this file alone.
#ifndef UPCXX_UPCXX_HPP_
#define UPCXX_UPCXX_HPP_
#if __INCLUDE_LEVEL__ && !defined(UPCXXI_SHOW_WARNINGS)
#pragma GCC system_header
#endif

#include <upcxx/collective.hpp>
#include <upcxx/heap.hpp>
#include <upcxx/job.hpp>
#include <upcxx/rma.hpp>
#include <upcxx/team.hpp>
#include <upcxx/when_all.hpp>

#endif
