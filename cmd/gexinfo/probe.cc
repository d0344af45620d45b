#include "probe.h"

#include <fcntl.h>
#include <gasnetex.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "am/network.h"
#include "api/start_process.h"
#include "base/os_file.h"
#include "base/os_process.h"
#include "core/conduit_host.h"
#include "core/process.h"
#include "job/process_manager.h"

namespace gexinfo {

namespace {

using gex::net::Means;
using gex::os::FileDescriptor;
using nlohmann::json;

constexpr std::chrono::seconds time_limit{10};

Probe refused(std::string why) {
  Probe probe;
  probe.refusal = std::move(why);
  return probe;
}

void note_choice(void* choices, const char* name, const char* text) {
  static_cast<std::vector<Choice>*>(choices)->push_back({name, text});
}

void note_standing(const gex::net::Conduit& conduit, Probe& probe) {
  probe.standing = gex::net::by_processor;
  // As in the rule, for such a network (net/choice.cc).
  probe.standing_note = conduit.description;
  if (conduit.standing == nullptr) return;
  const auto keep = [](void* note, const char* text) {
    static_cast<std::string*>(note)->assign(text);
  };
  probe.standing =
      conduit.standing(&gex::conduit_host(), /*several_hosts=*/1, keep, &probe.standing_note);
}

/// The answer as it passes from the trying process to this one.
std::string encode(const Probe& probe) {
  std::vector<int> means;
  for (const Means one : probe.means) means.push_back(static_cast<int>(one));
  json choices = json::array();
  for (const Choice& choice : probe.choices) choices.push_back({choice.name, choice.text});
  const json answer = {{"name", probe.name},
                       {"description", probe.description},
                       {"means", means},
                       {"medium", probe.limits.medium},
                       {"long_request", probe.limits.long_request},
                       {"long_reply", probe.limits.long_reply},
                       {"packet", probe.limits.packet},
                       {"outstanding", probe.limits.outstanding},
                       {"choices", choices},
                       {"standing", probe.standing},
                       {"standing_note", probe.standing_note}};
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

Probe decode(const std::string& text) {
  const json answer = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return refused("it gave no answer");
  Probe probe;
  probe.name = answer["name"];
  probe.description = answer["description"];
  for (const int one : answer["means"]) probe.means.push_back(static_cast<Means>(one));
  probe.limits = {answer["medium"], answer["long_request"], answer["long_reply"], answer["packet"],
                  answer["outstanding"]};
  probe.standing = answer["standing"];
  probe.standing_note = answer["standing_note"];
  for (const json& choice : answer["choices"]) probe.choices.push_back({choice[0], choice[1]});
  return probe;
}

/// The trying process: it is no rank of the job that gexinfo is part of.
[[noreturn]] void try_out(const std::string& conduit, int control, int answer, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // What crashes here is reported, and leaves nothing behind.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (control >= 0) close(control);
  unsetenv("GEX_JOB");
  unsetenv("GASNET_PSHM_NODES");
  gex::job::forget_process_manager();
  setenv("GEX_CONDUIT", conduit.c_str(), 1);
  // Its lines are the reasons; nothing else may stand among them.
  for (const char* const name :
       {"GASNET_QUIET", "GASNET_VERBOSEENV", "GASNET_BACKTRACE", "GASNET_FREEZE_ON_ERROR"}) {
    setenv(name, "0", 1);
  }
  dup2(errors, STDERR_FILENO);
  const FileDescriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere) dup2(nowhere.get(), STDOUT_FILENO);

  gex::suppress_singleton_warning = true;
  gex_Client_t client{};
  gex_EP_t endpoint{};
  gex_TM_t team{};
  if (gex_Client_Init(&client, &endpoint, &team, "GEXINFO", nullptr, nullptr, 0) != GASNET_OK)
    gex::os::exit_at_once(1);
  const std::string text = encode(probe_own());
  gex::os::exit_at_once(gex::os::write_fully(answer, text.data(), text.size()) == 0 ? 0 : 1);
}

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return true;
  }
};

using Clock = std::chrono::steady_clock;

/// Reads both pipes until they end, or the deadline comes.
void read_all(Pipe& answer, std::string& answer_text, Pipe& errors, std::string& errors_text,
              Clock::time_point deadline) {
  const auto take = [](const pollfd& stream, FileDescriptor& descriptor, std::string& text) {
    if (!descriptor || stream.revents == 0) return;
    char piece[4096];
    const ssize_t got = read(descriptor.get(), piece, sizeof piece);
    if (got > 0) text.append(piece, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) descriptor.reset();
  };
  while (answer.reading || errors.reading) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return;
    pollfd streams[] = {{answer.reading.get(), POLLIN, 0}, {errors.reading.get(), POLLIN, 0}};
    if (poll(streams, 2, static_cast<int>(left.count())) <= 0) continue;
    take(streams[0], answer.reading, answer_text);
    take(streams[1], errors.reading, errors_text);
  }
}

/// Reaps the child; kills it first when the deadline has come. False when it had to.
bool reap(pid_t child, int& status, Clock::time_point deadline) {
  while (Clock::now() < deadline) {
    const pid_t reaped = waitpid(child, &status, WNOHANG);
    if (reaped == child || (reaped < 0 && errno != EINTR)) return true;
    usleep(500);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return false;
}

/// The library's lines without its name before them, in one.
std::string reason_of(const std::string& errors) {
  std::istringstream lines(errors);
  std::string reason;
  for (std::string line; std::getline(lines, line);) {
    for (const char* const prefix : {"gex: ", "rank 0: ", "warning: "}) {
      if (line.starts_with(prefix)) line.erase(0, std::strlen(prefix));
    }
    if (line.empty()) continue;
    reason.append(reason.empty() ? "" : "; ").append(line);
  }
  return reason;
}

}  // namespace

Probe probe(const std::string& conduit, int control) {
  Pipe answer;
  Pipe errors;
  if (!answer.open() || !errors.open())
    return refused(std::string("not tried, pipe: ") + std::strerror(errno));
  // What is in the streams' buffers now would be written by both.
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return refused(std::string("not tried, fork: ") + std::strerror(errno));
  if (child == 0) try_out(conduit, control, answer.writing.get(), errors.writing.get());
  answer.writing.reset();
  errors.writing.reset();

  std::string answer_text;
  std::string errors_text;
  const Clock::time_point deadline = Clock::now() + time_limit;
  read_all(answer, answer_text, errors, errors_text, deadline);
  int status = 0;
  if (!reap(child, status, deadline))
    return refused("it did not start within " + std::to_string(time_limit.count()) + " seconds");
  if (WIFSIGNALED(status))
    return refused(std::string("it crashed: ") + strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) {
    const std::string reason = reason_of(errors_text);
    return refused(reason.empty() ? "exit status " + std::to_string(WEXITSTATUS(status)) : reason);
  }
  return decode(answer_text);
}

Probe probe_own() {
  const gex::Process& process = gex::process();
  Probe own;
  own.name = process.conduit_name;
  if (process.conduit != nullptr) {
    own.name = process.conduit->name;
    own.description = process.conduit->description;
    own.limits = {gex::am::network_medium_limit(), gex::am::network_long_limit(/*is_reply=*/false),
                  gex::am::network_long_limit(/*is_reply=*/true), process.network.max_message,
                  process.network.reply_depth};
    if (process.conduit->describe != nullptr)
      process.conduit->describe(&gex::conduit_host(), note_choice, &own.choices);
    note_standing(*process.conduit, own);
  }
  for (const gex::net::NetworkOperation& operation : gex::net::operations())
    own.means.push_back(means_of(operation, process.conduit, &process.network));
  return own;
}

}  // namespace gexinfo
