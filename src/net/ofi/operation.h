#pragma once
// By what the completion of an operation of libfabric's is distinguished.

#include <rdma/fabric.h>

#include <cstdint>

namespace gex::net::ofi {

/// The context of every operation is the address of one of these, at the beginning of what the
/// operation is about. It begins with the room that some providers need (FI_CONTEXT, FI_CONTEXT2).
struct OperationContext {
  /// `trial`: see trial.h; of no consequence when it completes late.
  enum class Purpose : std::uint8_t { send, receive, one_sided, trial };

  fi_context2 for_provider;
  Purpose purpose;
};

}  // namespace gex::net::ofi
