#include "net/mpi/library/session.h"

#include <gex/plugin/all_ranks.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "net/mpi/library/pmi_server.h"

namespace gex::net::mpi {

namespace {

/// MPIs differ in these. The library itself is asked: the standard's binary interface,
/// with which a part may be linked, belongs to several.
struct Kind {
  const char* title;
  const char* size_variable;     ///< of its launcher
  bool asks_by_pmi;              ///< it finds its peers by PMI-1, which `PmiServer` offers
  bool shares_complete_request;  ///< `Session::complete_request`
};
constexpr Kind open_mpi{"Open MPI", "OMPI_COMM_WORLD_SIZE", false, true};
constexpr Kind mpich{"MPICH", "PMI_SIZE", true, false};

const Kind& kind() {
  static const bool is_open_mpi = [] {
    // MPI answers before it is initialized, too.
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    return MPI_Get_library_version(text.data(), &length) == MPI_SUCCESS &&
           text.starts_with("Open MPI");
  }();
  return is_open_mpi ? open_mpi : mpich;
}

/// MPI has been initialized here, not by the program.
bool is_ours = false;

/// All ranks are in `finalize_on_all_ranks`.
bool is_collective_finalization = false;

/// Answers MPI for as long as it is initialized. Stays: MPI may be finalized by the last
/// destructor.
std::unique_ptr<PmiServer>& pmi_server() {
  static auto& server = *new std::unique_ptr<PmiServer>;
  return server;
}

struct Level {
  const char* name;
  int level;
};
constexpr Level levels[] = {{"SINGLE", MPI_THREAD_SINGLE},
                            {"FUNNELED", MPI_THREAD_FUNNELED},
                            {"SERIALIZED", MPI_THREAD_SERIALIZED},
                            {"MULTIPLE", MPI_THREAD_MULTIPLE}};

const char* name_of(int level) {
  for (const Level& one : levels)
    if (one.level == level) return one.name;
  return "?";
}

/// The level that GASNET_MPI_THREAD asks for.
int wanted_level(const Host& host, std::string& error) {
  const char* const text = host.env_text("GASNET_MPI_THREAD");
  if (text == nullptr || *text == '\0') return MPI_THREAD_SERIALIZED;
  std::string_view name(text);
  if (name.starts_with("MPI_THREAD_")) name.remove_prefix(std::string_view("MPI_THREAD_").size());
  for (const Level& one : levels)
    if (name == one.name) return one.level;
  error = "mpi: GASNET_MPI_THREAD=" + std::string(text) +
          ": expected SINGLE, FUNNELED, SERIALIZED or MULTIPLE";
  return MPI_THREAD_SERIALIZED;
}

/// Returns true if a launcher of this MPI has started the processes of this job.
bool has_launcher(const Host& host) {
  const char* const size_variable = kind().size_variable;
  const char* const size = std::getenv(size_variable);
  if (size != nullptr) return std::atol(size) == static_cast<long>(host.size);
  return std::getenv("PMIX_NAMESPACE") != nullptr;
}

/// Answers MPI again from when its finalization begins, be the session open by then or not.
void serve_finalization() {
  const auto begins = [](MPI_Comm, int, void*, void*) -> int {
    pmi_server()->begin_finalize();
    return MPI_SUCCESS;
  };
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, begins, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

bool is_true(int (*question)(int*)) {
  int answer = 0;
  return question(&answer) == MPI_SUCCESS && answer != 0;
}

/// The interface that MPI is to use between hosts.
struct Interface {
  std::string name;
  const char* reason = nullptr;
};

bool is_one_host(const Host& host) {
  for (std::uint32_t rank = 1; rank < host.size; ++rank)
    if (host.host_of(rank) != host.host_of(0)) return false;
  return true;
}

/// Returns true if this host has an adapter that MPI would prefer to sockets.
bool has_adapter() {
  std::error_code none;
  for (const char* const folder : {"/sys/class/infiniband", "/sys/class/cxi"})
    if (std::filesystem::directory_iterator(folder, none) != std::filesystem::directory_iterator())
      return true;
  return false;
}

/// Collective: limits MPI, which takes any interface that is up, to the one by which the hosts
/// reach each other. What the user has set holds. Returns false if there is none, of which libgex
/// has warned.
bool choose_interface(const Host& host, Interface& chosen) {
  if (is_one_host(host) || !chooses_addresses(host)) return true;
  std::uint64_t is_without_adapter = has_adapter() ? 0 : 1;
  host.least(&is_without_adapter, 1);
  if (is_without_adapter == 0) return true;
  const char* const named = host.env_text("GEX_MPI_INTERFACE");
  const AddressWish wish{.named = named != nullptr ? named : "",
                         .variables = "GEX_MPI_INTERFACE",
                         .first_of_interface = 1};
  ChosenAddress answer{};
  if (host.choose_address(&wish, &answer) != 0) return false;
  chosen = {answer.interface, answer.reason};
  // MPICH over UCX, over libfabric and over sockets of its own; Open MPI.
  for (const char* const variable :
       {"UCX_NET_DEVICES", "FI_TCP_IFACE", "OMPI_MCA_btl_tcp_if_include"})
    setenv(variable, answer.interface, 0);
  setenv("MPICH_INTERFACE_HOSTNAME", answer.address, 0);
  return true;
}

/// Initializes MPI unless the program has done that. Collective.
void initialize(const Host& host, Interface& interface, std::string& error) {
  const int level = wanted_level(host, error);
  const bool was_initialized = is_true(MPI_Initialized);
  if (was_initialized && is_true(MPI_Finalized))
    error = "mpi: the program has finalized MPI, which cannot be initialized again";
  // All ranks begin MPI in the same way.
  const std::uint32_t mine = (was_initialized ? 1U : 0U) | (has_launcher(host) ? 2U : 0U);
  std::vector<std::uint32_t> all(host.size);
  host.exchange(&mine, sizeof mine, all.data());
  for (std::uint32_t rank = 0; rank < host.size && error.empty(); ++rank)
    if ((all[rank] & 1U) != (all[0] & 1U))
      error = "mpi: MPI is initialized on rank " + std::to_string((all[0] & 1U) != 0 ? 0 : rank) +
              " and not on rank " + std::to_string((all[0] & 1U) != 0 ? rank : 0);
  const bool all_launched =
      std::all_of(all.begin(), all.end(), [](std::uint32_t one) { return (one & 2U) != 0; });
  if (!was_initialized && !all_launched && error.empty()) {
    if (kind().asks_by_pmi) {
      pmi_server() = std::make_unique<PmiServer>(host);
      if (!pmi_server()->is_ready())
        error = std::string("mpi: no sockets for MPI's start: ") + std::strerror(errno);
      else if (const int failed = pmi_server()->begin(); failed != 0)
        error =
            std::string("mpi: cannot start the thread that answers MPI: ") + std::strerror(failed);
    } else {
      error =
          "mpi: processes of Open MPI find one another by its launcher only: start the program "
          "with mpirun, or choose an MPICH with GEX_MPI=mpich";
    }
  }
  if (!succeeded_on_all_ranks(host, error)) {
    if (error.empty()) error = "mpi: another rank has failed";
    return;
  }
  int provided = MPI_THREAD_SINGLE;
  if (was_initialized) {
    MPI_Query_thread(&provided);
    if (host.threaded != 0 && provided < MPI_THREAD_SERIALIZED && host.rank == 0)
      host.warn((std::string("mpi: the program has initialized MPI with MPI_THREAD_") +
                 name_of(provided) +
                 ", but any of its threads may communicate; ask MPI_Init_thread for "
                 "MPI_THREAD_SERIALIZED")
                    .c_str());
    return;
  }
  if (!choose_interface(host, interface)) {
    error = "mpi: no interface joins the hosts";
    return;
  }
  const int code = MPI_Init_thread(nullptr, nullptr, level, &provided);
  if (pmi_server()) pmi_server()->end_of_init();
  is_ours = code == MPI_SUCCESS;
  if (code != MPI_SUCCESS) {
    error = "mpi: MPI_Init_thread: " + error_text(code);
    host.warn(error.c_str());
  } else if (pmi_server()) {
    serve_finalization();
  }
}

}  // namespace

Finalization finalization(bool by_exit) {
  if (!is_true(MPI_Initialized) || is_true(MPI_Finalized)) return finalization_needless;
  // What the program has initialized it finalizes, unless gasnet_exit leaves it no time for that.
  return (is_ours || !by_exit) && is_true(MPI_Is_thread_main) ? finalization_ready
                                                              : finalization_refused;
}

void finalize_on_all_ranks() {
  is_collective_finalization = true;
  MPI_Finalize();
}

int test_each(std::span<MPI_Request> requests, bool* done) {
  int flag = 0;
  int code =
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE);
  std::fill_n(done, requests.size(), flag != 0);
  for (std::size_t i = 0; i < requests.size() && flag == 0 && code == MPI_SUCCESS; ++i) {
    int one = 0;
    code = MPI_Test(&requests[i], &one, MPI_STATUS_IGNORE);
    done[i] = one != 0;
  }
  return code;
}

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

Session::Session(const Host& host, std::string& error) : host_(host) {
  Interface interface;
  initialize(host, interface, error);
  interface_ = std::move(interface.name);
  interface_reason_ = interface.reason;
  if (!error.empty()) return;
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // The job's ranks must be MPI's, in whatever order.
  std::vector<int> all(host.size);
  const int mine = size == static_cast<int>(host.size) ? rank : -size;
  host.exchange(&mine, sizeof mine, all.data());
  std::vector<int> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < host.size; ++i) {
    if (sorted[i] == static_cast<int>(i)) continue;
    error = std::string("mpi: ") + kind().title + " has a world of " + std::to_string(size) +
            " processes, the job one of " + std::to_string(host.size) +
            ": start the program with the mpirun of " + kind().title;
    if (host.rank == 0) host.warn(error.c_str());
    return;
  }
  for (MPI_Comm& one : communicators_) {
    const int code = MPI_Comm_split(MPI_COMM_WORLD, 0, static_cast<int>(host.rank), &one);
    if (code == MPI_SUCCESS)
      MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    else if (error.empty())
      error = "mpi: MPI_Comm_split: " + error_text(code);
  }
  // A message to no process is complete at once.
  if (kind().shares_complete_request && error.empty())
    MPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, messages(), &complete_request_);
  // MPI_Finalize deletes the attributes of this communicator before it does anything else.
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &keyval_, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval_, this);
  is_open_ = true;
  if (!succeeded_on_all_ranks(host, error) && error.empty()) error = "mpi: another rank has failed";
}

int Session::finalizing(MPI_Comm /*communicator*/, int /*keyval*/, void* session, void* /*extra*/) {
  auto& self = *static_cast<Session*>(session);
  if (!self.is_open_) return MPI_SUCCESS;
  self.is_open_ = false;
  if (self.on_finalize_) self.on_finalize_();
  // MPICH's finalization fails if MPI notices, before it disconnects, that a peer has ended.
  // Nothing moves MPI on between here and there.
  if (is_collective_finalization && kind().asks_by_pmi) self.host_.exchange(nullptr, 0, nullptr);
  return MPI_SUCCESS;
}

Session::~Session() {
  if (!is_open_) return;
  is_open_ = false;
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval_);
  MPI_Comm_free_keyval(&keyval_);
  for (MPI_Comm& one : communicators_)
    if (one != MPI_COMM_NULL) MPI_Comm_free(&one);
}

}  // namespace gex::net::mpi
