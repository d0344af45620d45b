#pragma once
// Members of libfabric's tables that the provider does not have: calling one answers ENOSYS. The
// inline functions of libfabric's headers call members without looking whether they are there.

#include <rdma/fi_errno.h>

namespace gexsim {

struct Missing {
  template <class Result, class... Arguments>
  using Function = Result (*)(Arguments...);

  template <class Result, class... Arguments>
  constexpr operator Function<Result, Arguments...>() const {
    return [](Arguments...) -> Result { return static_cast<Result>(-FI_ENOSYS); };
  }
};
inline constexpr Missing missing;

}  // namespace gexsim
