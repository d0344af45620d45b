// A program that uses job and launch and nothing above them: what the launch tests run as ranks.
//
//   launch_probe SCENARIO [ARGUMENT]...
//
// Each scenario is a function below, named as on the command line. A scenario that finds something
// wrong prints it and exits with status 99, which no test expects.

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/error_environment.h"
#include "job/job.h"
#include "job/protocol.h"
#include "launch/client/hook.h"

namespace {

using gex::job::Job;
using gex::job::RankSet;
using Arguments = std::vector<std::string>;

constexpr int wrong = 99;

const char* program = nullptr;

[[noreturn]] void complain(const char* what) {
  std::fprintf(stderr, "launch_probe: %s\n", what);
  _exit(wrong);
}

/// One line in one write, seen by the test at once.
void print(const std::string& text) {
  const std::string line = text + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) complain("cannot write");
}

std::uint32_t number(const Arguments& arguments, std::size_t index) {
  return static_cast<std::uint32_t>(std::stoul(arguments.at(index)));
}

/// Waits for a message that never comes. The naps leave the processors to other tests.
[[noreturn]] void poll_for_ever(Job& job) {
  for (;;) {
    if (job.ending()) job.follow();
    usleep(500);
  }
}

/// Never looks at the job, as a rank that computes, which only a signal ends. It mostly sleeps, to
/// leave the processors to other tests.
[[noreturn]] void nap_without_looking() {
  for (;;) usleep(2000);
}

/// Computes without a system call, and never looks at the job.
[[noreturn]] void compute_for_ever() {
  for (std::atomic<unsigned> spins{0};; ++spins) {
  }
}

/// Exchanges of many sizes and barriers between them; every byte is checked.
int exchange(const Arguments& arguments) {
  Job& job = Job::join();
  const std::size_t largest = arguments.empty() ? 100'000 : number(arguments, 0);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{32768}, largest}) {
    if (bytes > largest) continue;
    const auto byte_of = [bytes](std::uint32_t rank, std::size_t i) {
      return static_cast<std::byte>(rank * 7 + i * 13 + bytes);
    };
    std::vector<std::byte> mine(bytes);
    for (std::size_t i = 0; i < bytes; ++i) mine[i] = byte_of(job.rank(), i);
    std::vector<std::byte> all(bytes * job.size());
    job.exchange(mine, all);
    for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
      for (std::size_t i = 0; i < bytes; ++i) {
        if (all[rank * bytes + i] != byte_of(rank, i)) complain("exchanged bytes differ");
      }
    }
    std::uint64_t least[] = {10 + job.rank(), job.size() - job.rank(), bytes};
    job.least(least);
    if (least[0] != 10 || least[1] != 1 || least[2] != bytes) complain("the least is not");
    job.barrier();
  }
  for (int i = 0; i < 20; ++i) job.barrier();
  print("exchanged " + std::to_string(job.rank()) + "/" + std::to_string(job.size()));
  return 0;
}

/// The ranks of this rank's host.
RankSet own_host(const Job& job) {
  RankSet ranks;
  for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
    if (job.host_of(rank) == job.host_of(job.rank())) ranks.add(rank);
  }
  return ranks;
}

/// Shares a file within the whole host and, twice in a row, within each half of it.
int share(const Arguments&) {
  Job& job = Job::join();
  const RankSet host = own_host(job);
  const auto share_once = [&job](const RankSet& ranks) {
    const std::uint32_t first = ranks.front();
    int given = -1;
    if (job.rank() == first) {
      given = memfd_create("shared", MFD_CLOEXEC);
      if (pwrite(given, &first, sizeof first, 0) != sizeof first) complain("cannot write memfd");
    }
    const int file = job.share_descriptor(given, ranks);
    if (given >= 0 && file != given) complain("the giver got another descriptor");
    if ((fcntl(file, F_GETFD) & FD_CLOEXEC) == 0) complain("shared descriptor survives exec");
    std::uint32_t found = ~0U;
    if (pread(file, &found, sizeof found, 0) != sizeof found || found != first) {
      complain("shared file differs");
    }
    const std::uint32_t offset = (1 + job.rank()) * sizeof found;
    if (pwrite(file, &found, sizeof found, offset) != sizeof found) complain("cannot write");
    job.barrier();
    struct Fd {
      int number;
      ~Fd() { close(number); }
    } closed{file};
    for (const std::uint32_t rank : ranks) {
      if (pread(file, &found, sizeof found, (1 + rank) * sizeof found) != sizeof found ||
          found != first) {
        complain("the open file is not shared by all");
      }
    }
  };
  share_once(host);
  // Every other one.
  RankSet half;
  for (std::uint32_t i = host.index_of(job.rank()) % 2; i < host.size(); i += 2) half.add(host[i]);
  for (int i = 0; i < 2; ++i) share_once(half);
  print("shared");
  return 0;
}

int end_from_main(const Arguments& arguments) {
  Job& job = Job::join();
  if (job.rank() == number(arguments, 1)) {
    std::printf("final output\n");
    job.end(static_cast<int>(number(arguments, 0)));
  }
  poll_for_ever(job);
}

int end_from_signal_handler(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) {
    signal(SIGUSR1, [](int) { Job::current().end(7); });
    std::printf("buffered words\n");
    raise(SIGUSR1);
    complain("end returned");
  }
  poll_for_ever(job);
}

/// Every rank ends the job at once, each with a code of its own.
int end_all_at_once(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  job.end(10 + static_cast<int>(job.rank()));
}

int end_from_two_threads(const Arguments&) {
  Job& job = Job::join();
  std::printf("once\n");
  std::thread other([&job] { job.end(6); });
  job.end(6);
}

/// Rank 0 ends the job with 0; the others print something before they do the same, and the
/// last one ends with the status given.
int end_one_after_another(const Arguments& arguments) {
  Job& job = Job::join();
  const std::uint32_t rank = job.rank();
  if (rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(300 * rank));
  std::printf("rank %u done\n", rank);
  job.end(rank + 1 == job.size() ? std::atoi(arguments.at(0).c_str()) : 0);
}

/// Until some rank has left the job, or it is being ended.
void wait_for_absence(const Job& job) {
  while (job.ending_word() == 0) sched_yield();
}

/// Rank 0 ends the job, and the others never come to an end.
int end_alone(const Arguments& arguments) {
  Job& job = Job::join();
  const std::string& others = arguments.at(1);
  if (job.rank() == 0) job.end(std::stoi(arguments.at(0)));
  if (others == "polling") poll_for_ever(job);
  if (others == "computing") nap_without_looking();
  wait_for_absence(job);
  print("waits");
  for (;;) pause();
}

/// All ranks find that they cannot go on; rank 0, which prints why, comes after the others, and
/// longer after them than the guardians wait before they send signals when the job is being ended.
int fail_together(const Arguments& arguments) {
  Job& job = Job::join();
  const bool by_exit = arguments.at(0) == "by-exit";
  for (int number = 1; number < NSIG; ++number)
    signal(number, [](int) { complain("a signal came"); });
  job.barrier();
  if (job.rank() == 0) {
    wait_for_absence(job);
    for (int i = 0; i < 300; ++i) {
      usleep(1000);
      if (job.ending()) job.follow();
    }
    std::printf("the reason\n");
  }
  if (by_exit) return 4;
  job.end(4);
}

int die_after_an_end(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) job.end(6);
  wait_for_absence(job);
  if (job.rank() == 2) raise(SIGSEGV);
  poll_for_ever(job);
}

/// A thread of rank 0 makes a collective call after another one has ended the rank.
int end_beside_barrier(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) {
    std::thread([&job] { job.end(6); }).detach();
    wait_for_absence(job);
    job.barrier();
    complain("a barrier came about");
  }
  // After that call, which goes to the same guardian, or one that is asked for it.
  wait_for_absence(job);
  usleep(100'000);
  job.end(5);
}

/// Rank 0 ends the job from what it does for others after its return from main.
int return_and_end(const Arguments&) {
  Job& job = Job::join();
  job.set_idle_poll(
      [](bool serve) noexcept {
        if (serve) Job::current().end(7);
      },
      1);
  if (job.rank() == 0) return 0;
  poll_for_ever(job);
}

/// Rank 0 ends the job while the others wait in a collective call.
int end_during_barrier(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) job.end(8);
  job.barrier();
  complain("a barrier came about without rank 0");
}

/// Rank 0 ends the job while the others never look at it.
int end_during_computation(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == 0) job.end(5);
  compute_for_ever();
}

/// The others catch SIGQUIT, as GASNet-1 clients do to tidy up.
int end_with_quit_handler(const Arguments& arguments) {
  Job& job = Job::join();
  signal(SIGQUIT, [](int) {
    const char text[] = "tidied up\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(wrong);
    Job::current().end(9);
  });
  job.barrier();
  const bool polling = arguments.at(0) == "polling";
  if (job.rank() == 0) {
    // It is not raised in this rank, whatever its other threads do.
    for (int i = 0; polling && i < 3; ++i) std::thread([&] { poll_for_ever(job); }).detach();
    job.end(5);
  }
  if (polling) poll_for_ever(job);
  nap_without_looking();
}

/// Ends while a lock of the C library is held by a thread that never gives it back.
int end_with_stuck_stream(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) {
    std::thread([] {
      flockfile(stdout);
      for (;;) pause();
    }).detach();
    while (ftrylockfile(stdout) == 0) {
      funlockfile(stdout);
      sched_yield();
    }
    job.end(4);
  }
  poll_for_ever(job);
}

/// The first rank of a host returns early and must go on answering; the others need that to go on.
int return_early(const Arguments&) {
  Job& job = Job::join();
  const RankSet host = own_host(job);
  const std::uint32_t first = host.front();
  using Word = std::atomic<int>;
  int file = -1;
  if (job.rank() == first) {
    file = memfd_create("answers", MFD_CLOEXEC);
    if (ftruncate(file, 4096) != 0) complain("cannot size memfd");
  }
  file = job.share_descriptor(file, host);
  static Word* answers;
  answers = static_cast<Word*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  job.set_idle_poll([](bool) noexcept { ++*answers; }, 1);
  if (job.rank() == first) return 0;
  const int before = answers->load();
  while (answers->load() < before + 100) sched_yield();
  print("answered");
  return 0;
}

/// The rank returns and the others do not.
int return_alone(const Arguments& arguments) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 0)) return 0;
  poll_for_ever(job);
}

int return_before_barrier(const Arguments& arguments) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 0)) return 0;
  job.barrier();
  complain("a barrier came about without every rank");
}

/// With a third argument, what the rank does last takes so many milliseconds.
int exit_with(const Arguments& arguments) {
  static std::uint32_t last_moment_ms = 0;
  if (arguments.size() > 2) {
    last_moment_ms = number(arguments, 2);
    std::atexit([] { usleep(1000 * last_moment_ms); });
  }
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 1)) std::exit(static_cast<int>(number(arguments, 0)));
  poll_for_ever(job);
}

int exit_at_once(const Arguments& arguments) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 1)) _exit(static_cast<int>(number(arguments, 0)));
  poll_for_ever(job);
}

int exit_before_joining(const Arguments& arguments) {
  // Under gexrun the rank is known to the environment only.
  const char* const place = std::getenv("GEX_JOB");
  if (place == nullptr) complain("no GEX_JOB");
  int rank = -1;
  if (std::sscanf(place, "%*d:%*d:%d", &rank) != 1) complain("no rank in GEX_JOB");
  if (rank == static_cast<int>(number(arguments, 1))) {
    return static_cast<int>(number(arguments, 0));
  }
  Job::join().barrier();
  complain("a barrier came about without every rank");
}

int die(const Arguments& arguments) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 1)) {
    const auto signal_number = static_cast<int>(number(arguments, 0));
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
  poll_for_ever(job);
}

/// Prints lines by a stream; then `die`.
int print_and_die(const Arguments& arguments) {
  Job::join();
  std::printf("first\nsecond\n");
  return die(arguments);
}

int fail(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == 1) gex::fatal("this went wrong");
  poll_for_ever(job);
}

/// Every rank finds the same error.
int fail_all(const Arguments&) {
  Job::join().barrier();
  gex::fatal("this went wrong everywhere");
}

/// A child of the client exits, ends and dies without harm to the job.
int fork_children(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  const auto run_child = [](const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(wrong);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) complain("no child");
    return status;
  };
  if (WEXITSTATUS(run_child([] { std::exit(3); })) != 3) complain("exit of a child");
  if (WEXITSTATUS(run_child([] { std::exit(0); })) != 0) complain("exit of a child");
  if (WEXITSTATUS(run_child([&job] { job.end(4); })) != 4) complain("end of a child");
  if (WTERMSIG(run_child([] { raise(SIGKILL); })) != SIGKILL) complain("death of a child");
  job.barrier();
  print("unharmed");
  return 0;
}

/// The variables that hold a rank's place are those of its job.
void check_rank_variables(const Job& job) {
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;
  for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
    if (job.host_of(rank) != job.host_of(job.rank())) continue;
    if (rank < job.rank()) ++local_rank;
    ++local_size;
  }
  const std::pair<const char*, std::uint32_t> expected[] = {{"GEX_RANK", job.rank()},
                                                            {"GEX_SIZE", job.size()},
                                                            {"GEX_LOCAL_RANK", local_rank},
                                                            {"GEX_LOCAL_SIZE", local_size}};
  for (const auto& [name, value] : expected) {
    const char* const text = std::getenv(name);
    if (text == nullptr || text != std::to_string(value)) complain(name);
  }
}

int who(const Arguments&) {
  // gexrun has set the variables before the rank joins the job.
  const bool launched = std::getenv("GEX_JOB") != nullptr;
  const char* const variable = std::getenv("GEX_RANK");
  const std::string before = variable != nullptr ? variable : "";
  const Job& job = Job::join();
  if (launched && before != std::to_string(job.rank())) complain("GEX_RANK was another before");
  check_rank_variables(job);
  static constexpr std::array names = {"singleton", "forked", "gexrun", "foreign"};
  if (std::getenv("GEX_JOB") != nullptr || std::getenv("GASNET_PSHM_NODES") != nullptr) {
    complain("the environment still describes the job");
  }
  print("rank " + std::to_string(job.rank()) + " of " + std::to_string(job.size()) + " " +
        names.at(static_cast<std::size_t>(job.origin())) + " on host " +
        std::to_string(job.host_of(job.rank())));
  return 0;
}

/// Runs another program that uses libgex; it must be a job of its own.
int execute_other(const Arguments&) {
  Job& job = Job::join();
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, "who", nullptr);
    _exit(wrong);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) complain("the other program failed");
  job.barrier();
  return 0;
}

/// Runs a command, in which programs of libgex are jobs of their own.
int execute_command(const Arguments& arguments) {
  Job& job = Job::join();
  if (job.rank() == 0) {
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> words;
      for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words[0], words.data());
      _exit(wrong);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) complain("the command failed");
  }
  job.barrier();
  return 0;
}

/// The rank takes memory until something stops it.
int eat_memory(const Arguments& arguments) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == number(arguments, 0)) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (int pieces = 0; pieces < 1024; ++pieces) {
      void* const memory = mmap(nullptr, piece, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (memory != MAP_FAILED) std::memset(memory, 1, piece);
    }
    complain("nothing stopped it");
  }
  poll_for_ever(job);
}

/// Rank 1 becomes another program without leaving the job.
int become_other(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  if (job.rank() == 1) execlp("sleep", "sleep", "600", nullptr);
  poll_for_ever(job);
}

/// Prints "ready" when all are there and stays, whatever it is asked.
int hold(const Arguments&) {
  Job& job = Job::join();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) signal(signal_number, SIG_IGN);
  job.barrier();
  print("ready " + std::to_string(getpid()));
  for (;;) pause();
}

/// Prints "ready" when all are there and waits to be ended.
int stay(const Arguments&) {
  Job& job = Job::join();
  job.barrier();
  print("ready " + std::to_string(getpid()));
  for (;;) pause();
}

/// As `stay`, with a daemon left behind by each rank, in a session of its own.
int stay_with_daemon(const Arguments& arguments) {
  Job& job = Job::join();
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) pause();
  }
  waitpid(child, nullptr, 0);
  job.barrier();
  if (!arguments.empty()) return 0;
  print("ready " + std::to_string(getpid()));
  for (;;) pause();
}

/// Reports which of the signals that are passed on arrive.
int receive_signals(const Arguments&) {
  Job& job = Job::join();
  for (const int signal_number : {SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGXCPU, SIGABRT}) {
    signal(signal_number, [](int received) {
      char text[] = "received 00\n";
      text[sizeof "received"] = static_cast<char>('0' + received / 10);
      text[sizeof "received" + 1] = static_cast<char>('0' + received % 10);
      if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(wrong);
    });
  }
  job.barrier();
  print("ready " + std::to_string(getpid()));
  for (;;) pause();
}

/// Catches the interrupt, tidies up and ends as a program does that was asked to; with an argument,
/// with that status, and with another one by _exit.
int tidy_up_on_interrupt(const Arguments& arguments) {
  static volatile sig_atomic_t interrupted = 0;
  signal(SIGINT, [](int) { interrupted = 1; });
  Job& job = Job::join();
  job.barrier();
  print("ready " + std::to_string(getpid()));
  while (interrupted == 0) usleep(1000);
  job.barrier();
  print("tidied up");
  const int status = arguments.empty() ? 0 : std::stoi(arguments[0]);
  if (arguments.size() > 1) _exit(status);
  return status;
}

int read_input(const Arguments&) {
  Job& job = Job::join();
  std::string text;
  for (int c; (c = std::getchar()) != EOF;) text += static_cast<char>(c);
  job.barrier();
  print(std::to_string(job.rank()) + " read " + std::to_string(text.size()) + ": " +
        text.substr(0, text.find('\n')));
  return 0;
}

/// Prints lines of many lengths, written in pieces that end in their midst.
int print_lines(const Arguments& arguments) {
  Job& job = Job::join();
  const std::uint32_t count = number(arguments, 0);
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string letters(1 + (i * 37 + job.rank() * 11) % 300,
                              static_cast<char>('a' + job.rank() % 26));
    text += "<" + std::to_string(job.rank()) + " " + std::to_string(i) + " " + letters + ">\n";
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t piece = std::min<std::size_t>(text.size() - at, 1 + at % 777);
    if (write(STDOUT_FILENO, text.data() + at, piece) != static_cast<ssize_t>(piece)) {
      complain("cannot write");
    }
    at += piece;
  }
  return 0;
}

/// One line of a megabyte.
int print_huge_line(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) std::printf("%s\n", std::string(1 << 20, 'x').c_str());
  return 0;
}

/// Joins with text in the buffer of standard output.
int join_with_buffered_text(const Arguments&) {
  std::printf("before\n");
  const Job& job = Job::join();
  std::printf("after %u\n", job.rank());
  return 0;
}

int join_with_threads(const Arguments&) {
  std::thread([] {
    for (;;) pause();
  }).detach();
  Job::join();
  return 0;
}

/// Prints the processors it may run on; with another argument it then waits to be ended.
int processors(const Arguments& arguments) {
  Job& job = Job::join();
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::string text = std::to_string(job.rank()) + " on";
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += " " + std::to_string(cpu);
  }
  print(text);
  if (!arguments.empty()) poll_for_ever(job);
  return 0;
}

/// The signal mask, the dispositions and the limits are what the starter had.
int surroundings(const Arguments&) {
  Job::join();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  std::string blocked;
  for (int i = 1; i < 32; ++i) blocked += sigismember(&mask, i) == 1 ? '1' : '0';
  print("blocked " + blocked + " files " + std::to_string(sysconf(_SC_OPEN_MAX)));
  return 0;
}

int crash(const Arguments&) {
  Job& job = Job::join();
  if (job.rank() == 0) *reinterpret_cast<volatile int*>(job.rank() + 8) = 1;
  poll_for_ever(job);
}

int mismatch(const Arguments&) {
  Job& job = Job::join();
  std::vector<std::byte> mine(job.rank() == 0 ? 8 : 16);
  std::vector<std::byte> all(mine.size() * job.size());
  job.exchange(mine, all);
  complain("an exchange of different sizes came about");
}

/// Rank 1 sends the guardian frames of chance instead of joining; the others join.
int babble(const Arguments& arguments) {
  int control = -1;
  int rank = -1;
  const char* const place = std::getenv("GEX_JOB");
  if (place == nullptr || std::sscanf(place, "%*d:%d:%d", &control, &rank) != 2) {
    complain("no GEX_JOB");
  }
  if (rank != 1) {
    Job::join().barrier();
    complain("a barrier came about without every rank");
  }
  std::mt19937_64 random(number(arguments, 0));
  const auto small_or_any = [&random] { return random() % 2 != 0 ? random() % 4 : random(); };
  gex::job::FrameHeader header;
  header.kind = gex::job::FrameKind::hello;
  std::vector<std::byte> payload(100'000);
  // The first thing is mostly a hello, so that what follows is taken for a rank's.
  for (int i = random() % 4 == 0 ? 1 : 0; i < 1000; ++i) {
    if (i > 0) {
      header.kind = static_cast<gex::job::FrameKind>(1 + random() % 7);
      header.sequence = static_cast<std::uint32_t>(small_or_any());
      header.total = small_or_any();
      header.offset = small_or_any();
      header.first = static_cast<std::uint32_t>(small_or_any());
      header.count = static_cast<std::uint32_t>(small_or_any());
      header.code = static_cast<std::int32_t>(small_or_any());
    }
    const std::size_t size = i == 0 ? 0 : small_or_any() % payload.size();
    const int passed = random() % 8 == 0 ? STDERR_FILENO : -1;
    send_frame(control, header, std::span(payload).first(size), passed, /*wait=*/true);
  }
  _exit(0);
}

const std::map<std::string, int (*)(const Arguments&)> scenarios = {
    {"babble", babble},
    {"become-other", become_other},
    {"crash", crash},
    {"die", die},
    {"die-after-an-end", die_after_an_end},
    {"eat-memory", eat_memory},
    {"end-all-at-once", end_all_at_once},
    {"end-during-barrier", end_during_barrier},
    {"end-during-computation", end_during_computation},
    {"end-from-main", end_from_main},
    {"end-from-signal-handler", end_from_signal_handler},
    {"end-alone", end_alone},
    {"end-beside-barrier", end_beside_barrier},
    {"end-from-two-threads", end_from_two_threads},
    {"end-one-after-another", end_one_after_another},
    {"end-with-quit-handler", end_with_quit_handler},
    {"end-with-stuck-stream", end_with_stuck_stream},
    {"exchange", exchange},
    {"execute-command", execute_command},
    {"execute-other", execute_other},
    {"exit-at-once", exit_at_once},
    {"exit-before-joining", exit_before_joining},
    {"exit-with", exit_with},
    {"fail", fail},
    {"fail-all", fail_all},
    {"fail-together", fail_together},
    {"fork-children", fork_children},
    {"receive-signals", receive_signals},
    {"hold", hold},
    {"join-with-buffered-text", join_with_buffered_text},
    {"join-with-threads", join_with_threads},
    {"mismatch", mismatch},
    {"print-and-die", print_and_die},
    {"print-huge-line", print_huge_line},
    {"print-lines", print_lines},
    {"processors", processors},
    {"read-input", read_input},
    {"return-alone", return_alone},
    {"return-and-end", return_and_end},
    {"return-before-barrier", return_before_barrier},
    {"return-early", return_early},
    {"share", share},
    {"stay", stay},
    {"stay-with-daemon", stay_with_daemon},
    {"surroundings", surroundings},
    {"tidy-up-on-interrupt", tidy_up_on_interrupt},
    {"who", who},
};

}  // namespace

int main(int count, char** arguments) {
  gex::follow_error_environment();
  gex::launch::register_launch_hook();
  program = arguments[0];
  const auto scenario = scenarios.find(count > 1 ? arguments[1] : "");
  if (scenario == scenarios.end()) complain("no such scenario");
  // ThreadSanitizer of GCC 12 loses a signal that comes during a thread's first blocking call.
  usleep(0);
  return scenario->second(Arguments(arguments + 2, arguments + count));
}
