#pragma once
// The common part of the programs of bench/peers, so that libgex and its peers are measured alike:
// the command line, how many repetitions make a sample, the clock, and what is printed.
//
//   PROGRAM [--samples N] [--ms MILLISECONDS] NAME:SIZE,SIZE...
//   PROGRAM                        starts and ends; prints the memory that it has then
//
// For each name and size rank 0 prints a line of JSON, {"row": "NAME.SIZE", "ns": [...]}:
// nanoseconds of one operation, for each sample. What the library does not have is left out. The
// memory is one line, {"row": "memory", "bytes": [...]}.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace peers {

/// An operation, so many times. All ranks call it at once with the same number; the clock is rank
/// 0's.
using Repeated = std::function<void(std::uint64_t repetitions)>;

class Library {
 public:
  virtual ~Library() = default;

  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  virtual void barrier() = 0;
  /// Rank 0's value, on all ranks.
  virtual std::uint64_t from_root(std::uint64_t value) = 0;

  /// The operation of that name with so many bytes. Empty, on all ranks alike: there is no such
  /// operation, or not with so many.
  virtual Repeated operation(const std::string& name, std::size_t bytes) = 0;
};

/// The largest transfer.
inline constexpr std::size_t max_bytes = std::size_t{4} << 20;

/// The buffer of a program with so many words in its command line, and the memory that others may
/// write to: elements of a non-contiguous transfer are one in four places of it. Next to nothing
/// where the program only starts and ends.
constexpr std::size_t buffer_for(int argc) {
  return argc > 1 ? max_bytes : 4096;
}
constexpr std::size_t window_for(int argc) {
  return 4 * buffer_for(argc);
}

/// Zeros of this process's own that begin at a page, as memory that others write to does: a copy
/// between ends that lie otherwise in their cache lines takes up to a third longer.
class Buffer {
 public:
  /// `bytes` is a multiple of 4096.
  explicit Buffer(std::size_t bytes);

  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  std::size_t size_;
  std::unique_ptr<char, Free> bytes_;
};

/// One-sided operations that a flood has under way before it waits for them: for every library
/// alike.
constexpr std::uint64_t flood_window(std::size_t bytes) {
  constexpr std::uint64_t max_window = 1024;
  constexpr std::size_t volume = std::size_t{64} << 20;
  if (bytes == 0 || volume / bytes > max_window) return max_window;
  return volume / bytes;
}

/// Messages under way in a flood of them, as in the OSU benchmarks.
inline constexpr unsigned message_window = 64;

/// `begin(i)` for each repetition, and `wait()` behind each window of them.
template <class Begin, class Wait>
void in_windows(std::uint64_t repetitions, std::size_t bytes, const Begin& begin,
                const Wait& wait) {
  const std::uint64_t window = flood_window(bytes);
  for (std::uint64_t done = 0; done < repetitions;) {
    const std::uint64_t end = done + window < repetitions ? done + window : repetitions;
    for (; done < end; ++done) begin();
    wait();
  }
}

/// The place of element `i` of an indexed transfer, one in each four places at no regular distance:
/// some libraries make one stride of regular ones when the type is committed.
constexpr std::size_t place_of(std::size_t i) {
  return 4 * i + i * i / 3 % 4;
}

/// A loop of elements of which one in four places is used, as so many nested loops of as equal
/// lengths as can be.
struct Nest {
  std::vector<std::size_t> count;
  std::vector<std::ptrdiff_t> strides;

  /// `elements` is a power of two.
  Nest(unsigned dims, std::size_t element_bytes, std::size_t elements);
};

/// The number behind the point of "strided.3"; 0: the name begins otherwise.
unsigned dimensions_of(const std::string& name, const char* begin = "strided.");

/// Measures what the command line asks for. Ends the program with status 2 if it is wrong.
void measure(Library& library, int argc, char** argv);

}  // namespace peers
