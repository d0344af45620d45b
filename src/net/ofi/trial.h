#pragma once
// The capabilities that a provider reports are tried before they are relied on: by operations of a
// rank on itself, of which it can see when their bytes are there.
//
// Thread rules: before other threads come, and before anything else uses the endpoint.

#include <cstddef>
#include <cstdint>
#include <string>

#include "net/ofi/atomics.h"
#include "net/ofi/domain.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/operation.h"
#include "net/ofi/scratch.h"

namespace gex::net::ofi {

class Trial {
 public:
  /// `endpoint` is enabled. Lives as long as the endpoint: an operation that has not completed in
  /// time may do so later.
  Trial(const Domain& domain, const Endpoint& endpoint, const Scratch& scratch);

  /// Returns what is broken of that by which puts are shown to be at the peer. What cannot be
  /// tried, because a rank does not reach itself, is taken to work.
  Broken broken_puts();

  /// Leaves the operations that give the right results; returns the names of the others.
  std::string keep_working(AtomicOperations& operations);

 private:
  enum class Outcome : std::uint8_t { done, failed, silent };

  /// Has `post`, which returns as libfabric's functions do, post an operation, and waits for its
  /// completion.
  template <class Post>
  Outcome perform(Post post);
  Outcome write(std::size_t word, std::uint64_t value, std::uint64_t flags);
  /// Reads a byte of the word.
  Outcome read(std::size_t word);
  std::uint64_t value_of(std::size_t word) const;

  template <class T>
  bool gives_right_results(const AtomicPlan& plan);
  bool gives_right_results(const AtomicPlan& plan);
  /// A fetching operation on the word; writes the former value.
  template <class T>
  Outcome operate(const AtomicPlan& plan, std::size_t word, T operand, T expected, T& former);

  const Endpoint& endpoint_;
  const Scratch& scratch_;
  fi_addr_t self_;  ///< FI_ADDR_NOTAVAIL: this rank does not reach itself
  OperationContext context_{};
  std::size_t next_word_ = 0;  ///< of those that were not used yet
  bool gave_up_ = false;       ///< an operation did not complete, and no time is left for others
};

}  // namespace gex::net::ofi
