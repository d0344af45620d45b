#include "atomic/native.h"

#include "atomic/operation.h"
#include "core/process.h"
#include "core/progress.h"

namespace gex::atomic {

bool network_has(gex_DT_t type, gex_OP_t operations) noexcept {
  const net::Conduit* conduit = process().conduit;
  return conduit != nullptr && conduit->atomic != nullptr &&
         (operations & ~conduit->atomic_operations(type)) == 0;
}

int ask_network(const AtomicRequest& operation, CompletionTarget done, bool immediate) noexcept {
  const rma::ResolvedTransfer& target = operation.target;
  const net::Remote remote{target.peer.jobrank, target.key, target.remote};
  std::uint64_t operands[2] = {};
  gex_ad_write_(operation.type, &operands[0], operation.operand1);
  gex_ad_write_(operation.type, &operands[1], operation.operand2);
  void* result = fetches(operation.opcode) ? target.local : nullptr;
  const auto begun = [&]() noexcept {
    return process().conduit->atomic(&remote, operation.type, operation.opcode, &operands[0],
                                     &operands[1], result, done) == net::sent;
  };
  if (begun()) return 0;
  if (immediate) return 1;
  wait_until([&]() noexcept { return target.as(OpKind::atomic); }, begun, WaitCause::room);
  return 0;
}

}  // namespace gex::atomic
