#include "bare.h"

#include "bare_cuda.h"
#include "bare_mpi.h"
#include "bare_ofi.h"
#include "bare_ucx.h"
#include "bare_udp.h"

namespace gexperf {

std::string_view way_of(const Row& row) {
  if (row.group == Group::cuda) return "CUDA";
  return row.group == Group::mpi ? row.mpi : row.conduit;
}

std::string why_no_bare(const Plan& plan, const Row& row) {
  switch (row.group) {
    case Group::ofi:
      return why_no_bare_ofi(plan);
    case Group::ucx:
      return why_no_bare_ucx();
    case Group::mpi:
      return why_no_bare_mpi(plan, row.mpi);
    case Group::cuda:
      return cuda_device(plan).trouble;
    default:
      return {};
  }
}

bool time_bare(const Plan& plan, const Row& row, double& ns, double& used_ns,
               std::string& trouble) {
  const auto time = row.group == Group::ofi   ? time_bare_ofi
                    : row.group == Group::udp ? time_bare_udp
                    : row.group == Group::ucx ? time_bare_ucx
                                              : time_bare_mpi;
  double one_way_us = 0;
  if (!time(plan, row, one_way_us, used_ns, trouble)) return false;
  const bool is_there_and_back = row.bare == Bare::ping_pong || row.bare == Bare::put_ping_pong;
  ns = one_way_us * 1e3 * (is_there_and_back ? 2 : 1);
  return true;
}

}  // namespace gexperf
