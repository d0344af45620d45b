#pragma once
// A completion queue. Reading it moves on the endpoints that are bound to it; nothing else does.
//
// Thread rules: with the domain's mutex held, but what libfabric calls.

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gexsim {

class Domain;
class Endpoint;

struct Completion {
  fi_cq_tagged_entry entry{};
  int error = 0;  ///< libfabric's number, of one that failed
};

class CompletionQueue : public fid_cq {
 public:
  CompletionQueue(Domain& domain, const fi_cq_attr& attributes, void* context);

  void attach(Endpoint& endpoint) { endpoints_.push_back(&endpoint); }
  void detach(const Endpoint& endpoint);

  /// An operation is posted whose completion will need room; false: there is none.
  bool reserve();
  /// It will have none after all.
  void release() { --reserved_; }
  /// Returns true if a receive can complete.
  bool has_room() const { return entries_.size() + reserved_ < capacity_ || overruns_; }

  /// `is_reserved`: room was reserved for it.
  void add(const Completion& completion, bool is_reserved);

  std::uint64_t asked_size() const { return asked_size_; }
  /// How often it has been read.
  std::uint64_t reads() const { return reads_; }

 private:
  friend struct CompletionQueueTable;
  Domain& domain_;
  fi_cq_format format_;
  std::size_t asked_size_;
  std::size_t capacity_;
  const bool overruns_;
  bool is_broken_ = false;
  std::size_t reserved_ = 0;
  std::uint64_t reads_ = 0;
  std::deque<Completion> entries_;
  std::vector<Endpoint*> endpoints_;
};

}  // namespace gexsim
