#include "atomic/remote.h"

#include "am/internal.h"
#include "am/token.h"
#include "atomic/operation.h"
#include "base/error.h"
#include "base/tsan.h"
#include "core/memory_class.h"
#include "rma/messages.h"

namespace gex::atomic {

namespace {

using am::Outbound;
using am::Packed;
using am::Wide;

constinit am::Internal request_message{"atomic"};
constinit am::Internal result_message{"result of an atomic"};

/// Between the type and the operation in one argument: operations take 25 bits, a type's number 3.
constexpr unsigned type_shift = 28;

struct Request {
  Wide address;
  Wide operand1;
  Wide operand2;
  std::uint32_t type_and_opcode;
  Wide target;
  Wide result;
};
/// An operation that fetches has this result; another is answered as a put is.
struct Result {
  Wide target;
  Wide result;
  Wide old;
  std::uint32_t type;
};

std::uint32_t encode(gex_DT_t type, gex_OP_t opcode) noexcept {
  const auto number = static_cast<std::uint32_t>(__builtin_ctz(type));
  return number << type_shift | opcode;
}

void on_request(gex_Token_t token, const Request& request, void*, std::size_t) noexcept {
  const gex_Rank_t source = token->header.source;
  const gex_DT_t type = gex_DT_t{1} << (request.type_and_opcode >> type_shift);
  const gex_OP_t opcode = request.type_and_opcode & ((1U << type_shift) - 1);
  if (!is_operation_of(type, opcode))
    fatal("rank %u: unknown atomic operation 0x%x of type 0x%x", source, opcode, type);
  std::byte* at = rma::own_range(token, request.address, size_of(type), "an atomic operation");
  if (request.address % size_of(type) != 0)
    fatal("rank %u: an atomic operation at %p, which is not aligned", source,
          static_cast<void*>(at));
  require_host_memory(at, "the target", "an atomic operation");
  // Both, whatever the caller's flags are: between its thread and all that see the result.
  const std::uint64_t old = apply(type, at, opcode, request.operand1, request.operand2,
                                  GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
  if (fetches(opcode))
    am::reply_with(token, result_message, Result{request.target, request.result, old, type});
  else
    rma::reply_done(token, request.target);
}

void on_result(gex_Token_t, const Result& result, void*, std::size_t) noexcept {
  auto* done = result.target.as<CompletionTarget>();
  order_through_peer_ends(done);
  gex_ad_write_(result.type, result.result.as<void*>(), result.old);
  complete(done);
}

}  // namespace

int ask_owner(const AtomicRequest& operation, CompletionTarget done, bool immediate) noexcept {
  const Packed packed(Request{operation.target.remote, operation.operand1, operation.operand2,
                              encode(operation.type, operation.opcode), Wide(done),
                              Wide(operation.target.local)});
  Outbound message = packed.message_for(request_message);
  message.what.set_endpoints(am::endpoints_of(operation.target.peer));
  order_through_peer_begins(done);
  return am::send_request(operation.target.peer.jobrank, message, immediate);
}

void start_remote() {
  am::register_request<on_request>(request_message);
  am::register_reply<on_result>(result_message);
}

}  // namespace gex::atomic
