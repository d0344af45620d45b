/// @file
/// The whole interface. Programs include this file alone.
#ifndef UPCXX_UPCXX_HPP_
#define UPCXX_UPCXX_HPP_

// Programs use these without including them.
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>

#include <upcxx/atomic_domain.hpp>
#include <upcxx/collective.hpp>
#include <upcxx/containers.hpp>
#include <upcxx/copy.hpp>
#include <upcxx/coroutine.hpp>
#include <upcxx/device.hpp>
#include <upcxx/dist_object.hpp>
#include <upcxx/heap.hpp>
#include <upcxx/job.hpp>
#include <upcxx/memberof.hpp>
#include <upcxx/nontrivial.hpp>
#include <upcxx/output.hpp>
#include <upcxx/relo.hpp>
#include <upcxx/rma.hpp>
#include <upcxx/rpc.hpp>
#include <upcxx/team.hpp>
#include <upcxx/view.hpp>
#include <upcxx/vis.hpp>
#include <upcxx/when_all.hpp>

#endif
