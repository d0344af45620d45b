#pragma once
// Memory that processes share by a file.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace conformance {

/// Maps a file of one `T`, made of zeros if there is none; null: errno has the reason.
template <class T>
T* mapped_file(const char* path) noexcept {
  const int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* page = MAP_FAILED;
  if (ftruncate(file, sizeof(T)) == 0)
    page = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : static_cast<T*>(page);
}

}  // namespace conformance
