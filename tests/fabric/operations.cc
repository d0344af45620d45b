// The calls that post: each becomes an Operation, or is refused for what it asks.

#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstring>

#include "endpoint.h"
#include "knobs.h"
#include "stubs.h"

namespace gexsim {

namespace {

Endpoint& own(fid_ep* endpoint) {
  return *static_cast<Endpoint*>(endpoint);
}

/// Keeps a copy of what is injected, since its source is the client's again at once.
void copy_sources(Operation& operation) {
  std::size_t total = 0;
  for (const Segment& segment : operation.segments) total += segment.size;
  operation.copy.resize(total);
  std::size_t at = 0;
  for (Segment& segment : operation.segments) {
    if (segment.size != 0) std::memcpy(operation.copy.data() + at, segment.local, segment.size);
    segment.local = operation.copy.data() + at;
    segment.region = nullptr;
    at += segment.size;
  }
}

/// Applies the flags of an operation; returns 0 or libfabric's error.
ssize_t settle(Endpoint& endpoint, Operation& operation, std::uint64_t flags, void** descriptors,
               std::uint64_t access) {
  const Knobs& knob = knobs();
  const bool is_injected = (flags & FI_INJECT) != 0;
  std::size_t total = 0;
  for (std::size_t i = 0; i < operation.segments.size(); ++i) {
    Segment& segment = operation.segments[i];
    total += segment.size;
    void* const descriptor = descriptors != nullptr ? descriptors[i] : nullptr;
    if (!is_injected && !endpoint.find_local(descriptor, segment, access)) return -FI_EINVAL;
  }
  if (total > knob.max_message) return -FI_EMSGSIZE;
  if (is_injected && total > endpoint.inject_size()) return -FI_EMSGSIZE;
  if (is_injected) copy_sources(operation);
  const bool is_delivery = ((flags | endpoint.default_flags()) & FI_DELIVERY_COMPLETE) != 0;
  if (is_delivery && knob.delivery == "refused") return -FI_EBADFLAGS;
  if (is_delivery && knob.delivery == "never") operation.never_completes = true;
  // A layer that echoes the flag for one-sided operations still has acknowledgements for messages.
  if (is_delivery && (knob.delivery == "kept" || operation.kind == Kind::send))
    operation.awaits_answer = true;
  if (operation.kind == Kind::read || operation.kind == Kind::atomic)
    operation.awaits_answer = true;
  operation.is_delivered = is_delivery;
  if (operation.kind == Kind::send && total > knob.eager) {
    operation.is_fetched = true;
    operation.awaits_answer = true;
  }
  if (endpoint.is_selective() && (flags & FI_COMPLETION) == 0) operation.reports = false;
  return 0;
}

// Messages.

ssize_t send_pieces(fid_ep* endpoint, const iovec* pieces, void** descriptors, std::size_t count,
                    fi_addr_t to, void* context, std::uint64_t flags, bool reports = true) {
  if (count > knobs().iov) return -FI_EINVAL;
  Operation operation;
  operation.kind = Kind::send;
  operation.context = context;
  operation.flags = FI_SEND | FI_MSG;
  for (std::size_t i = 0; i < count; ++i)
    operation.segments.push_back(
        {.local = static_cast<std::byte*>(pieces[i].iov_base), .size = pieces[i].iov_len});
  if (const ssize_t refused = settle(own(endpoint), operation, flags, descriptors, FI_SEND);
      refused != 0)
    return refused;
  if (!reports) operation.reports = false;
  return own(endpoint).post(std::move(operation), to);
}

ssize_t send_message(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  return send_pieces(endpoint, message->msg_iov, message->desc, message->iov_count, message->addr,
                     message->context, flags);
}
ssize_t send(fid_ep* endpoint, const void* start, std::size_t size, void* descriptor, fi_addr_t to,
             void* context) {
  const iovec piece{const_cast<void*>(start), size};
  return send_pieces(endpoint, &piece, &descriptor, 1, to, context, FI_COMPLETION);
}
ssize_t send_vector(fid_ep* endpoint, const iovec* pieces, void** descriptors, std::size_t count,
                    fi_addr_t to, void* context) {
  return send_pieces(endpoint, pieces, descriptors, count, to, context, FI_COMPLETION);
}
ssize_t inject(fid_ep* endpoint, const void* start, std::size_t size, fi_addr_t to) {
  const iovec piece{const_cast<void*>(start), size};
  return send_pieces(endpoint, &piece, nullptr, 1, to, nullptr, FI_INJECT, false);
}

ssize_t receive_message(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  if (message->iov_count != 1) return -FI_EINVAL;
  if ((flags & FI_MULTI_RECV) != 0 && knobs().multi_recv == 0) return -FI_EBADFLAGS;
  return own(endpoint).post_receive(message->msg_iov->iov_base, message->msg_iov->iov_len,
                                    message->desc != nullptr ? message->desc[0] : nullptr,
                                    message->context, flags);
}
ssize_t receive(fid_ep* endpoint, void* start, std::size_t size, void* descriptor, fi_addr_t,
                void* context) {
  return own(endpoint).post_receive(start, size, descriptor, context, 0);
}
ssize_t receive_vector(fid_ep* endpoint, const iovec* pieces, void** descriptors, std::size_t count,
                       fi_addr_t from, void* context) {
  if (count != 1) return -FI_EINVAL;
  return receive(endpoint, pieces->iov_base, pieces->iov_len,
                 descriptors != nullptr ? descriptors[0] : nullptr, from, context);
}

// One-sided transfers.

/// Cuts the pieces of both ends at each other's borders; false: they differ in size.
bool pair_up(const iovec* local, std::size_t locals, const fi_rma_iov* remote, std::size_t remotes,
             void** descriptors, std::vector<Segment>& segments, std::vector<void*>& expanded) {
  std::size_t here = 0, there = 0;
  std::uint64_t here_byte = 0, there_byte = 0;
  while (here < locals && there < remotes) {
    const std::uint64_t size =
        std::min<std::uint64_t>(local[here].iov_len - here_byte, remote[there].len - there_byte);
    segments.push_back({.local = static_cast<std::byte*>(local[here].iov_base) + here_byte,
                        .size = size,
                        .target = remote[there].addr + there_byte,
                        .key = remote[there].key});
    expanded.push_back(descriptors != nullptr ? descriptors[here] : nullptr);
    here_byte += size;
    there_byte += size;
    if (here_byte == local[here].iov_len) ++here, here_byte = 0;
    if (there_byte == remote[there].len) ++there, there_byte = 0;
  }
  return here == locals && there == remotes;
}

ssize_t transfer(fid_ep* endpoint, Kind kind, const fi_msg_rma* message, std::uint64_t flags,
                 bool reports = true) {
  if (message->iov_count > knobs().iov || message->rma_iov_count > knobs().rma_iov)
    return -FI_EINVAL;
  Operation operation;
  operation.kind = kind;
  operation.context = message->context;
  operation.flags = FI_RMA | (kind == Kind::write ? FI_WRITE : FI_READ);
  std::vector<void*> descriptors;
  if (!pair_up(message->msg_iov, message->iov_count, message->rma_iov, message->rma_iov_count,
               message->desc, operation.segments, descriptors))
    return -FI_EINVAL;
  if (const ssize_t refused = settle(own(endpoint), operation, flags, descriptors.data(),
                                     kind == Kind::write ? FI_WRITE : FI_READ);
      refused != 0)
    return refused;
  if (!reports) operation.reports = false;
  return own(endpoint).post(std::move(operation), message->addr);
}

ssize_t transfer_one(fid_ep* endpoint, Kind kind, void* start, std::size_t size, void* descriptor,
                     fi_addr_t to, std::uint64_t target, std::uint64_t key, void* context,
                     std::uint64_t flags, bool reports = true) {
  const iovec local{start, size};
  const fi_rma_iov remote{target, size, key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = to;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = context;
  return transfer(endpoint, kind, &message, flags, reports);
}

ssize_t transfer_vector(fid_ep* endpoint, Kind kind, const iovec* local, void** descriptors,
                        std::size_t count, fi_addr_t to, std::uint64_t target, std::uint64_t key,
                        void* context) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += local[i].iov_len;
  const fi_rma_iov remote{target, size, key};
  fi_msg_rma message{};
  message.msg_iov = local;
  message.desc = descriptors;
  message.iov_count = count;
  message.addr = to;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = context;
  return transfer(endpoint, kind, &message, FI_COMPLETION);
}

ssize_t read_vector(fid_ep* endpoint, const iovec* local, void** descriptors, std::size_t count,
                    fi_addr_t from, std::uint64_t target, std::uint64_t key, void* context) {
  return transfer_vector(endpoint, Kind::read, local, descriptors, count, from, target, key,
                         context);
}
ssize_t write_vector(fid_ep* endpoint, const iovec* local, void** descriptors, std::size_t count,
                     fi_addr_t to, std::uint64_t target, std::uint64_t key, void* context) {
  return transfer_vector(endpoint, Kind::write, local, descriptors, count, to, target, key,
                         context);
}
ssize_t read(fid_ep* endpoint, void* start, std::size_t size, void* descriptor, fi_addr_t from,
             std::uint64_t target, std::uint64_t key, void* context) {
  return transfer_one(endpoint, Kind::read, start, size, descriptor, from, target, key, context,
                      FI_COMPLETION);
}
ssize_t read_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer(endpoint, Kind::read, message, flags);
}
ssize_t write(fid_ep* endpoint, const void* start, std::size_t size, void* descriptor, fi_addr_t to,
              std::uint64_t target, std::uint64_t key, void* context) {
  return transfer_one(endpoint, Kind::write, const_cast<void*>(start), size, descriptor, to, target,
                      key, context, FI_COMPLETION);
}
ssize_t write_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer(endpoint, Kind::write, message, flags);
}
ssize_t inject_write(fid_ep* endpoint, const void* start, std::size_t size, fi_addr_t to,
                     std::uint64_t target, std::uint64_t key) {
  return transfer_one(endpoint, Kind::write, const_cast<void*>(start), size, nullptr, to, target,
                      key, nullptr, FI_INJECT, false);
}

// Atomic operations, of one element.

ssize_t operate(fid_ep* endpoint, const void* operand, std::size_t count, void* descriptor,
                const void* compare, void* compare_descriptor, void* result,
                void* result_descriptor, fi_addr_t to, std::uint64_t target, std::uint64_t key,
                fi_datatype type, fi_op operation, void* context) {
  if (count != 1 || !has_atomic(type, operation, compare != nullptr)) return -FI_EOPNOTSUPP;
  if (knobs().atomic_delivery == 0 && (own(endpoint).default_flags() & FI_DELIVERY_COMPLETE) != 0)
    return -FI_EOPNOTSUPP;
  Operation made;
  made.kind = Kind::atomic;
  made.context = context;
  made.flags = FI_ATOMIC | (result != nullptr ? FI_READ : FI_WRITE);
  made.result = result;
  made.width = width_of(type);
  made.awaits_answer = true;
  made.segments.push_back({.local = nullptr, .size = made.width, .target = target, .key = key});
  made.atomic.datatype = static_cast<std::uint16_t>(type);
  made.atomic.atomic_operation = static_cast<std::uint16_t>(operation);
  made.atomic.compares = compare != nullptr ? 1 : 0;
  const auto is_reached = [&](const void* memory, void* with, std::uint64_t access) {
    Segment segment{.local = static_cast<std::byte*>(const_cast<void*>(memory)),
                    .size = made.width};
    return memory == nullptr || own(endpoint).find_local(with, segment, access);
  };
  if (!(operation == FI_ATOMIC_READ || is_reached(operand, descriptor, FI_WRITE)) ||
      !is_reached(compare, compare_descriptor, FI_WRITE) ||
      !is_reached(result, result_descriptor, FI_READ))
    return -FI_EINVAL;
  if (operand != nullptr) std::memcpy(&made.atomic.operand, operand, made.width);
  if (compare != nullptr) std::memcpy(&made.atomic.expected, compare, made.width);
  return own(endpoint).post(std::move(made), to);
}

ssize_t atomic_write(fid_ep* endpoint, const void* operand, std::size_t count, void* descriptor,
                     fi_addr_t to, std::uint64_t target, std::uint64_t key, fi_datatype type,
                     fi_op operation, void* context) {
  return operate(endpoint, operand, count, descriptor, nullptr, nullptr, nullptr, nullptr, to,
                 target, key, type, operation, context);
}
ssize_t atomic_fetch(fid_ep* endpoint, const void* operand, std::size_t count, void* descriptor,
                     void* result, void* result_descriptor, fi_addr_t to, std::uint64_t target,
                     std::uint64_t key, fi_datatype type, fi_op operation, void* context) {
  return operate(endpoint, operand, count, descriptor, nullptr, nullptr, result, result_descriptor,
                 to, target, key, type, operation, context);
}
ssize_t atomic_compare(fid_ep* endpoint, const void* operand, std::size_t count, void* descriptor,
                       const void* compare, void* compare_descriptor, void* result,
                       void* result_descriptor, fi_addr_t to, std::uint64_t target,
                       std::uint64_t key, fi_datatype type, fi_op operation, void* context) {
  return operate(endpoint, operand, count, descriptor, compare, compare_descriptor, result,
                 result_descriptor, to, target, key, type, operation, context);
}
int is_valid(fid_ep*, fi_datatype type, fi_op operation, std::size_t* count) {
  *count = 1;
  return has_atomic(type, operation, false) ? 0 : -FI_EOPNOTSUPP;
}
int is_valid_compare(fid_ep*, fi_datatype type, fi_op operation, std::size_t* count) {
  *count = 1;
  return has_atomic(type, operation, true) ? 0 : -FI_EOPNOTSUPP;
}

}  // namespace

fi_ops_msg message_table{.size = sizeof(fi_ops_msg),
                         .recv = receive,
                         .recvv = receive_vector,
                         .recvmsg = receive_message,
                         .send = send,
                         .sendv = send_vector,
                         .sendmsg = send_message,
                         .inject = inject,
                         .senddata = missing,
                         .injectdata = missing};
fi_ops_rma one_sided_table{.size = sizeof(fi_ops_rma),
                           .read = read,
                           .readv = read_vector,
                           .readmsg = read_message,
                           .write = write,
                           .writev = write_vector,
                           .writemsg = write_message,
                           .inject = inject_write,
                           .writedata = missing,
                           .injectdata = missing};
fi_ops_atomic atomic_table{.size = sizeof(fi_ops_atomic),
                           .write = atomic_write,
                           .writev = missing,
                           .writemsg = missing,
                           .inject = missing,
                           .readwrite = atomic_fetch,
                           .readwritev = missing,
                           .readwritemsg = missing,
                           .compwrite = atomic_compare,
                           .compwritev = missing,
                           .compwritemsg = missing,
                           .writevalid = is_valid,
                           .readwritevalid = is_valid,
                           .compwritevalid = is_valid_compare};
fi_ops_tagged tagged_table{.size = sizeof(fi_ops_tagged),
                           .recv = missing,
                           .recvv = missing,
                           .recvmsg = missing,
                           .send = missing,
                           .sendv = missing,
                           .sendmsg = missing,
                           .inject = missing,
                           .senddata = missing,
                           .injectdata = missing};

}  // namespace gexsim
