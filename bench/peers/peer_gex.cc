// The operations of libgex, beside those of the libraries in the other programs here: puts and
// gets, active messages, atomics and non-contiguous puts.
//
//   gexrun -n 2 --bind core peer_gex put:8,4096 am.rtt:64

#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fetch_add.h"
#include "measure.h"

namespace {

using peers::Repeated;

enum Handler : gex_AM_Index_t {
  fixed_request = 200,
  fixed_reply,
  negotiated_request,
  negotiated_reply,
  echo_request,
  echo_reply,
  flood_request,
  flood_done,
  rows_request,
  rows_reply,
};

/// Rows of 64 bytes, one in four places.
constexpr std::size_t row_bytes = 64;
constexpr std::size_t row_stride = 4 * row_bytes;

std::byte* my_segment = nullptr;

void pack_rows(void* payload, const std::byte* from, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(payload);
  for (std::size_t i = 0; i < bytes; i += row_bytes, from += row_stride)
    std::memcpy(to + i, from, row_bytes);
}

/// Handlers and what waits for them are of one thread: this is a GASNET_SEQ program.
volatile std::uint64_t replies = 0;
volatile std::uint64_t requests = 0;
volatile std::uint64_t floods = 0;

/// Built anew for each message, as the paper has it: consecutive integers, not a copy.
void generate(void* payload, std::size_t bytes) {
  auto* const words = static_cast<std::uint32_t*>(payload);
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = static_cast<std::uint32_t>(i);
}

/// Where payload is built that the library then copies.
alignas(64) char client_buffer[peers::max_bytes];

void on_fixed_request(gex_Token_t token, void*, std::size_t bytes) {
  requests = requests + 1;
  generate(client_buffer, bytes);
  gex_AM_ReplyMedium0(token, fixed_reply, client_buffer, bytes, GEX_EVENT_NOW, 0);
}
void on_negotiated_request(gex_Token_t token, void*, std::size_t bytes) {
  requests = requests + 1;
  const gex_AM_SrcDesc_t prepared =
      gex_AM_PrepareReplyMedium(token, nullptr, bytes, bytes, nullptr, 0, 0);
  generate(gex_AM_SrcDescAddr(prepared), bytes);
  gex_AM_CommitReplyMedium0(prepared, negotiated_reply, bytes);
}
void on_echo_request(gex_Token_t token, void* payload, std::size_t bytes) {
  requests = requests + 1;
  gex_AM_ReplyMedium0(token, echo_reply, payload, bytes, GEX_EVENT_NOW, 0);
}
void on_reply(gex_Token_t, void*, std::size_t) {
  replies = replies + 1;
}
void on_flood_request(gex_Token_t, void*, std::size_t) {
  requests = requests + 1;
}
/// The rows from number `first` on.
void on_rows_request(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t first) {
  auto* from = static_cast<const std::byte*>(payload);
  std::byte* to = my_segment + static_cast<std::size_t>(first) * row_stride;
  for (std::size_t i = 0; i < bytes; i += row_bytes, to += row_stride)
    std::memcpy(to, from + i, row_bytes);
  gex_AM_ReplyShort0(token, rows_reply, 0);
}
void on_rows_reply(gex_Token_t) {
  replies = replies + 1;
}
void on_flood_done(gex_Token_t) {
  floods = floods + 1;
}

class Gex final : public peers::Library {
 public:
  Gex(int* argc, char*** argv) : buffer_(peers::buffer_for(*argc)) {
    gex_Client_t client{};
    gex_EP_t endpoint{};
    require(gex_Client_Init(&client, &endpoint, &team_, "PEERS", argc, argv, GEX_FLAG_USES_GASNET1),
            "gex_Client_Init");
    const std::size_t window = peers::window_for(*argc);
    gex_AM_Entry_t table[] = {
        medium(fixed_request, on_fixed_request, GEX_FLAG_AM_REQUEST),
        medium(fixed_reply, on_reply, GEX_FLAG_AM_REPLY),
        medium(negotiated_request, on_negotiated_request, GEX_FLAG_AM_REQUEST),
        medium(negotiated_reply, on_reply, GEX_FLAG_AM_REPLY),
        medium(echo_request, on_echo_request, GEX_FLAG_AM_REQUEST),
        medium(echo_reply, on_reply, GEX_FLAG_AM_REPLY),
        medium(flood_request, on_flood_request, GEX_FLAG_AM_REQUEST),
        {flood_done, reinterpret_cast<gex_AM_Fn_t>(on_flood_done),
         GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, nullptr, "flood_done"},
        {rows_request, reinterpret_cast<gex_AM_Fn_t>(on_rows_request),
         GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1, nullptr, "rows_request"},
        {rows_reply, reinterpret_cast<gex_AM_Fn_t>(on_rows_reply),
         GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, nullptr, "rows_reply"},
    };
    require(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof *table),
            "gex_EP_RegisterHandlers");
    gex_Segment_t segment{};
    require(gex_Segment_Attach(&segment, team_, window), "gex_Segment_Attach");
    mine_ = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
    my_segment = mine_;
    // A rank alone is its own rank 1.
    for (gex_Rank_t rank = 0; rank < 2 || rank < size(); ++rank) {
      void* base = nullptr;
      void* here = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team_, rank % size(), &base, &here, nullptr, 0));
      segment_of_.push_back(static_cast<std::byte*>(base));
      if (rank == 1) peer_here_ = here;
    }
    std::memset(mine_, 0, window);
    for (std::size_t i = 0; i < sizeof types / sizeof *types; ++i)
      gex_AD_Create(&domains_[i], team_, types[i].type, GEX_OP_FADD, 0);
    barrier();
  }

  unsigned rank() const override { return gex_TM_QueryRank(team_); }
  unsigned size() const override { return gex_TM_QuerySize(team_); }
  void barrier() override { gex_Event_Wait(gex_Coll_BarrierNB(team_, 0)); }
  std::uint64_t from_root(std::uint64_t value) override {
    gex_Event_Wait(gex_Coll_BroadcastNB(team_, 0, &value, &value, sizeof value, 0));
    return value;
  }

  Repeated operation(const std::string& name, std::size_t bytes) override {
    if (name.rfind("put", 0) == 0) return put(name, bytes);
    if (name == "get")
      return by_root([this, bytes](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i)
          gex_RMA_GetBlocking(team_, buffer_.data(), 1, segment_of_[1], bytes, 0);
      });
    if (name == "get.flood")
      return flood(
          bytes,
          [this, bytes] { gex_RMA_GetNBI(team_, buffer_.data(), 1, segment_of_[1], bytes, 0); },
          GEX_EC_GET);
    if (name == "copy.flood") return copies(bytes);
    if (name.rfind("am.", 0) == 0) return message(name, bytes);
    if (name == "ring") return ring(bytes);
    if (name.rfind("fadd.", 0) == 0) return fetch_add(name.substr(std::strlen("fadd.")));
    if (name == "hot_spot") return hot_spot();
    if (const unsigned dims = peers::dimensions_of(name)) return strided(dims, 8, bytes);
    if (const unsigned dims = peers::dimensions_of(name, "nested.")) return nested(dims, bytes);
    if (name.rfind("inattentive.", 0) == 0) return inattentive(name);
    if (name == "barrier")
      return [this](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) barrier();
      };
    if (name == "broadcast" || name == "broadcast.segment")
      return broadcast(bytes, name == "broadcast" ? buffer_.data() : in_segment(0));
    if (name == "exchange") return exchange(bytes);
    if (name == "exchange.puts") return exchange_by_puts(bytes);
    if (name == "sum") return sum(bytes, client_buffer, buffer_.data());
    if (name == "sum.segment") return sum(bytes, in_segment(0), in_segment(peers::max_bytes));
    if (name == "rows") return strided(3, row_bytes, bytes);
    if (name == "rows.fixed" || name == "rows.negotiated")
      return rows_in_messages(bytes, name == "rows.negotiated");
    if (name == "indexed") return indexed(bytes);
    return {};
  }

 private:
  static void require(int status, const char* call) {
    if (status == GASNET_OK) return;
    std::fprintf(stderr, "peer_gex: %s: %s\n", call, gasnet_ErrorName(status));
    gasnet_exit(1);
  }

  static gex_AM_Entry_t medium(gex_AM_Index_t index,
                               void (*handler)(gex_Token_t, void*, std::size_t),
                               gex_Flags_t direction) {
    return {
        index,   reinterpret_cast<gex_AM_Fn_t>(handler), direction | GEX_FLAG_AM_MEDIUM, 0, nullptr,
        "medium"};
  }

  /// Runs on rank 0 alone; the others wait in the barrier behind it.
  template <class Body>
  Repeated by_root(Body body) {
    return [this, body](std::uint64_t n) {
      if (rank() == 0) body(n);
    };
  }
  template <class Begin>
  Repeated flood(std::size_t bytes, Begin begin, gex_EC_t category = GEX_EC_PUT) {
    return by_root([bytes, begin, category](std::uint64_t n) {
      peers::in_windows(n, bytes, begin, [category] { gex_NBI_Wait(category, 0); });
    });
  }

  /// "put.now", ".defer", ".event": floods that differ in when the source may be written again.
  Repeated put(const std::string& name, std::size_t bytes) {
    if (name == "put")
      return by_root([this, bytes](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i)
          gex_RMA_PutBlocking(team_, 1, segment_of_[1], buffer_.data(), bytes, 0);
      });
    if (name == "put.flood" || name == "put.defer")
      return flood(bytes, [this, bytes] {
        gex_RMA_PutNBI(team_, 1, segment_of_[1], buffer_.data(), bytes, GEX_EVENT_DEFER, 0);
      });
    if (name == "put.now")
      return flood(bytes, [this, bytes] {
        gex_RMA_PutNBI(team_, 1, segment_of_[1], buffer_.data(), bytes, GEX_EVENT_NOW, 0);
      });
    if (name == "put.event") return puts_by_event(bytes);
    if (name == "put.bounced") return puts_through_segment(bytes);
    return {};
  }

  /// Two buffers in turn: a buffer is written again when the event of its last put shows that it
  /// may.
  Repeated puts_by_event(std::size_t bytes) {
    return by_root([this, bytes](std::uint64_t n) {
      static constexpr std::size_t buffers = 2;
      gex_Event_t reusable[buffers] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
      std::vector<gex_Event_t> under_way;
      const std::uint64_t window = peers::flood_window(bytes);
      under_way.reserve(window);
      for (std::uint64_t i = 0; i < n; ++i) {
        gex_Event_t& local = reusable[i % buffers];
        gex_Event_Wait(local);
        under_way.push_back(
            gex_RMA_PutNB(team_, 1, segment_of_[1], buffer_.data(), bytes, &local, 0));
        if (under_way.size() < window && i + 1 != n) continue;
        for (gex_Event_t& one : reusable) {
          gex_Event_Wait(one);
          one = GEX_EVENT_INVALID;
        }
        gex_Event_WaitAll(under_way.data(), under_way.size(), 0);
        under_way.clear();
      }
    });
  }

  /// Puts of pieces that are first copied to two buffers in the segment: what is left where memory
  /// outside cannot be registered.
  Repeated puts_through_segment(std::size_t bytes) {
    return by_root([this, bytes](std::uint64_t n) {
      static constexpr std::size_t piece = std::size_t{64} << 10;
      gex_Event_t under_way[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
      for (std::uint64_t i = 0; i < n; ++i) {
        for (std::size_t done = 0, turn = 0; done < bytes; done += piece, turn = 1 - turn) {
          const std::size_t now = bytes - done < piece ? bytes - done : piece;
          std::byte* const between = mine_ + turn * piece;
          gex_Event_Wait(under_way[turn]);
          std::memcpy(between, buffer_.data() + done, now);
          under_way[turn] =
              gex_RMA_PutNB(team_, 1, segment_of_[1] + done, between, now, GEX_EVENT_DEFER, 0);
        }
        for (gex_Event_t& one : under_way) gex_Event_Wait(std::exchange(one, GEX_EVENT_INVALID));
      }
    });
  }

  Repeated message(const std::string& name, std::size_t bytes) {
    // To the other rank, as the limits of messages to oneself are others.
    const gex_Rank_t peer = rank() == 0 ? 1 : 0;
    if (bytes > gex_AM_MaxRequestMedium(team_, peer, nullptr, 0, 0) ||
        bytes > gex_AM_MaxReplyMedium(team_, peer, nullptr, 0, 0))
      return {};
    if (name == "am.rtt")
      return ping_pong([this, bytes] {
        gex_AM_RequestMedium0(team_, 1, echo_request, buffer_.data(), bytes, GEX_EVENT_NOW, 0);
      });
    if (name == "am.fixed")
      return ping_pong([this, bytes] {
        generate(client_buffer, bytes);
        gex_AM_RequestMedium0(team_, 1, fixed_request, client_buffer, bytes, GEX_EVENT_NOW, 0);
      });
    if (name == "am.negotiated")
      return ping_pong([this, bytes] {
        const gex_AM_SrcDesc_t prepared =
            gex_AM_PrepareRequestMedium(team_, 1, nullptr, bytes, bytes, nullptr, 0, 0);
        generate(gex_AM_SrcDescAddr(prepared), bytes);
        gex_AM_CommitRequestMedium0(prepared, negotiated_request, bytes);
      });
    if (name == "am.flood") return message_flood(bytes);
    if (name == "am.all") return messages_to_all(bytes);
    return {};
  }

  template <class Send>
  Repeated ping_pong(Send send) {
    return [this, send](std::uint64_t n) {
      if (rank() == 0) {
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::uint64_t expected = replies + 1;
          send();
          GASNET_BLOCKUNTIL(replies == expected);
        }
      } else if (rank() == 1) {
        serve(n);
      }
    };
  }

  Repeated message_flood(std::size_t bytes) {
    return [this, bytes](std::uint64_t n) {
      if (rank() == 0) {
        const std::uint64_t expected = floods + 1;
        for (std::uint64_t i = 0; i < n; ++i)
          gex_AM_RequestMedium0(team_, 1, flood_request, buffer_.data(), bytes, GEX_EVENT_NOW, 0);
        GASNET_BLOCKUNTIL(floods == expected);
      } else if (rank() == 1) {
        serve(n);
        gex_AM_RequestShort0(team_, 0, flood_done, 0);
      }
    };
  }

  /// A message from each rank to each other.
  Repeated messages_to_all(std::size_t bytes) {
    return [this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        for (gex_Rank_t next = 1; next < size(); ++next)
          gex_AM_RequestMedium0(team_, (rank() + next) % size(), flood_request, buffer_.data(),
                                bytes, GEX_EVENT_NOW, 0);
      }
      serve(n * (size() - 1));
      barrier();
    };
  }

  /// A message from each rank to the next.
  Repeated ring(std::size_t bytes) {
    return [this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        gex_AM_RequestMedium0(team_, (rank() + 1) % size(), flood_request, buffer_.data(), bytes,
                              GEX_EVENT_NOW, 0);
        serve(1);
      }
      barrier();
    };
  }

  /// Waits for so many more requests. Those of the next turn may have come as well.
  void serve(std::uint64_t n) {
    served_ += n;
    GASNET_BLOCKUNTIL(requests >= served_);
  }

  /// The copies that puts are in shared memory.
  Repeated copies(std::size_t bytes) {
    if (from_root(peer_here_ != nullptr) == 0) return {};
    return by_root([this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        std::memcpy(peer_here_, buffer_.data(), bytes);
        // Each copy is made.
        asm volatile("" : : "r"(peer_here_) : "memory");
      }
    });
  }

  Repeated fetch_add(std::string what) {
    constexpr const char* behind = ".flood";
    const bool is_flood = what.find(behind) != std::string::npos;
    if (is_flood) what.resize(what.find(behind));
    for (std::size_t i = 0; i < sizeof types / sizeof *types; ++i) {
      if (what != types[i].name) continue;
      const gex_AD_t domain = domains_[i];
      const gex_DT_t type = types[i].type;
      if (is_flood)
        return flood(
            sizeof(double),
            [this, domain, type] {
              begin_add_implicitly(domain, type, 1, segment_of_[1], &result_);
            },
            GEX_EC_RMW);
      return by_root([this, domain, type](std::uint64_t n) {
        for (std::uint64_t k = 0; k < n; ++k)
          gex_Event_Wait(begin_add(domain, type, 1, segment_of_[1], &result_));
      });
    }
    return {};
  }

  /// All ranks add to one word of rank 0's at once.
  Repeated hot_spot() {
    const gex_AD_t domain = domains_[3];
    return [this, domain](std::uint64_t n) {
      peers::in_windows(
          n, sizeof(std::uint64_t),
          [this, domain] { begin_add_implicitly(domain, GEX_DT_U64, 0, segment_of_[0], &result_); },
          [] { gex_NBI_Wait(GEX_EC_RMW, 0); });
      barrier();
    };
  }

  char* in_segment(std::size_t offset) { return reinterpret_cast<char*>(mine_ + offset); }

  Repeated broadcast(std::size_t bytes, char* data) {
    return [this, bytes, data](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i)
        gex_Event_Wait(gex_Coll_BroadcastNB(team_, 0, data, data, bytes, 0));
      barrier();
    };
  }

  /// `bytes` from each rank to each.
  Repeated exchange(std::size_t bytes) {
    if (bytes * size() > peers::max_bytes) return {};
    return [this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i)
        gasnet_coll_exchange(GASNET_TEAM_ALL, client_buffer, buffer_.data(), bytes,
                             GASNET_COLL_LOCAL | GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
      barrier();
    };
  }

  /// `bytes` from each rank to each, between segments, by a put to each rank and a barrier.
  Repeated exchange_by_puts(std::size_t bytes) {
    if (bytes * size() > peers::max_bytes) return {};
    return [this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        for (gex_Rank_t next = 0; next < size(); ++next) {
          const gex_Rank_t to = (rank() + next) % size();
          gex_RMA_PutNBI(team_, to, segment_of_[to] + peers::max_bytes + rank() * bytes,
                         in_segment(to * bytes), bytes, GEX_EVENT_DEFER, 0);
        }
        gex_NBI_Wait(GEX_EC_PUT, 0);
        barrier();
      }
    };
  }

  /// A sum of doubles, whose result all ranks get.
  Repeated sum(std::size_t bytes, const char* operand, char* result) {
    return [this, bytes, operand, result](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i)
        gex_Event_Wait(gex_Coll_ReduceToAllNB(team_, result, operand, GEX_DT_DBL, sizeof(double),
                                              bytes / sizeof(double), GEX_OP_ADD, nullptr, nullptr,
                                              0));
      barrier();
    };
  }

  /// Rank 0 sends n messages to each other rank, and these look only every 500 us, in the barrier
  /// behind it. "inattentive.B": B messages to each in turn; "inattentive.all": all to one after
  /// the other; "inattentive.B.reactive": a rank that has no room is left for the next in turn.
  Repeated inattentive(const std::string& name) {
    const std::string block = name.substr(std::strlen("inattentive."));
    const std::uint64_t in_turn =
        block.rfind("all", 0) == 0 ? 0 : std::strtoull(block.c_str(), nullptr, 10);
    const bool is_reactive = block.find(".reactive") != std::string::npos;
    return [this, in_turn, is_reactive](std::uint64_t n) {
      if (rank() == 0) {
        send_in_turn(n, in_turn == 0 ? n : in_turn, is_reactive);
        barrier();
        return;
      }
      served_ += n;
      const gex_Event_t all = gex_Coll_BarrierNB(team_, 0);
      bool is_done = false;
      while (!is_done || requests != served_) {
        usleep(500);
        gasnet_AMPoll();
        is_done = is_done || gex_Event_Test(all) == GASNET_OK;
      }
    };
  }

  void send_in_turn(std::uint64_t n, std::uint64_t block, bool is_reactive) {
    constexpr std::size_t bytes = 4032;
    const gex_Flags_t flags = is_reactive ? GEX_FLAG_IMMEDIATE : 0;
    std::vector<std::uint64_t> left(size(), n);
    left[0] = 0;
    for (std::uint64_t remaining = n * (size() - 1); remaining != 0;) {
      for (gex_Rank_t to = 1; to < size(); ++to) {
        std::uint64_t now = left[to] < block ? left[to] : block;
        for (; now != 0; --now) {
          if (gex_AM_RequestMedium0(team_, to, flood_request, buffer_.data(), bytes, GEX_EVENT_NOW,
                                    flags) != 0) {
            // Once more after a poll, which may make room; then the next rank's turn.
            gasnet_AMPoll();
            if (gex_AM_RequestMedium0(team_, to, flood_request, buffer_.data(), bytes,
                                      GEX_EVENT_NOW, flags) != 0)
              break;
          }
          --left[to];
          --remaining;
        }
      }
    }
  }

  Repeated strided(unsigned dims, std::size_t element_bytes, std::size_t bytes) {
    const peers::Nest nest(dims, element_bytes, bytes / element_bytes);
    return flood(bytes, [this, nest, element_bytes, dims] {
      gex_VIS_StridedPutNBI(team_, 1, segment_of_[1], nest.strides.data(), mine_,
                            nest.strides.data(), element_bytes, nest.count.data(), dims, 0);
    });
  }

  /// The rows of "rows" in medium messages, built in the caller's buffer or in the library's.
  Repeated rows_in_messages(std::size_t bytes, bool is_negotiated) {
    const std::size_t limit =
        gex_AM_MaxRequestMedium(team_, rank() == 0 ? 1 : 0, nullptr, 0, 1) / row_bytes * row_bytes;
    return by_root([this, bytes, is_negotiated, limit](std::uint64_t n) {
      std::uint64_t expected = replies;
      const auto one = [&] {
        for (std::size_t done = 0; done < bytes; done += limit, ++expected)
          send_rows(done / row_bytes, bytes - done < limit ? bytes - done : limit, is_negotiated);
      };
      peers::in_windows(n, bytes, one, [&] { GASNET_BLOCKUNTIL(replies == expected); });
    });
  }
  void send_rows(std::size_t first, std::size_t bytes, bool is_negotiated) {
    const std::byte* const from = mine_ + first * row_stride;
    const auto number = static_cast<gex_AM_Arg_t>(first);
    if (!is_negotiated) {
      pack_rows(client_buffer, from, bytes);
      gex_AM_RequestMedium1(team_, 1, rows_request, client_buffer, bytes, GEX_EVENT_NOW, 0, number);
      return;
    }
    const gex_AM_SrcDesc_t prepared =
        gex_AM_PrepareRequestMedium(team_, 1, nullptr, bytes, bytes, nullptr, 0, 1);
    pack_rows(gex_AM_SrcDescAddr(prepared), from, bytes);
    gex_AM_CommitRequestMedium1(prepared, rows_request, bytes, number);
  }

  /// A put for each element, in as many loops: what is left without folding.
  Repeated nested(unsigned dims, std::size_t bytes) {
    constexpr std::size_t element_bytes = 8;
    const peers::Nest nest(dims, element_bytes, bytes / element_bytes);
    return flood(bytes, [this, nest, dims] { put_nested(nest, dims, 0); });
  }
  void put_nested(const peers::Nest& nest, unsigned dims, std::ptrdiff_t at) {
    if (dims == 0) {
      gex_RMA_PutNBI(team_, 1, segment_of_[1] + at, mine_ + at, 8, GEX_EVENT_DEFER, 0);
      return;
    }
    for (std::size_t i = 0; i < nest.count[dims - 1]; ++i, at += nest.strides[dims - 1])
      put_nested(nest, dims - 1, at);
  }

  Repeated indexed(std::size_t bytes) {
    constexpr std::size_t element_bytes = 8;
    const std::size_t elements = bytes / element_bytes;
    std::vector<void*> to(elements);
    std::vector<void*> from(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      to[i] = segment_of_[1] + element_bytes * peers::place_of(i);
      from[i] = mine_ + element_bytes * peers::place_of(i);
    }
    return flood(bytes, [this, to, from] {
      gex_VIS_IndexedPutNBI(team_, 1, to.size(), to.data(), element_bytes, from.size(), from.data(),
                            element_bytes, 0);
    });
  }

  gex_TM_t team_{};
  std::byte* mine_ = nullptr;
  std::vector<std::byte*> segment_of_;
  void* peer_here_ = nullptr;  ///< rank 1's segment in this rank's memory, where it is there
  gex_AD_t domains_[sizeof types / sizeof *types] = {};
  const peers::Buffer buffer_;  ///< outside the segment
  std::uint64_t served_ = 0;
  std::uint64_t result_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Gex gex(&argc, &argv);
  peers::measure(gex, argc, argv);
  gasnet_exit(0);
}
