#include "cuda.h"

#include <gasnet_mk.h>
#include <gasnet_vis.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bare_cuda.h"

namespace gexperf {

namespace {

constexpr std::size_t largest_bytes = std::size_t{64} << 20;
/// So many implicit operations are under way before they are waited for.
constexpr unsigned flood_depth = 256;
/// Elements of 8 bytes, one of four places at both ends.
constexpr std::size_t row_bytes = 8;
constexpr std::size_t row_step = 32;

/// The words of a measurement's options.
struct Wish {
  std::size_t bytes;
  bool to_itself;
  bool local_device;
  bool remote_device;
};
Wish wish_of(const Context& context) {
  Wish wish{};
  wish.bytes = std::strtoull(std::string(context.options.at(0)).c_str(), nullptr, 10);
  std::string_view ends = context.options.at(1);
  constexpr std::string_view self = "self.";
  wish.to_itself = ends.starts_with(self);
  if (wish.to_itself) ends.remove_prefix(self.size());
  wish.local_device = ends.starts_with("device.");
  wish.remote_device = ends.ends_with(".device");
  if (wish.bytes == 0 || wish.bytes > largest_bytes ||
      (!wish.local_device && !ends.starts_with("host.")) ||
      (!wish.remote_device && !ends.ends_with(".host")))
    context.job.fail("'" + std::string(ends) + "' is not host.device or similar, of some bytes");
  return wish;
}

/// A segment of device 0 at every rank, of the library's memory. Collective.
class DeviceSegments {
 public:
  DeviceSegments(const Job& job, std::size_t bytes) : job_(job) {
    gex_MK_Create_args_t args{};
    args.gex_class = GEX_MK_CLASS_CUDA_UVA;
    check(gex_MK_Create(&kind_, gex_TM_QueryClient(job.team()), &args, 0), "gex_MK_Create");
    check(gex_EP_Create(&endpoint_, gex_TM_QueryClient(job.team()), GEX_EP_CAPABILITY_RMA, 0),
          "gex_EP_Create");
    if (bytes != 0) bind(bytes);
  }
  DeviceSegments(const DeviceSegments&) = delete;
  DeviceSegments& operator=(const DeviceSegments&) = delete;

  /// Makes a segment of so many bytes on this rank alone.
  void bind(std::size_t bytes) {
    check(gex_Segment_Create(&segment_, gex_TM_QueryClient(job_.team()), nullptr, bytes, kind_, 0),
          "gex_Segment_Create");
    gex_EP_BindSegment(endpoint_, segment_, 0);
  }
  void unbind() {
    gex_EP_BindSegment(endpoint_, GEX_SEGMENT_INVALID, 0);
    gex_Segment_Destroy(segment_, 0);
  }
  void publish() {
    check(gex_EP_PublishBoundSegment(job_.team(), &endpoint_, 1, 0), "gex_EP_PublishBoundSegment");
  }

  gex_EP_t endpoint() const { return endpoint_; }
  std::byte* here() const { return static_cast<std::byte*>(gex_Segment_QueryAddr(segment_)); }
  std::byte* at(gex_Rank_t rank) const {
    void* address = nullptr;
    gex_Event_Wait(
        gex_EP_QueryBoundSegmentNB(gex_TM_Pair(job_.endpoint(), gex_EP_QueryIndex(endpoint_)), rank,
                                   &address, nullptr, nullptr, 0));
    return static_cast<std::byte*>(address);
  }

 private:
  void check(int status, const char* call) const {
    if (status != GASNET_OK) job_.fail(std::string(call) + ": " + gasnet_ErrorName(status));
  }

  const Job& job_;
  gex_MK_t kind_ = GEX_MK_INVALID;
  gex_EP_t endpoint_ = GEX_EP_INVALID;
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
};

/// Both sides of a transfer. Each segment has two halves: the lower has local memory, the upper
/// remote memory.
struct Ends {
  DeviceSegments segments;
  gex_TM_t pair{};
  gex_Rank_t peer;
  std::byte* local;
  std::byte* remote;

  Ends(const Job& job, const Wish& wish, std::size_t bytes)
      : segments(job, 2 * bytes), peer(wish.to_itself ? 0 : 1) {
    segments.publish();
    pair = gex_TM_Pair(wish.local_device ? segments.endpoint() : job.endpoint(),
                       wish.remote_device ? gex_EP_QueryIndex(segments.endpoint()) : 0);
    // What clients do on the host goes on as without devices, inlined.
    if (!wish.local_device && !wish.remote_device) pair = job.team();
    local = wish.local_device ? segments.here() : job.segment_here(job.rank()) + sizeof(Board);
    remote = bytes +
             (wish.remote_device ? segments.at(peer) : job.segment_at_owner(peer) + sizeof(Board));
  }
};

/// Rank 0's part, which it does alone.
template <class Operation>
Repeated by_root(const Job& job, Operation operation) {
  return [&job, operation](std::uint64_t repetitions) {
    if (job.rank() == 0) operation(repetitions);
  };
}

/// The limit between host memory that both ranks have mapped.
Repeated copies_of_host(const Job& job, const Ends& ends, std::size_t bytes) {
  std::byte* const to = job.segment_here(ends.peer) + sizeof(Board) + bytes;
  return by_root(job, [to, &ends, bytes](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      std::memcpy(unknown(to), unknown(ends.local), bytes);
      keep(to);
    }
  });
}

template <class Operation>
void one_by_one(const Context& context, bool is_put, Operation operation) {
  const Wish wish = wish_of(context);
  const Ends ends(context.job, wish, wish.bytes);
  BareCuda bare(context.job, wish.bytes);
  const bool on_host = !wish.local_device && !wish.remote_device;
  const bool to_device = is_put ? wish.remote_device : wish.local_device;
  const bool from_device = is_put ? wish.local_device : wish.remote_device;
  compare(context,
          by_root(context.job,
                  [&](std::uint64_t repetitions) {
                    for (std::uint64_t i = 0; i < repetitions; ++i) operation(ends, wish.bytes);
                  }),
          on_host ? copies_of_host(context.job, ends, wish.bytes)
                  : bare.one_by_one(to_device, from_device, wish.bytes));
}

template <class Operation>
void flood(const Context& context, bool is_put, Operation operation) {
  const Wish wish = wish_of(context);
  const Ends ends(context.job, wish, wish.bytes);
  BareCuda bare(context.job, wish.bytes);
  compare(context,
          by_root(context.job,
                  [&](std::uint64_t repetitions) {
                    for (std::uint64_t i = 1; i <= repetitions; ++i) {
                      operation(ends, wish.bytes);
                      if (i % flood_depth == 0 || i == repetitions) gex_NBI_Wait(GEX_EC_ALL, 0);
                    }
                  }),
          bare.together(is_put ? wish.remote_device : wish.local_device,
                        is_put ? wish.local_device : wish.remote_device, wish.bytes, flood_depth));
}

template <class Operation>
void strided(const Context& context, bool is_put, Operation operation) {
  const Wish wish = wish_of(context);
  const std::size_t count = wish.bytes / row_bytes;
  const Ends ends(context.job, wish, count * row_step);
  BareCuda bare(context.job, count * row_step);
  compare(context,
          by_root(context.job,
                  [&](std::uint64_t repetitions) {
                    constexpr std::ptrdiff_t step = row_step;
                    for (std::uint64_t i = 0; i < repetitions; ++i) operation(ends, &step, &count);
                  }),
          bare.rows(is_put ? wish.remote_device : wish.local_device,
                    is_put ? wish.local_device : wish.remote_device, row_bytes, row_step, count));
}

}  // namespace

void cuda_put(const Context& context) {
  one_by_one(context, true, [](const Ends& ends, std::size_t bytes) {
    gex_RMA_PutBlocking(ends.pair, ends.peer, ends.remote, ends.local, bytes, 0);
  });
}

void cuda_get(const Context& context) {
  one_by_one(context, false, [](const Ends& ends, std::size_t bytes) {
    gex_RMA_GetBlocking(ends.pair, ends.local, ends.peer, ends.remote, bytes, 0);
  });
}

void cuda_flood_of_puts(const Context& context) {
  flood(context, true, [](const Ends& ends, std::size_t bytes) {
    gex_RMA_PutNBI(ends.pair, ends.peer, ends.remote, ends.local, bytes, GEX_EVENT_DEFER, 0);
  });
}

void cuda_flood_of_gets(const Context& context) {
  flood(context, false, [](const Ends& ends, std::size_t bytes) {
    gex_RMA_GetNBI(ends.pair, ends.local, ends.peer, ends.remote, bytes, 0);
  });
}

void cuda_strided_put(const Context& context) {
  strided(context, true,
          [](const Ends& ends, const std::ptrdiff_t* step, const std::size_t* count) {
            gex_VIS_StridedPutBlocking(ends.pair, ends.peer, ends.remote, step, ends.local, step,
                                       row_bytes, count, 1, 0);
          });
}

void cuda_strided_get(const Context& context) {
  strided(context, false,
          [](const Ends& ends, const std::ptrdiff_t* step, const std::size_t* count) {
            gex_VIS_StridedGetBlocking(ends.pair, ends.local, step, ends.peer, ends.remote, step,
                                       row_bytes, count, 1, 0);
          });
}

void cuda_first_put(const Context& context) {
  const Job& job = context.job;
  DeviceSegments segments(job, 0);
  const gex_TM_t pair = gex_TM_Pair(job.endpoint(), gex_EP_QueryIndex(segments.endpoint()));
  compare(context, [&](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      if (job.rank() == 1) segments.bind(largest_bytes);
      segments.publish();
      const std::uint64_t word = i;
      if (job.rank() == 0) gex_RMA_PutBlocking(pair, 1, segments.at(1), &word, sizeof word, 0);
      job.barrier();
      if (job.rank() == 1) segments.unbind();
    }
  });
}

void cuda_kernel_put(const Context& context) {
  constexpr std::size_t bytes = sizeof(std::uint64_t);
  BareCuda bare(context.job, bytes);
  const Repeated copies = bare.one_by_one(/*to_device=*/true, /*from_device=*/false, bytes);
  compare(context, bare.by_kernel(), copies);
}

void cuda_idle_poll(const Context& context) {
  const DeviceSegments segments(context.job, std::size_t{1} << 20);
  idle_poll(context);
}

}  // namespace gexperf
