// The operations of an MPI library: messages, puts and gets into a window, fetch-and-add, and
// transfers of derived datatypes. Built once with each MPI.
//
//   mpirun -n 2 --bind-to core peer_openmpi message.ack:8,4096 put:8,4096

#include <mpi.h>

#include <array>
#include <cstring>
#include <memory>

#include "measure.h"

namespace {

using peers::Repeated;

constexpr int tag = 0;

/// A committed datatype, which it owns.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  ~Datatype() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

std::shared_ptr<Datatype> strided(unsigned dims, std::size_t element_bytes, std::size_t elements) {
  const peers::Nest nest(dims, element_bytes, elements);
  MPI_Datatype type{};
  MPI_Type_contiguous(static_cast<int>(element_bytes), MPI_BYTE, &type);
  for (unsigned i = 0; i < dims; ++i) {
    MPI_Datatype next{};
    MPI_Type_create_hvector(static_cast<int>(nest.count[i]), 1, nest.strides[i], type, &next);
    MPI_Type_free(&type);
    type = next;
  }
  return std::make_shared<Datatype>(type);
}

std::shared_ptr<Datatype> indexed(std::size_t element_bytes, std::size_t elements) {
  std::vector<MPI_Aint> places(elements);
  for (std::size_t i = 0; i < elements; ++i)
    places[i] = static_cast<MPI_Aint>(element_bytes * peers::place_of(i));
  MPI_Datatype type{};
  MPI_Type_create_hindexed_block(static_cast<int>(elements), static_cast<int>(element_bytes),
                                 places.data(), MPI_BYTE, &type);
  return std::make_shared<Datatype>(type);
}

class Mpi final : public peers::Library {
 public:
  explicit Mpi(int argc) : buffer_(peers::window_for(argc)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    char* base = nullptr;
    MPI_Win_allocate(static_cast<MPI_Aint>(buffer_.size()), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &window_);
    std::memset(base, 0, buffer_.size());
    // One epoch for all: what is measured is a transfer and its flush.
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    barrier();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned size() const override { return static_cast<unsigned>(size_); }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  std::uint64_t from_root(std::uint64_t value) override {
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
  }

  Repeated operation(const std::string& name, std::size_t bytes) override {
    const int count = static_cast<int>(bytes);
    if (name == "put") return each_flushed([this, count] { put(count, MPI_BYTE); });
    if (name == "get") return each_flushed([this, count] { get(count); });
    if (name == "put.flood") return flood(bytes, [this, count] { put(count, MPI_BYTE); });
    if (name == "get.flood") return flood(bytes, [this, count] { get(count); });
    if (name == "message.ack") return [this, count](std::uint64_t n) { ping_pong(n, count, 0); };
    if (name == "message.rtt")
      return [this, count](std::uint64_t n) { ping_pong(n, count, count); };
    if (name == "message.flood") return [this, count](std::uint64_t n) { message_flood(n, count); };
    if (name.rfind("fadd.", 0) == 0) return fetch_add(name.substr(std::strlen("fadd.")));
    if (name == "hot_spot") return hot_spot();
    if (name == "barrier")
      return [this](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) barrier();
      };
    if (name == "broadcast")
      return [this, count](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i)
          MPI_Bcast(buffer_.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD);
        barrier();
      };
    if (name == "exchange") return exchange(bytes);
    if (name == "message.all") return [this, count](std::uint64_t n) { messages_to_all(n, count); };
    if (name == "sum") return sum(count / static_cast<int>(sizeof(double)));
    constexpr std::size_t element_bytes = 8;
    if (const unsigned dims = peers::dimensions_of(name)) {
      auto type = strided(dims, element_bytes, bytes / element_bytes);
      return flood(bytes, [this, type] { put(1, type->get()); });
    }
    if (name == "rows") {
      constexpr std::size_t row_bytes = 64;
      auto type = strided(3, row_bytes, bytes / row_bytes);
      return flood(bytes, [this, type] { put(1, type->get()); });
    }
    if (name == "ring") return ring(count);
    if (name == "indexed") {
      auto type = indexed(element_bytes, bytes / element_bytes);
      return flood(bytes, [this, type] { put(1, type->get()); });
    }
    return {};
  }

 private:
  void put(int count, MPI_Datatype type) {
    MPI_Put(buffer_.data(), count, type, 1, 0, count, type, window_);
  }
  void get(int count) { MPI_Get(buffer_.data(), count, MPI_BYTE, 1, 0, count, MPI_BYTE, window_); }

  template <class Begin>
  Repeated each_flushed(Begin begin) {
    return [this, begin](std::uint64_t n) {
      for (std::uint64_t i = 0; rank_ == 0 && i < n; ++i) {
        begin();
        MPI_Win_flush(1, window_);
      }
    };
  }

  template <class Begin>
  Repeated flood(std::size_t bytes, Begin begin) {
    return [this, bytes, begin](std::uint64_t n) {
      if (rank_ == 0) peers::in_windows(n, bytes, begin, [this] { MPI_Win_flush(1, window_); });
    };
  }

  /// `there` bytes to rank 1 and `back` bytes from it.
  void ping_pong(std::uint64_t n, int there, int back) {
    const int peer = 1 - rank_;
    const int sent = rank_ == 0 ? there : back;
    const int received = rank_ == 0 ? back : there;
    for (std::uint64_t i = 0; rank_ < 2 && i < n; ++i) {
      if (rank_ == 0) MPI_Send(buffer_.data(), sent, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
      MPI_Recv(buffer_.data(), received, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank_ == 1) MPI_Send(buffer_.data(), sent, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    }
  }

  /// From rank 0 to rank 1, whose answer to each window shows that all have arrived.
  void message_flood(std::uint64_t n, int bytes) {
    if (rank_ > 1) return;
    const int peer = 1 - rank_;
    std::array<MPI_Request, peers::message_window> requests;
    for (std::uint64_t left = n; left != 0;) {
      const int now =
          left < requests.size() ? static_cast<int>(left) : static_cast<int>(requests.size());
      for (int i = 0; i < now; ++i) {
        MPI_Request* const request = &requests[static_cast<std::size_t>(i)];
        if (rank_ == 0)
          MPI_Isend(buffer_.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
        else
          MPI_Irecv(buffer_.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
      }
      MPI_Waitall(now, requests.data(), MPI_STATUSES_IGNORE);
      if (rank_ == 0)
        MPI_Recv(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      else
        MPI_Send(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
      left -= static_cast<std::uint64_t>(now);
    }
  }

  /// A message from each rank to each other, as many rounds at once as make a window of messages.
  void messages_to_all(std::uint64_t n, int bytes) {
    std::vector<MPI_Request> requests;
    for (std::uint64_t i = 0; i < n; ++i) {
      for (int next = 1; next < size_; ++next) {
        char* const received = buffer_.data() + buffer_.size() / 2;
        MPI_Request both[2];
        MPI_Irecv(received, bytes, MPI_BYTE, (rank_ + size_ - next) % size_, tag, MPI_COMM_WORLD,
                  &both[0]);
        MPI_Isend(buffer_.data(), bytes, MPI_BYTE, (rank_ + next) % size_, tag, MPI_COMM_WORLD,
                  &both[1]);
        requests.insert(requests.end(), both, both + 2);
      }
      if (requests.size() < 2 * peers::message_window && i + 1 != n) continue;
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      requests.clear();
    }
    barrier();
  }

  /// A message from each rank to the next.
  Repeated ring(int bytes) {
    return [this, bytes](std::uint64_t n) {
      char* const received = buffer_.data() + buffer_.size() / 2;
      for (std::uint64_t i = 0; i < n; ++i)
        MPI_Sendrecv(buffer_.data(), bytes, MPI_BYTE, (rank_ + 1) % size_, tag, received, bytes,
                     MPI_BYTE, (rank_ + size_ - 1) % size_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      barrier();
    };
  }

  /// `what` is a type, and for a flood ".flood" behind it.
  Repeated fetch_add(std::string what) {
    constexpr const char* behind = ".flood";
    const bool is_flood = what.find(behind) != std::string::npos;
    if (is_flood) what.resize(what.find(behind));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (what == "i32") type = MPI_INT32_T;
    if (what == "u32") type = MPI_UINT32_T;
    if (what == "i64") type = MPI_INT64_T;
    if (what == "u64") type = MPI_UINT64_T;
    if (what == "flt") type = MPI_FLOAT;
    if (what == "dbl") type = MPI_DOUBLE;
    if (type == MPI_DATATYPE_NULL) return {};
    const auto begin = [this, type] {
      MPI_Fetch_and_op(buffer_.data(), buffer_.data() + 64, type, 1, 0, MPI_SUM, window_);
    };
    return is_flood ? flood(sizeof(double), begin) : each_flushed(begin);
  }

  /// All ranks add to one word of rank 0's at once.
  Repeated hot_spot() {
    return [this](std::uint64_t n) {
      peers::in_windows(
          n, sizeof(std::uint64_t),
          [this] {
            MPI_Fetch_and_op(buffer_.data(), buffer_.data() + 64, MPI_UINT64_T, 0, 0, MPI_SUM,
                             window_);
          },
          [this] { MPI_Win_flush(0, window_); });
      barrier();
    };
  }

  /// `bytes` from each rank to each.
  Repeated exchange(std::size_t bytes) {
    if (bytes * size() > peers::max_bytes) return {};
    const int count = static_cast<int>(bytes);
    return [this, count](std::uint64_t n) {
      char* const result = buffer_.data() + buffer_.size() / 2;
      for (std::uint64_t i = 0; i < n; ++i)
        MPI_Alltoall(buffer_.data(), count, MPI_BYTE, result, count, MPI_BYTE, MPI_COMM_WORLD);
      barrier();
    };
  }

  /// A sum of doubles, whose result all ranks get.
  Repeated sum(int count) {
    return [this, count](std::uint64_t n) {
      char* const result = buffer_.data() + buffer_.size() / 2;
      for (std::uint64_t i = 0; i < n; ++i)
        MPI_Allreduce(buffer_.data(), result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      barrier();
    };
  }

  int rank_ = 0;
  int size_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
  const peers::Buffer buffer_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Mpi mpi(argc);
    peers::measure(mpi, argc, argv);
  }
  MPI_Finalize();
  return 0;
}
