#pragma once
// The net::Host that conduits are given: exchange among the ranks, the memory of neighborhoods,
// variables, completion, and messages to the user.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gex {

/// Takes a message that has arrived over a network; see `Host::deliver`.
using Deliver = void (*)(std::uint32_t source, net::Channel channel, const void* message,
                         std::size_t size);

/// Its `env_` functions work without a job, the others once `complete_conduit_host` has returned.
const net::Host& conduit_host() noexcept;

/// Start-up only, once the neighborhood is formed. Collective over the job.
const net::Host& complete_conduit_host(Deliver deliver);

/// Start-up only. What a conduit warns of is added to `kept` instead of printed; null: printed.
void keep_conduit_warnings(std::vector<std::string>* kept) noexcept;

}  // namespace gex
