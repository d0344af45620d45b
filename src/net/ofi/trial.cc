#include "net/ofi/trial.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "net/ofi/wire.h"

namespace gex::net::ofi {

namespace {

/// How long an operation on the own memory may take.
constexpr std::chrono::seconds patience{2};

// The page: words that operations are tried on, and what the operations read and write here.
constexpr std::size_t word_stride = 32;
constexpr std::size_t words = 64;
constexpr std::size_t source_at = words * word_stride;
constexpr std::size_t operand_at = source_at + 8;
constexpr std::size_t expected_at = source_at + 16;
constexpr std::size_t former_at = source_at + 24;
static_assert(former_at + 8 <= Scratch::size);

fi_addr_t address_of_self(const Domain& domain, const Endpoint& endpoint) {
  std::string error;
  std::vector<std::byte> name = endpoint.name(error);
  if (!error.empty()) return FI_ADDR_NOTAVAIL;
  name.push_back(std::byte{0});  // behind a text
  return domain.insert(name.data());
}

/// Returns what is left in a word with 6 in it after an operation with 3.
template <class T>
T after(fi_op operation) {
  switch (operation) {
    case FI_SUM:
      return 9;
    case FI_PROD:
      return 18;
    case FI_BAND:
      return 2;
    case FI_BOR:
      return 7;
    case FI_BXOR:
      return 5;
    case FI_MAX:
    case FI_ATOMIC_READ:
      return 6;
    default:  // FI_MIN, FI_ATOMIC_WRITE, FI_CSWAP
      return 3;
  }
}

}  // namespace

Trial::Trial(const Domain& domain, const Endpoint& endpoint, const Scratch& scratch)
    : endpoint_(endpoint), scratch_(scratch), self_(address_of_self(domain, endpoint)) {
  context_.purpose = OperationContext::Purpose::trial;
}

template <class Post>
Trial::Outcome Trial::perform(Post post) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  bool is_posted = false;
  for (; Clock::now() < until; std::this_thread::yield()) {
    if (!is_posted) {
      const ssize_t result = post();
      if (result != 0 && result != -FI_EAGAIN) return Outcome::failed;
      is_posted = result == 0;
    }
    fi_cq_data_entry entry{};
    const ssize_t found = fi_cq_read(endpoint_.completions(), &entry, 1);
    if (found == 1 && entry.op_context == &context_.for_provider) return Outcome::done;
    if (found != -FI_EAVAIL) continue;
    fi_cq_err_entry error{};
    if (fi_cq_readerr(endpoint_.completions(), &error, 0) == 1 &&
        error.op_context == &context_.for_provider)
      return Outcome::failed;
  }
  if (is_posted) {
    gave_up_ = true;
    return Outcome::silent;
  }
  self_ = FI_ADDR_NOTAVAIL;
  return Outcome::failed;
}

std::uint64_t Trial::value_of(std::size_t word) const {
  // Acquire: what was written before is seen as well.
  return std::atomic_ref<std::uint64_t>(
             *reinterpret_cast<std::uint64_t*>(scratch_.memory() + word * word_stride))
      .load(std::memory_order_acquire);
}

Trial::Outcome Trial::write(std::size_t word, std::uint64_t value, std::uint64_t flags) {
  std::byte* const source = scratch_.memory() + source_at;
  std::memcpy(source, &value, sizeof value);
  const Place place = scratch_.place_of(word * word_stride);
  return perform([&] {
    iovec from{source, sizeof value};
    void* descriptor = scratch_.descriptor();
    fi_rma_iov to{place.address, sizeof value, place.key};
    fi_msg_rma message{};
    message.msg_iov = &from;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = self_;
    message.rma_iov = &to;
    message.rma_iov_count = 1;
    message.context = &context_.for_provider;
    return fi_writemsg(endpoint_.endpoint(), &message, flags | FI_COMPLETION);
  });
}

Trial::Outcome Trial::read(std::size_t word) {
  const Place place = scratch_.place_of(word * word_stride);
  return perform([&] {
    return fi_read(endpoint_.endpoint(), scratch_.memory() + former_at, 1, scratch_.descriptor(),
                   self_, place.address, place.key, &context_.for_provider);
  });
}

Broken Trial::broken_puts() {
  const RmaMeans means = endpoint_.rma();
  if (self_ == FI_ADDR_NOTAVAIL || !means.available) return 0;
  constexpr std::uint64_t value = 0x0102030405060708;
  std::size_t word = next_word_++;
  if (!means.delivery_complete) {
    if (means.max_ordered < sizeof value ||
        write(word, value, FI_TRANSMIT_COMPLETE) != Outcome::done)
      return gave_up_ ? broken_order : 0;
    const Outcome outcome = read(word);
    const bool is_kept = outcome == Outcome::failed || value_of(word) == value;
    return outcome == Outcome::silent || !is_kept ? broken_order : 0;
  }
  const Outcome outcome = write(word, value, FI_DELIVERY_COMPLETE);
  if (outcome == Outcome::failed) {
    self_ = FI_ADDR_NOTAVAIL;
    return 0;
  }
  if (outcome == Outcome::silent || value_of(word) != value) return broken_delivery;
  if (means.max_fenced < sizeof value) return 0;
  word = next_word_++;
  if (write(word, value, FI_TRANSMIT_COMPLETE) != Outcome::done ||
      write(next_word_++, value, FI_DELIVERY_COMPLETE) != Outcome::done)
    return gave_up_ ? broken_write_order : 0;
  return value_of(word) == value ? 0 : broken_write_order;
}

template <class T>
Trial::Outcome Trial::operate(const AtomicPlan& plan, std::size_t word, T operand, T expected,
                              T& former) {
  std::byte* const memory = scratch_.memory();
  std::memcpy(memory + operand_at, &operand, sizeof operand);
  std::memcpy(memory + expected_at, &expected, sizeof expected);
  const Place place = scratch_.place_of(word * word_stride);
  void* const descriptor = scratch_.descriptor();
  const Outcome outcome = perform([&]() -> ssize_t {
    if (plan.compares)
      return fi_compare_atomic(endpoint_.endpoint(), memory + operand_at, 1, descriptor,
                               memory + expected_at, descriptor, memory + former_at, descriptor,
                               self_, place.address, place.key, plan.type, plan.operation,
                               &context_.for_provider);
    return fi_fetch_atomic(endpoint_.endpoint(), memory + operand_at, 1, descriptor,
                           memory + former_at, descriptor, self_, place.address, place.key,
                           plan.type, plan.operation, &context_.for_provider);
  });
  std::memcpy(&former, memory + former_at, sizeof former);
  return outcome;
}

template <class T>
bool Trial::gives_right_results(const AtomicPlan& plan) {
  // A word of its own: an interface may keep words in a cache, of which writes by a processor take
  // nothing out.
  const std::size_t word = next_word_++;
  const T before = 6, operand = 3;
  std::memcpy(scratch_.memory() + word * word_stride, &before, sizeof before);
  T former{};
  if (operate<T>(plan, word, operand, before, former) != Outcome::done || former != before)
    return false;
  const AtomicPlan look{.type = plan.type, .width = plan.width, .operation = FI_ATOMIC_READ};
  if (!has_operation(endpoint_.endpoint(), look)) return true;
  return operate<T>(look, word, operand, before, former) == Outcome::done &&
         former == after<T>(plan.operation);
}

bool Trial::gives_right_results(const AtomicPlan& plan) {
  if (gave_up_ || next_word_ == words) return false;
  if (plan.type == FI_DOUBLE) return gives_right_results<double>(plan);
  if (plan.type == FI_FLOAT) return gives_right_results<float>(plan);
  return plan.width == sizeof(std::uint64_t) ? gives_right_results<std::uint64_t>(plan)
                                             : gives_right_results<std::uint32_t>(plan);
}

std::string Trial::keep_working(AtomicOperations& operations) {
  std::string broken;
  if (self_ == FI_ADDR_NOTAVAIL) return broken;
  operations.keep_if([&](const AtomicPlan& plan) {
    const bool works = self_ == FI_ADDR_NOTAVAIL || gives_right_results(plan);
    if (works || self_ == FI_ADDR_NOTAVAIL) return true;
    broken.append(broken.empty() ? "" : ", ").append(fi_tostr(&plan.operation, FI_TYPE_ATOMIC_OP));
    broken.append(" on ").append(fi_tostr(&plan.type, FI_TYPE_ATOMIC_TYPE));
    return false;
  });
  return broken;
}

}  // namespace gex::net::ofi
