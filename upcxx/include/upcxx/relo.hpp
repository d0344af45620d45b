/// @file
/// Verification of files whose functions are sent. Part of upcxx/upcxx.hpp.
///
/// A function is sent by the build identification of its file and its place there, so that
/// functions of every loaded file can be sent at any time: there is nothing to verify.
#ifndef UPCXX_RELO_HPP_
#define UPCXX_RELO_HPP_

#include <exception>

namespace upcxx {

/// Programs catch it. It is never thrown.
class segment_verification_error : public std::exception {
 public:
  const char* what() const noexcept override {
    return "a function of a file that was not verified was sent";
  }
};

namespace experimental {
namespace relo {

/// For the file of a function, and for all files. Nothing happens.
template <class Result, class... A>
void verify_segment(Result (*)(A...)) {
}
inline void verify_all() {
}

}  // namespace relo
}  // namespace experimental
}  // namespace upcxx

#endif
