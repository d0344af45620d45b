#include "net/address_probe.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <system_error>

namespace gex::net {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The other addresses of a host get this time once all hosts have answered at one.
constexpr milliseconds moment{40};
/// The first interval at which a datagram is repeated; each further one is twice as long.
constexpr milliseconds first_interval{25};
/// Connections that are being made at a time.
constexpr std::size_t max_connecting = 128;
/// Connections that have not shown a question.
constexpr std::size_t max_unproven = 64;
constexpr milliseconds unproven_limit{2000};

enum class Direction : std::uint32_t { question = 1, answer = 2 };

struct Message {
  std::uint64_t name;
  Direction direction;
  std::uint32_t asking;
  std::uint32_t asked;
  std::uint32_t candidate;
  std::uint64_t number;
  std::uint64_t tag;
};
static_assert(sizeof(Message) == 40);
constexpr std::uint64_t message_name = 0x3165626f72707867;  // "gxprobe1"

std::uint64_t tag_of(const SipKey& key, const Message& message) {
  return siphash(key, std::as_bytes(std::span(&message, 1)).first(offsetof(Message, tag)));
}

os::FileDescriptor make_socket(int family, bool datagrams) {
  return os::FileDescriptor(
      socket(family, (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Bound to the address, at the first free port of the range; without one the system chooses.
os::FileDescriptor open_at(const Address& address, bool datagrams, std::uint32_t first,
                           std::uint32_t last) {
  for (std::uint32_t port = first; port <= std::max(first, last); ++port) {
    os::FileDescriptor made = make_socket(address.family(), datagrams);
    if (!made) return {};
    // The connections of an earlier job leave its port in use for a minute.
    const int on = 1;
    if (!datagrams && port != 0) setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const Address wanted = address.with_port(static_cast<std::uint16_t>(port));
    if (bind(made.get(), wanted.data(), wanted.length()) == 0 &&
        (datagrams || listen(made.get(), SOMAXCONN) == 0))
      return made;
  }
  return {};
}

Address bound_address(int socket) {
  Address address;
  socklen_t length = Address::max_length;
  if (getsockname(socket, address.data(), &length) != 0) return {};
  address.set_length(length);
  return address;
}

/// Returns what an error of the system's means for a question.
Outcome outcome_of(int error) {
  switch (error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EINVAL:
    case EACCES:
    case EPERM:
      return Outcome::no_route;
    case ETIMEDOUT:
      return Outcome::silent;
    default:
      return Outcome::refused;
  }
}

}  // namespace

class AddressProbe::Service {
 public:
  Service(By by, std::uint16_t first_port, std::uint16_t last_port, std::span<OfferedAddress> own)
      : datagrams_(by == By::datagrams), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (OfferedAddress& one : own) {
      os::FileDescriptor opened = open_at(one.address, datagrams_, first_port, last_port);
      if (opened) one.address = bound_address(opened.get());
      own_.push_back(one.address);
      sockets_.push_back(std::move(opened));
    }
  }

  bool prepare(const SipKey& key, std::uint32_t self, std::span<const Question> questions,
               std::span<const HostOffer> offers, milliseconds limit) {
    key_ = key;
    limit_ = limit;
    self_ = self;
    if (getrandom(&number_, sizeof number_, 0) != sizeof number_ || !wake_) return false;
    for (const Question& one : questions) {
      Asked asked;
      asked.question = one;
      asked.to = offers[one.host].candidates[one.candidate].address;
      if (asked.to.port() == 0) asked.outcome = Outcome::no_port;
      asked_.push_back(std::move(asked));
    }
    begun_ = Clock::now();
    publish(begun_);
    return true;
  }

  void run();
  void stop() {
    const std::uint64_t one = 1;
    static_cast<void>(!write(wake_.get(), &one, sizeof one));
  }

  std::vector<Outcome> wait_until(bool Service::*condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return this->*condition; });
    return outcomes_;
  }

  bool settled_ = false;  ///< under the mutex: each host has answered, and had a moment more
  bool decided_ = false;  ///< under the mutex: all questions are

 private:
  struct Asked {
    Question question;
    Address to;
    Outcome outcome = Outcome::pending;
    Clock::time_point again{};  ///< by datagrams: when it is sent next
    milliseconds interval = first_interval;
    int from = -1;              ///< by datagrams: the socket
    os::FileDescriptor socket;  ///< of a connection
    bool is_sent = false;       ///< over the connection
    std::size_t received = 0;   ///< bytes of the answer
    std::array<std::byte, sizeof(Message)> answer{};
  };
  /// A connection of a peer's, or of anything else.
  struct Unproven {
    os::FileDescriptor socket;
    std::size_t at;  ///< of the address that it came to
    Clock::time_point limit;
    std::size_t received = 0;
    std::array<std::byte, sizeof(Message)> bytes{};
  };

  Message question_of(std::size_t i) const {
    Message message{message_name,
                    Direction::question,
                    self_,
                    asked_[i].question.host,
                    asked_[i].question.candidate,
                    number_ + i,
                    0};
    message.tag = tag_of(key_, message);
    return message;
  }

  /// The answer to a question to this host at that of its addresses; empty: it is
  /// not one.
  std::optional<Message> answer_to(const Message& message, std::size_t at) const {
    if (message.name != message_name || message.direction != Direction::question ||
        message.asked != self_ || message.candidate != at || message.tag != tag_of(key_, message))
      return std::nullopt;
    Message answer = message;
    answer.direction = Direction::answer;
    answer.tag = tag_of(key_, answer);
    return answer;
  }

  /// Takes an answer; `expected` is its question over a connection.
  void handle_answer(const Message& message, std::optional<std::size_t> expected = std::nullopt) {
    const std::uint64_t i = message.number - number_;
    if (message.name != message_name || message.direction != Direction::answer ||
        i >= asked_.size() || (expected && *expected != i) || message.asking != self_ ||
        message.asked != asked_[i].question.host ||
        message.candidate != asked_[i].question.candidate || message.tag != tag_of(key_, message))
      return;
    decide(asked_[i], Outcome::reached);
  }

  static void decide(Asked& asked, Outcome outcome) {
    if (asked.outcome != Outcome::reached) asked.outcome = outcome;
    asked.socket.reset();
  }

  int source_for(const Address& to) const;
  void send_datagram(std::size_t i, Clock::time_point now);
  void receive_datagrams(std::size_t at);
  void connect(Asked& asked);
  void advance(std::size_t i, short events);
  void accept_at(std::size_t at, Clock::time_point now);
  bool serve(Unproven& connection) const;
  void publish(Clock::time_point now);

  const bool datagrams_;
  os::FileDescriptor wake_;
  std::vector<Address> own_;
  std::vector<os::FileDescriptor> sockets_;  ///< at each of `own_`
  SipKey key_{};
  std::uint32_t self_ = 0;
  std::uint64_t number_ = 0;  ///< of the first question
  std::vector<Asked> asked_;
  std::deque<Unproven> unproven_;  ///< the oldest first
  Clock::time_point begun_;
  milliseconds limit_{};
  std::optional<Clock::time_point> all_answered_at_;
  bool is_decided_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Outcome> outcomes_;  ///< under the mutex
};

/// The socket whose address the system would send from, or one of the family; -1: there is none.
int AddressProbe::Service::source_for(const Address& to) const {
  const os::FileDescriptor trial = make_socket(to.family(), true);
  if (!trial || ::connect(trial.get(), to.data(), to.length()) != 0) return -1;
  const Address source = bound_address(trial.get()).with_port(0);
  int any = -1;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (!sockets_[i] || own_[i].family() != to.family()) continue;
    if (own_[i].with_port(0) == source) return sockets_[i].get();
    if (any < 0) any = sockets_[i].get();
  }
  return any;
}

void AddressProbe::Service::send_datagram(std::size_t i, Clock::time_point now) {
  Asked& asked = asked_[i];
  if (asked.from < 0) asked.from = source_for(asked.to);
  if (asked.from < 0) return decide(asked, Outcome::no_route);
  const Message message = question_of(i);
  const ssize_t sent = sendto(asked.from, &message, sizeof message, MSG_NOSIGNAL, asked.to.data(),
                              asked.to.length());
  if (sent < 0 && outcome_of(errno) == Outcome::no_route) return decide(asked, Outcome::no_route);
  asked.again = now + asked.interval;
  asked.interval *= 2;
}

void AddressProbe::Service::receive_datagrams(std::size_t at) {
  for (;;) {
    Message message;
    Address from;
    socklen_t length = Address::max_length;
    const ssize_t got =
        recvfrom(sockets_[at].get(), &message, sizeof message, MSG_TRUNC, from.data(), &length);
    if (got < 0 && errno == EINTR) continue;
    // An error that an earlier datagram has met is reported once.
    if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK) continue;
    if (got < 0) return;
    if (got != static_cast<ssize_t>(sizeof message)) continue;
    from.set_length(length);
    if (const auto answer = answer_to(message, at))
      sendto(sockets_[at].get(), &*answer, sizeof *answer, MSG_NOSIGNAL, from.data(),
             from.length());
    else
      handle_answer(message);
  }
}

void AddressProbe::Service::connect(Asked& asked) {
  asked.socket = make_socket(asked.to.family(), false);
  if (!asked.socket) {
    // Too many descriptors are open now; others will be closed.
    if (errno != EMFILE && errno != ENFILE) decide(asked, outcome_of(errno));
    return;
  }
  if (::connect(asked.socket.get(), asked.to.data(), asked.to.length()) != 0 &&
      errno != EINPROGRESS)
    decide(asked, outcome_of(errno));
}

/// After the connection of a question has become writable or readable.
void AddressProbe::Service::advance(std::size_t i, short events) {
  Asked& asked = asked_[i];
  const int socket = asked.socket.get();
  if (!asked.is_sent) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return decide(asked, outcome_of(error));
    if ((events & POLLOUT) == 0) return;
    const Message message = question_of(i);
    // A new connection has room for it.
    if (send(socket, &message, sizeof message, MSG_NOSIGNAL) !=
        static_cast<ssize_t>(sizeof message))
      return decide(asked, Outcome::refused);
    asked.is_sent = true;
    return;
  }
  const ssize_t got =
      recv(socket, asked.answer.data() + asked.received, sizeof(Message) - asked.received, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return decide(asked, Outcome::refused);
  asked.received += static_cast<std::size_t>(got);
  if (asked.received < sizeof(Message)) return;
  Message message;
  std::memcpy(&message, asked.answer.data(), sizeof message);
  handle_answer(message, i);
  if (asked.outcome == Outcome::pending) decide(asked, Outcome::refused);
}

void AddressProbe::Service::accept_at(std::size_t at, Clock::time_point now) {
  for (;;) {
    os::FileDescriptor socket(
        accept4(sockets_[at].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (unproven_.size() >= max_unproven) unproven_.pop_front();
    Unproven connection;
    connection.socket = std::move(socket);
    connection.at = at;
    connection.limit = now + unproven_limit;
    if (serve(connection)) unproven_.push_back(std::move(connection));
  }
}

/// Reads what has arrived, and answers the question if it is whole. Returns whether the connection
/// is still needed.
bool AddressProbe::Service::serve(Unproven& connection) const {
  const ssize_t got = recv(connection.socket.get(), connection.bytes.data() + connection.received,
                           sizeof(Message) - connection.received, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  connection.received += static_cast<std::size_t>(got);
  if (connection.received < sizeof(Message)) return true;
  Message message;
  std::memcpy(&message, connection.bytes.data(), sizeof message);
  if (const auto answer = answer_to(message, connection.at))
    send(connection.socket.get(), &*answer, sizeof *answer, MSG_NOSIGNAL);
  return false;
}

/// Decides what has taken too long, and reports how far the questions are.
void AddressProbe::Service::publish(Clock::time_point now) {
  if (is_decided_) return;
  const bool is_late = now >= begun_ + limit_;
  bool all_decided = true;
  std::set<std::uint32_t> silent_hosts;
  for (Asked& one : asked_) {
    if (one.outcome == Outcome::pending && is_late) decide(one, Outcome::silent);
    if (one.outcome == Outcome::pending) all_decided = false;
    silent_hosts.insert(one.question.host);
  }
  for (const Asked& one : asked_)
    if (one.outcome == Outcome::reached) silent_hosts.erase(one.question.host);
  if (silent_hosts.empty() && !all_answered_at_) all_answered_at_ = now;
  const bool is_settled =
      all_decided ||
      (all_answered_at_ &&
       now >= *all_answered_at_ + std::max(moment, std::chrono::duration_cast<milliseconds>(
                                                       *all_answered_at_ - begun_)));
  is_decided_ = all_decided;
  const std::lock_guard lock(mutex_);
  outcomes_.clear();
  for (const Asked& one : asked_) outcomes_.push_back(one.outcome);
  if (is_settled) settled_ = true;
  if (all_decided) decided_ = true;
  changed_.notify_all();
}

void AddressProbe::Service::run() {
  std::vector<pollfd> watched;
  for (;;) {
    const Clock::time_point now = Clock::now();
    std::size_t connecting = 0;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      Asked& one = asked_[i];
      if (one.outcome != Outcome::pending) continue;
      if (datagrams_ && now >= one.again) send_datagram(i, now);
      if (!datagrams_ && !one.socket && connecting < max_connecting) connect(one);
      if (one.socket) ++connecting;
    }
    publish(now);
    // It watches the end, the own addresses, the own questions and the others' connections.
    watched.clear();
    watched.push_back({wake_.get(), POLLIN, 0});
    for (const auto& one : sockets_) watched.push_back({one.get(), POLLIN, 0});
    for (const Asked& one : asked_)
      watched.push_back({one.socket ? one.socket.get() : -1,
                         static_cast<short>(one.is_sent ? POLLIN : POLLOUT), 0});
    const std::size_t others = watched.size();
    for (const Unproven& one : unproven_) watched.push_back({one.socket.get(), POLLIN, 0});
    const int wait = !is_decided_ ? 10 : unproven_.empty() ? -1 : 100;
    if (poll(watched.data(), watched.size(), wait) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    // Before new ones are accepted, as they were watched.
    const Clock::time_point after = Clock::now();
    std::size_t at = others;
    std::erase_if(unproven_, [&](Unproven& one) {
      const bool has_bytes = watched[at++].revents != 0;
      return (has_bytes && !serve(one)) || after >= one.limit;
    });
    for (std::size_t i = 0; i < asked_.size(); ++i)
      if (const short events = watched[1 + sockets_.size() + i].revents; events != 0)
        advance(i, events);
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      if (watched[1 + i].revents == 0) continue;
      if (datagrams_)
        receive_datagrams(i);
      else
        accept_at(i, after);
    }
  }
}

AddressProbe::AddressProbe(By by, std::uint16_t first_port, std::uint16_t last_port,
                           std::span<OfferedAddress> own)
    : service_(std::make_unique<Service>(by, first_port, last_port, own)) {
}

AddressProbe::~AddressProbe() {
  if (!thread_.joinable()) return;
  service_->stop();
  thread_.join();
}

int AddressProbe::start(const SipKey& key, std::uint32_t self, std::span<const Question> questions,
                        std::span<const HostOffer> offers, milliseconds limit) {
  if (!service_->prepare(key, self, questions, offers, limit)) return EIO;
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    thread_ = std::thread([this] { service_->run(); });
  } catch (const std::system_error& failed) {
    error = failed.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

std::vector<Outcome> AddressProbe::first_outcomes() {
  return service_->wait_until(&Service::settled_);
}

std::vector<Outcome> AddressProbe::final_outcomes() {
  return service_->wait_until(&Service::decided_);
}

}  // namespace gex::net
