#include "net/emu/emu.h"

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/atomic_operations.h"
#include "base/clock.h"
#include "base/os_file.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "net/emu/adapter.h"
#include "net/emu/bells.h"
#include "net/emu/layout.h"
#include "net/emu/model.h"
#include "net/emu/network.h"
#include "net/emu/one_sided.h"
#include "net/emu/ports.h"
#include "net/emu/segments.h"
#include "net/kit/fatal.h"

namespace gex::net::emu {

namespace {

/// Bytes that one put or get moves.
constexpr std::size_t max_transfer = std::size_t{1} << 20;

/// The ranks exchange these in `attach`. Rank 0's settings hold for all.
struct Settings {
  std::uint64_t seed;
  std::uint32_t depth;
  std::uint32_t usable;
  std::uint32_t timed;
  std::uint32_t native;
  std::uint32_t atomics;
  std::uint32_t transfer_depth;
  std::uint32_t pieces;
  std::uint32_t total_depth;
  std::uint64_t cache;
  Timing timing;
};

/// This process's end of the network. The mapping is the last to go.
class Emu {
 public:
  static std::unique_ptr<Emu> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context);

  Emu(const Host& my_host, const Layout& layout, os::Mapping mapped, const Settings& settings)
      : host_(my_host),
        mapping_(std::move(mapped)),
        ports_(settings.timing, layout, mapping_.bytes(), host_.rank, settings.seed),
        bells_(bells_of(settings, layout)),
        network_(host_, layout, mapping_.bytes(), settings.seed, ports_of(settings), bells_.get()),
        segments_(host_, layout, mapping_.bytes()),
        adapter_(adapter_of(settings)),
        one_sided_(host_, segments_, ports_of(settings), settings.seed, settings.transfer_depth,
                   adapter_.get()),
        timed_(settings.timed != 0),
        atomics_(settings.atomics != 0) {
    if (settings.native != 0) segments_.open_all();
  }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    return network_.send(channel, peer, pieces, now());
  }
  std::size_t poll(std::uint32_t channels, std::size_t max) {
    const Tick at = now();
    const std::size_t completed = one_sided_.any() ? one_sided_.poll(at) : 0;
    return completed + network_.poll(channels, max, at);
  }
  /// The peers keep their mappings: what lies there for them stays.
  void leave() {
#ifdef GEX_DEBUG
    network_.check_invariants();
#endif
    one_sided_.finish();
  }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return network_.buffer(channel, peer, size);
  }
  void release(void* buffer) {
    network_.release(buffer);
  }

  std::int32_t prepare_wait(std::span<int> descriptors, std::uint64_t& /*limit_ns*/) noexcept {
    return bells_ != nullptr ? bells_->prepare(descriptors) : never_wakes;
  }

  bool register_segment(const SegmentMemory& memory, void* key) {
    return segments_.enter(memory.address, memory.size, static_cast<Segments::Key*>(key)) == 0;
  }
  void deregister_segment(const void* key) {
    segments_.leave(*static_cast<const Segments::Key*>(key));
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return written(remote.peer, one_sided_.put(remote, local, size, done, local_done, now()));
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return one_sided_.get(remote, local, size, done, now());
  }
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done) {
    return written(remote.peer, one_sided_.put_pieces(remote, to, from, done, local_done, now()));
  }
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done) {
    return one_sided_.get_pieces(remote, from, to, done, now());
  }
  SendResult flush(std::uint32_t peer, void* done) {
    return one_sided_.flush(peer, done);
  }
  std::uint32_t atomic_operations(std::uint32_t data_type) const {
    return atomics_ ? atomic::operations_of(data_type) : 0;
  }
  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done) {
    return written(remote.peer, one_sided_.atomic(remote, data_type, operation, operand1, operand2,
                                                  result, done, now()));
  }

 private:
  Ports* ports_of(const Settings& settings) noexcept {
    return settings.timed != 0 ? &ports_ : nullptr;
  }
  /// None where sleeps would change what is measured or tried: a model's times are shorter, and a
  /// seed's delays pass by polls.
  std::unique_ptr<Bells> bells_of(const Settings& settings, const Layout& layout) const {
    return settings.timed == 0 && settings.seed == 0
               ? std::make_unique<Bells>(host_.rank, layout, mapping_.bytes())
               : nullptr;
  }
  /// Its memory monitor is a thread, which is for clients that have some.
  std::unique_ptr<Adapter> adapter_of(const Settings& settings) const {
    return settings.cache != 0 && host_.threaded != 0 ? Adapter::start(host_, settings.cache)
                                                      : nullptr;
  }
  Tick now() const noexcept {
    return timed_ ? ticks() : 0;
  }
  /// That rank may wait for what an operation has written there.
  SendResult written(std::uint32_t peer, SendResult result) noexcept {
    if (bells_ != nullptr) bells_->ring(peer);
    return result;
  }

  const Host& host_;
  os::Mapping mapping_;
  Ports ports_;
  std::unique_ptr<Bells> bells_;
  EmuNetwork network_;
  Segments segments_;
  std::unique_ptr<Adapter> adapter_;
  OneSided one_sided_;
  bool timed_;
  bool atomics_;
};

/// Rank 0's part: the file, or nothing and a warning.
os::FileDescriptor create_file(const Host& host, const Layout& layout) {
  char text[300];
  os::MemoryFile file = os::create_memory_file("gex-emu", layout.file_size());
  if (!file.descriptor) {
    std::snprintf(text, sizeof text, "emu: cannot create a memory file of %zu bytes: %s",
                  layout.file_size(), file.why.c_str());
    host.warn(text);
  } else if (file.space < layout.file_size()) {
    std::snprintf(text, sizeof text,
                  "emu: %s holds %llu bytes, %u ranks with GEX_EMU_QUEUE=%u may need %zu",
                  file.origin.c_str(), static_cast<unsigned long long>(file.space), host.size,
                  layout.depth(), layout.file_size());
    host.warn(text);
    file.descriptor.reset();
  }
  return std::move(file.descriptor);
}

std::uint32_t configured_depth(const Host& host) {
  const std::int64_t depth = host.env_integer("GEX_EMU_QUEUE");
  if (depth < 1 || depth > std::int64_t{max_slots})
    fatal(host, "GEX_EMU_QUEUE is %lld; it must be from 1 to %u", static_cast<long long>(depth),
          max_slots);
  return static_cast<std::uint32_t>(depth);
}

Model configured_model(const Host& host) {
  const char* text = host.env_text != nullptr ? host.env_text("GEX_EMU") : nullptr;
  std::string why;
  const std::optional<Model> model = parse_model(text != nullptr ? text : "", why);
  if (!model) fatal(host, "GEX_EMU: %s", why.c_str());
  return *model;
}

/// Returns the rest of a model's times when the processor has done its part, which it does here as
/// well: about so many nanoseconds to send something, or to find a message and call its handler.
/// The part that the overheads do not cover comes off the way: a message has one latency between
/// the two, a put or a get two latencies.
Timing less_own_part(Timing timing) {
  const Tick own_part = ns_to_ticks(60);
  Tick uncovered = 0;
  for (Tick* overhead : {&timing.send_overhead, &timing.receive_overhead}) {
    const Tick covered = std::min(own_part, *overhead);
    uncovered += own_part - covered;
    *overhead -= covered;
  }
  timing.message_latency -= std::min(timing.message_latency, uncovered);
  timing.latency -= std::min(timing.latency, uncovered / 2);
  return timing;
}

/// Returns the settings that hold for all ranks, by rank 0's environment.
Settings configured(const Host& host) {
  Settings settings{};
  settings.depth = configured_depth(host);
  settings.seed = static_cast<std::uint64_t>(host.env_integer("GEX_EMU_SEED"));
  const Model model = configured_model(host);
  settings.timed = model.has_time() ? 1 : 0;
  settings.native = model.native ? 1 : 0;
  settings.atomics = model.native && model.atomics ? 1 : 0;
  settings.transfer_depth = model.depth;
  settings.pieces = model.native ? model.pieces : 0;
  settings.total_depth = model.total;
  settings.cache = static_cast<std::uint64_t>(model.cache);
  settings.timing =
      less_own_part(timing_of(model, static_cast<double>(ns_to_ticks(1'000'000'000))));
  return settings;
}

std::unique_ptr<Emu> Emu::attach(const Host& host, Limits& limits) {
  Settings settings{};
  os::FileDescriptor file;
  if (host.rank == 0) {
    settings = configured(host);
    file = create_file(host, Layout(host.size, settings.depth));
    settings.usable = file ? 1 : 0;
  }
  take_from_rank(host, 0, settings);
  if (settings.usable == 0) return nullptr;
  if (settings.depth < 1 || settings.depth > max_slots)
    host.fatal("emu: rank 0 announced an invalid queue depth");

  const Layout layout(host.size, settings.depth);
  const int shared = host.share_descriptor(file.get(), 0);
  if (host.rank != 0) file = os::FileDescriptor(shared);
  os::Mapping mapping = os::Mapping::shared(file.get(), 0, layout.file_size());
  std::string error;
  if (!mapping)
    error =
        "emu: cannot map " + std::to_string(layout.file_size()) + " bytes: " + std::strerror(errno);
  if (!succeeded_on_all_ranks(host, error)) return nullptr;

  limits = {.max_message = max_message,
            .reply_depth = settings.depth,
            .max_transfer = max_transfer,
            .total_depth = settings.total_depth,
            .key_bytes = sizeof(Segments::Key),
            .max_pieces = settings.pieces};
  return std::make_unique<Emu>(host, layout, std::move(mapping), settings);
}

void Emu::describe(const Host& host,
                   void (*fact)(void* context, const char* name, const char* text), void* context) {
  fact(context, "model", emu::describe(configured_model(host)).c_str());
  for (const Preset& preset : presets()) fact(context, preset.name, preset.what);
}

constexpr Conduit table = table_of<Emu>(
    "emu",
    "shared-memory queues between the processes of one machine, reordered under a seed on request",
    registers_host_memory | one_machine);

}  // namespace

const Conduit& conduit() noexcept {
  return table;
}

}  // namespace gex::net::emu
