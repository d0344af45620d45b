#include "wire.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

namespace gexsim {

/// Holds the lock of the ring, which a process that dies with it leaves to the next: head and tail
/// change last, so that half a packet is not seen.
class Inbox::Guard {
 public:
  explicit Guard(pthread_mutex_t& mutex) : mutex_(mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  ~Guard() { pthread_mutex_unlock(&mutex_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

std::unique_ptr<Inbox> Inbox::create(std::size_t capacity, std::uint16_t fabric) {
  const int file = memfd_create("gexsim", MFD_CLOEXEC);
  const std::size_t size = sizeof(Shared) + capacity;
  if (file < 0 || file > UINT16_MAX || ftruncate(file, static_cast<off_t>(size)) != 0)
    return nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* shared = new (memory) Shared{};
  Address address{.process = static_cast<std::uint32_t>(getpid()),
                  .file = static_cast<std::uint16_t>(file),
                  .fabric = fabric,
                  .key = 0};
  if (getrandom(&address.key, sizeof address.key, 0) != sizeof address.key) return nullptr;
  shared->key = address.key;
  shared->fabric = fabric;
  shared->capacity = capacity;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return std::unique_ptr<Inbox>(new Inbox(address, shared, size, file));
}

std::unique_ptr<Inbox> Inbox::open(const Address& address, std::uint16_t own_fabric) {
  if (address.fabric != own_fabric) return nullptr;
  const std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status {};
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(Shared)))
    memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE,
                  MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<Inbox> inbox(new Inbox(address, static_cast<Shared*>(memory),
                                         static_cast<std::size_t>(status.st_size), -1));
  return inbox->shared_->key == address.key ? std::move(inbox) : nullptr;
}

Inbox::~Inbox() {
  munmap(shared_, mapped_);
  if (file_ >= 0) ::close(file_);
}

void Inbox::copy_in(std::uint64_t at, const void* from, std::size_t size) {
  const std::size_t begin = at % shared_->capacity;
  const std::size_t first = std::min(size, shared_->capacity - begin);
  if (first != 0) std::memcpy(ring() + begin, from, first);
  if (size > first) std::memcpy(ring(), static_cast<const std::byte*>(from) + first, size - first);
}

void Inbox::copy_out(std::uint64_t at, void* to, std::size_t size) const {
  const std::size_t begin = at % shared_->capacity;
  const std::size_t first = std::min(size, shared_->capacity - begin);
  if (first != 0) std::memcpy(to, ring() + begin, first);
  if (size > first) std::memcpy(static_cast<std::byte*>(to) + first, ring(), size - first);
}

bool Inbox::put(const Packet& packet, const std::byte* payload) {
  const Guard guard(shared_->mutex);
  const std::size_t size = sizeof packet + packet.payload;
  if (shared_->tail - shared_->head + size > shared_->capacity) return false;
  copy_in(shared_->tail, &packet, sizeof packet);
  copy_in(shared_->tail + sizeof packet, payload, packet.payload);
  shared_->tail += size;
  return true;
}

bool Inbox::take(Packet& packet, std::vector<std::byte>& payload) {
  const Guard guard(shared_->mutex);
  if (shared_->head == shared_->tail) return false;
  copy_out(shared_->head, &packet, sizeof packet);
  payload.resize(packet.payload);
  copy_out(shared_->head + sizeof packet, payload.data(), payload.size());
  shared_->head += sizeof packet + payload.size();
  return true;
}

bool Inbox::is_closed() const {
  return shared_->closed.load(std::memory_order_acquire) != 0 ||
         (kill(static_cast<pid_t>(address_.process), 0) != 0 && errno == ESRCH);
}

}  // namespace gexsim
