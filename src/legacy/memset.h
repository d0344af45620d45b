#pragma once
// gasnet_memset: at a mapped peer a memset, at any other one by its owner, asked by a message.

#include "rma/resolved_transfer.h"

namespace gex::legacy {

/// `transfer.local` is not looked at.
void memset_blocking(const rma::ResolvedTransfer& transfer, int value) noexcept;
void memset_implicit(const rma::ResolvedTransfer& transfer, int value) noexcept;
gex_Event_t memset_explicit(const rma::ResolvedTransfer& transfer, int value) noexcept;

/// Start-up only.
void start_memset();

}  // namespace gex::legacy
