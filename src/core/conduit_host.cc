#include "core/conduit_host.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_file.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/thread.h"
#include "core/waiting.h"
#include "net/address_agreement.h"

namespace gex {

namespace {

void host_exchange(const void* mine, std::size_t bytes, void* all) {
  job::Job& job = *process().job;
  job.exchange(std::span(static_cast<const std::byte*>(mine), bytes),
               std::span(static_cast<std::byte*>(all), bytes * job.size()));
}
const void* host_exchange_shared(const void* mine, std::size_t bytes) {
  // Conduits refer to it for as long as the process runs.
  static auto& kept = *new std::deque<job::Exchanged>;
  return kept.emplace_back(process().job->exchange({static_cast<const std::byte*>(mine), bytes}))
      .bytes()
      .data();
}
void host_least(std::uint64_t* numbers, std::size_t count) {
  process().job->least({numbers, count});
}
int host_share_descriptor(int descriptor, std::uint32_t owner) {
  return process().job->share_descriptor(descriptor, own_host(), owner);
}
net::SegmentFile host_segment_file(std::uint32_t rank) {
  const Process& self = process();
  const shm::Neighborhood& own = self.neighborhood;
  // Conduits refer to it for as long as the process runs.
  static auto& kept = *new std::deque<job::RankSet>;
  const job::RankSet& ranks = kept.emplace_back(self.placement.neighborhood_of(rank));
  os::FileDescriptor given;
  if (self.job->rank() == ranks.front()) {
    given = own.duplicate_file();
    if (!given) fatal_system("a second descriptor of the neighborhood's shared memory", errno);
  }
  net::SegmentFile file{};
  file.descriptor = host_share_descriptor(given.release(), ranks.front());
  file.offset = shm::Neighborhood::control_layout(ranks.size(), own.job_counts()).control_bytes;
  file.size = os::file_size(file.descriptor) - file.offset;
  file.ranks = ranks.begin();
  file.count = ranks.size();
  return file;
}
int host_segment_place(const void* address, std::uint64_t* offset) {
  const shm::Neighborhood& own = process().neighborhood;
  const std::optional<std::uint64_t> in_own_part = own.segment_offset(address);
  if (!in_own_part) return 1;
  *offset = own.file_offset_of(own.local_index()) - own.file_offset_of(0) + *in_own_part;
  return 0;
}
std::uint32_t host_of(std::uint32_t rank) {
  return process().job->host_of(rank);
}
std::uint32_t host_shares_memory(std::uint32_t rank) {
  return process().neighborhood.contains(rank) ? 1 : 0;
}
env::Variable variable_of_table(const char* name) {
  const auto variable = env::find(name);
  if (!variable) fatal("a conduit asked for the variable %s, which is not in the table", name);
  return *variable;
}
std::int64_t host_env_integer(const char* name) {
  return env::integer(variable_of_table(name));
}
const char* host_env_text(const char* name) {
  return env::raw(variable_of_table(name));
}
void host_complete(void* target) {
  complete(static_cast<CompletionTarget>(target));
  // It may be another thread's.
  ring_own_waiters();
}
void host_fatal(const char* text) {
  fatal("%s", text);
}
void host_lost_peer(const char* text) {
  process().job->follow_loss();
  fatal("%s", text);
}
std::vector<std::string>* kept_warnings = nullptr;
void host_warn(const char* text) {
  if (kept_warnings != nullptr)
    kept_warnings->emplace_back(text);
  else
    warn("%s", text);
}
void host_inform(const char* text) {
  inform("%s", text);
}

void take_from_first_of_host(void* bytes, std::size_t size) {
  const job::Exchanged all =
      process().job->exchange_on_host({static_cast<const std::byte*>(bytes), size});
  std::memcpy(bytes, all.bytes().data(), size);
}

int host_choose_address(const net::AddressWish* wish, net::ChosenAddress* chosen);

net::Host host{.version = net::interface_version,
               .rank = 0,
               .size = 0,
               .threaded = 0,
               .env_integer = host_env_integer,
               .env_text = host_env_text};

int host_choose_address(const net::AddressWish* wish, net::ChosenAddress* chosen) {
  net::AgreedAddress agreed;
  std::string error;
  if (!net::agree_on_address(host, take_from_first_of_host, *wish, agreed, error)) {
    if (!error.empty()) host_warn(error.c_str());
    return 1;
  }
  std::snprintf(chosen->address, sizeof chosen->address, "%s", agreed.address.host_text().c_str());
  std::snprintf(chosen->interface, sizeof chosen->interface, "%s", agreed.interface.c_str());
  // Conduits refer to it for as long as the process runs.
  static auto& reasons = *new std::deque<std::string>;
  chosen->reason = reasons.emplace_back(std::move(agreed.reason)).c_str();
  return 0;
}

/// A number that distinguishes this job from others, drawn by rank 0.
std::uint64_t draw_cookie(job::Job& job) {
  std::uint64_t cookie = ~std::uint64_t{0};
  if (job.rank() == 0 && getrandom(&cookie, sizeof cookie, 0) != sizeof cookie)
    fatal_system("cannot draw the job's cookie", errno);
  job.least({&cookie, 1});
  return cookie;
}

}  // namespace

const net::Host& conduit_host() noexcept {
  host.device_classes = expected_classes();
  return host;
}

void keep_conduit_warnings(std::vector<std::string>* kept) noexcept {
  kept_warnings = kept;
}

const net::Host& complete_conduit_host(Deliver deliver) {
  job::Job& job = *process().job;
  host = {.version = net::interface_version,
          .rank = job.rank(),
          .size = job.size(),
          .threaded = process().threaded ? 1U : 0U,
          .exchange = host_exchange,
          .share_descriptor = host_share_descriptor,
          .segment_file = host_segment_file,
          .segment_place = host_segment_place,
          .host_of = host_of,
          .shares_memory = host_shares_memory,
          .env_integer = host_env_integer,
          .env_text = host_env_text,
          .cookie = draw_cookie(job),
          .deliver = deliver,
          .complete = host_complete,
          .fatal = host_fatal,
          .lost_peer = host_lost_peer,
          .warn = host_warn,
          .inform = host_inform,
          .choose_address = host_choose_address,
          .device_classes = expected_classes(),
          .exchange_shared = host_exchange_shared,
          .least = host_least};
  return host;
}

}  // namespace gex
