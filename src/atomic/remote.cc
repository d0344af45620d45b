#include "atomic/remote.h"

#include "am/internal.h"
#include "am/token.h"
#include "atomic/operation.h"
#include "base/error.h"
#include "base/tsan.h"
#include "rma/reference.h"

namespace gex::atomic {

namespace {

using am::get_word;
using am::Internal;
using am::Outbound;
using am::put_word;

/// Between the type and the operation in one argument: operations take 25 bits, a type's number 3.
constexpr unsigned type_shift = 28;

constexpr std::uint8_t request_args = 11;
constexpr std::uint8_t reply_args = 7;
constexpr std::uint8_t reply_args_without_value = 2;

gex_AM_Arg_t encode(gex_DT_t type, gex_OP_t opcode) noexcept {
  const auto number = static_cast<std::uint32_t>(__builtin_ctz(type));
  return static_cast<gex_AM_Arg_t>(number << type_shift | opcode);
}

// request: address, operand 1, operand 2, type and opcode, target of completion, result
void on_request(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args,
                unsigned arg_count) noexcept {
  const gex_Rank_t source = token->header.source;
  if (arg_count != request_args)
    fatal("rank %u: an atomic operation of %u arguments", source, arg_count);
  const auto code = static_cast<std::uint32_t>(args[6]);
  const gex_DT_t type = gex_DT_t{1} << (code >> type_shift);
  const gex_OP_t opcode = code & ((1U << type_shift) - 1);
  if (!is_operation_of(type, opcode))
    fatal("rank %u: unknown atomic operation 0x%x of type 0x%x", source, opcode, type);
  const std::uint64_t address = get_word(args);
  std::byte* at = rma::own_range(token, address, size_of(type), "an atomic operation");
  if (address % size_of(type) != 0)
    fatal("rank %u: an atomic operation at %p, which is not aligned", source,
          static_cast<void*>(at));
  // The caller's flags, whichever: between its thread and whoever sees the result.
  const std::uint64_t old = apply(type, at, opcode, get_word(args + 2), get_word(args + 4),
                                  GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);

  alignas(16) gex_AM_Arg_t answer[8] = {args[7], args[8], args[9], args[10]};
  put_word(answer + 4, old);
  answer[6] = static_cast<gex_AM_Arg_t>(type);
  Outbound reply;
  reply.handler = static_cast<std::uint8_t>(Internal::atomic_done);
  reply.arg_count = fetches(opcode) ? reply_args : reply_args_without_value;
  reply.args = answer;
  am::send_reply(token, reply);
}

// done: target of completion; and result, old value, type, if the operation fetches
void on_done(gex_Token_t, void*, std::size_t, const gex_AM_Arg_t* args,
             unsigned arg_count) noexcept {
  auto* done = reinterpret_cast<CompletionTarget>(get_word(args));
  if (arg_count == reply_args) {
    order_through_peer_ends(done);
    gex_ad_write_(static_cast<gex_DT_t>(args[6]), reinterpret_cast<void*>(get_word(args + 2)),
                  get_word(args + 4));
  }
  complete(done);
}

}  // namespace

int ask_owner(const Operation& operation, CompletionTarget done, bool immediate) noexcept {
  alignas(16) gex_AM_Arg_t args[12] = {};
  put_word(args, operation.target.remote);
  put_word(args + 2, operation.operand1);
  put_word(args + 4, operation.operand2);
  args[6] = encode(operation.type, operation.opcode);
  put_word(args + 7, reinterpret_cast<std::uint64_t>(done));
  put_word(args + 9, reinterpret_cast<std::uint64_t>(operation.target.local));
  Outbound message;
  message.handler = static_cast<std::uint8_t>(Internal::atomic_request);
  message.arg_count = request_args;
  message.args = args;
  message.endpoints = am::endpoints_of(operation.target.local_endpoint, operation.target.endpoint);
  order_through_peer_begins(done);
  return am::send_request(operation.target.jobrank, message, immediate);
}

void start_remote() {
  am::register_internal(Internal::atomic_request, on_request,
                        {.is_reply = false, .least_args = request_args});
  am::register_internal(Internal::atomic_done, on_done,
                        {.is_reply = true, .least_args = reply_args_without_value});
}

}  // namespace gex::atomic
