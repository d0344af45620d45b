/// @file
/// Remote procedure calls. Part of upcxx/upcxx.hpp.
///
/// A call's function and arguments are serialized before it returns, and are run by the target's
/// master persona in user progress, never at once.
#ifndef UPCXX_RPC_HPP_
#define UPCXX_RPC_HPP_

#include <exception>
#include <memory>

#include <upcxx/message.hpp>
#include <upcxx/serialization.hpp>
#include <upcxx/team.hpp>
#include <upcxx/transfer.hpp>
#include <upcxx/when_all.hpp>

namespace upcxx {

namespace experimental {

/// Thrown by immediate calls.
class network_busy : public std::exception {
 public:
  const char* what() const noexcept override {
    return "the network, or this rank, has no room for a remote call now; make progress and try "
           "again, or wait for rpc_room()";
  }
};

}  // namespace experimental

namespace detail {

[[noreturn]] UPCXXI_EXPORT void throw_network_busy();

/// How an argument travels: a team by its name.
template <class T>
struct Traveller {
  using type = T;
  /// True if it may exist here later only.
  static constexpr bool may_be_awaited = false;
  template <class D>
  static future<> when_here(const D&) {
    return make_future();
  }
  static const T& departs(const T& value) { return value; }
  template <class D>
  static D&& arrives(D& value) {
    return static_cast<D&&>(value);
  }
};
template <>
struct Traveller<team> {
  using type = team_id;
  static constexpr bool may_be_awaited = true;
  static future<> when_here(team_id id) { return id.when_exists(); }
  static team_id departs(const team& value) { return value.id(); }
  static team& arrives(team_id value) { return value.here(); }
};
template <class T>
using Travels = Traveller<std::remove_cv_t<std::remove_reference_t<T>>>;

/// An argument that is kept for a later call and cannot be copied, as it travels.
template <class T>
struct Departed {
  explicit Departed(const T& argument) : value(Traveller<T>::departs(argument)) {}
  typename Traveller<T>::type value;
};
template <class T>
struct Traveller<Departed<T>> : Traveller<T> {
  static const typename Traveller<T>::type& departs(const Departed<T>& kept) { return kept.value; }
};
/// An argument of a later call.
template <class T>
using Kept =
    std::conditional_t<std::is_same<typename Traveller<T>::type, T>::value, T, Departed<T>>;
/// Functions travel as pointers.
template <class T>
using Plain = std::decay_t<T>;
template <class T>
using PlainArgument = std::conditional_t<std::is_function<T>::value, std::add_pointer_t<T>, T>;

template <class T>
inline constexpr bool is_completions = false;
template <class... Action>
inline constexpr bool is_completions<completions<Action...>> = true;

template <class... Part>
std::size_t measure(const Part&... part) {
  Writer writer(nullptr);
  (writer.write(part), ...);
  return writer.size();
}

template <class Function>
std::uint64_t token_of(Function function) {
  return code_token(reinterpret_cast<void (*)()>(function));
}

/// The function that runs at the target, and sends an answer if the call has one.
template <bool HasAnswer, class Function, class... A>
class Execution {
  using Arguments = ReadValues<Function, typename Travels<A>::type...>;
  using Target = deserialized_type_t<Function>;

 public:
  using Returned = decltype(std::declval<Target&&>()(
      Travels<A>::arrives(std::declval<deserialized_type_t<typename Travels<A>::type>&>())...));
  static constexpr bool has_answer = HasAnswer;
  static constexpr bool is_asynchronous = is_future<std::decay_t<Returned>>;

  struct NoAnswer {};
  struct Answer {
    CallRecord* call;
    intrank_t initiator;
  };
  /// In front of the function.
  using Header = std::conditional_t<HasAnswer, Answer, NoAnswer>;

  static void run(Task* task) {
    auto* const message = static_cast<Message*>(task);
    if constexpr ((Travels<A>::may_be_awaited || ...)) {
      auto* const execution = new Execution(message);
      execution->when_here().then([execution] { execution->run_kept(); });
    } else if constexpr (is_asynchronous) {
      (new Execution(message))->run_kept();
    } else {
      Execution(message).run_now();
    }
  }

 private:
  explicit Execution(Message* message)
      : message_(message),
        reader_(message->payload()),
        header_(reader_.read<Header>()),
        arguments_(reader_) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { message_->free(); }

  void run_now() {
    if constexpr (std::is_void<Returned>::value) {
      call();
      answer();
    } else {
      answer(call());
    }
  }
  /// Until what the function returns is ready.
  void run_kept() {
    if constexpr (is_asynchronous) {
      call().then([this](auto&&... value) {
        this->answer(value...);
        delete this;
      });
    } else {
      run_now();
      delete this;
    }
  }
  future<> when_here() {
    return arguments_.apply(
        [](Target&, auto&... argument) { return when_all(Travels<A>::when_here(argument)...); });
  }
  decltype(auto) call() {
    return arguments_.apply([](Target& function, auto&... argument) -> decltype(auto) {
      return std::move(function)(Travels<A>::arrives(argument)...);
    });
  }
  template <class... V>
  void answer(const V&... values) {
    if constexpr (HasAnswer) {
      Outgoing outgoing(header_.initiator, measure(values...));
      if constexpr (sizeof...(V) > 0) {
        Writer writer(outgoing.payload());
        (writer.write(values), ...);
      }
      outgoing.send_answer(header_.call);
    }
  }

  Message* message_;
  Reader reader_;
  Header header_;
  Arguments arguments_;
};

template <class Execution, class Function, class... A>
void write_call(unsigned char* payload, const typename Execution::Header& header,
                const Function& function, const A&... arguments) {
  Writer writer(payload);
  writer.write(header);
  writer.write(function);
  (writer.write(Travels<A>::departs(arguments)), ...);
}
template <class Execution>
std::uint64_t execution_token() {
  static const std::uint64_t token = token_of(&Execution::run);
  return token;
}

#ifdef UPCXX_CODEMODE
using Target = intrank_t;
inline intrank_t rank_of(intrank_t target) {
  return target;
}
inline Place place_of(intrank_t) {
  return {};
}
#else
/// A rank, and where it was given to a call.
class PlacedTarget {
 public:
  template <class Rank,
            class = std::enable_if_t<std::is_convertible<const Rank&, intrank_t>::value>>
  PlacedTarget(const Rank& rank, const char* file = __builtin_FILE(),
               unsigned line = __builtin_LINE())
      : rank_(static_cast<intrank_t>(rank)), place_{file, line} {}
  intrank_t rank() const { return rank_; }
  Place place() const { return place_; }

 private:
  intrank_t rank_;
  Place place_;
};
using Target = PlacedTarget;
inline intrank_t rank_of(const PlacedTarget& target) {
  return target.rank();
}
inline Place place_of(const PlacedTarget& target) {
  return target.place();
}
#endif

/// The bytes of an answer of these values if they are known and few, otherwise 0.
template <class... R>
constexpr std::size_t answer_bytes() {
  if constexpr ((is_trivial<R> && ... && true)) {
    const std::size_t bytes = (std::size_t(0) + ... + (sizeof(R) + alignof(R) - 1));
    return bytes <= 256 ? bytes : 0;
  } else {
    return 0;
  }
}

/// The initiator's record of a call: its result are values R, as they arrive.
template <class Actions, class... R>
class RpcCall;
template <class... Action, class... R>
class RpcCall<std::tuple<Action...>, R...> final : public CallRecord {
  static constexpr std::size_t room_bytes = answer_bytes<R...>();

 public:
  explicit RpcCall(const std::tuple<Action...>& actions)
      : CallRecord(deliver, room_, room_bytes), notices_(actions) {}
  auto futures() { return notices_.futures(); }
  void source_is_over() { notices_.template later<Event::source>(); }

 private:
  static void deliver(Task* task) {
    auto* const call = static_cast<RpcCall*>(task);
    Reader reader(call->answer());
    ReadValues<R...> values(reader);
    call->free_answer();
    values.apply([&](auto&... value) {
      call->notices_.template later<Event::operation>(std::move(value)...);
    });
    delete call;
  }

  Notices<std::tuple<Action...>, deserialized_type_t<R>...> notices_;
  alignas(16) unsigned char room_[room_bytes == 0 ? 1 : room_bytes];
};

/// The record of a call of which the function returns R.
template <class Actions, class Future>
struct CallOf;
template <class Actions, class... T>
struct CallOf<Actions, future<T...>> {
  using type = RpcCall<Actions, std::decay_t<T>...>;
};

template <class... A>
inline constexpr bool are_sendable =
    (is_serializable<std::remove_cv_t<typename Travels<A>::type>>::value && ...);
template <class Function, class... A>
inline constexpr bool is_callable = std::is_invocable<
    deserialized_type_t<Plain<Function>>,
    decltype(Travels<A>::arrives(
        std::declval<deserialized_type_t<typename Travels<A>::type>&>()))...>::value;

template <class... A>
struct NoArrays {
  static_assert((!std::is_array<A>::value && ...),
                "a string literal, or another array of C, is no argument of an rpc: pass a "
                "std::string or std::array, or make_view() of its elements");
};
/// Looked at first in a call: in front of what a compiler prints of the same mistake.
template <class Function, class... A>
struct CallRequirements : NoArrays<A...> {
  static_assert(is_serializable<Plain<Function>>::value,
                "the function of the rpc cannot be sent: what it has captured is not trivially "
                "copyable; pass that as an argument");
  static_assert(((sizeof(typename Travels<A>::type) <= UPCXX_MAX_RPC_ARG_SIZE) && ...),
                "an argument of the rpc is larger than UPCXX_MAX_RPC_ARG_SIZE: pass a container or "
                "make_view() of its elements, or define a larger limit in front of the header");
  static_assert(are_sendable<A...>,
                "an argument of the rpc cannot be sent: it is not trivially copyable, and has no "
                "UPCXX_SERIALIZED_FIELDS, UPCXX_SERIALIZED_VALUES or upcxx_serialization");
  static_assert(is_callable<Function, A...>,
                "the function cannot be called with these arguments as they arrive: as rvalues of "
                "their deserialized types");
  static constexpr bool are_met = true;
};

template <class... Action, class Function, class... A>
auto call(Begin begin, intrank_t target, Place place, const completions<Action...>& how,
          Function&& function, const A&... arguments) {
  static_assert(CallRequirements<Function, PlainArgument<A>...>::are_met, "");
  static_assert(has_event<Event::operation, Action...>,
                "an rpc needs a completion of the operation; rpc_ff has no answer");
  static_assert(!has_event<Event::remote, Action...>, "an rpc has no remote completion");
  const Plain<Function>& plain = function;
  using Returned = typename Execution<true, Plain<Function>, PlainArgument<A>...>::Returned;
  using Call =
      typename CallOf<std::tuple<Action...>, typename FutureOf<std::decay_t<Returned>>::type>::type;
  using Run = Execution<true, Plain<Function>, PlainArgument<A>...>;
  Outgoing outgoing(
      target,
      measure(typename Run::Header(), plain, Travels<PlainArgument<A>>::departs(arguments)...),
      begin);
  if (outgoing.is_refused()) throw_network_busy();
  auto* const record = new Call(how.actions);
  return start(record, [&] {
    write_call<Run, Plain<Function>, PlainArgument<A>...>(outgoing.payload(), {record, job.rank_me},
                                                          plain, arguments...);
    outgoing.send(execution_token<Run>(), record, place);
    record->source_is_over();
  });
}
/// The execution of a call without an answer.
template <class Function, class... A>
struct SilentCall {
  static_assert(CallRequirements<Function, PlainArgument<A>...>::are_met, "");
  using type = Execution<false, Plain<Function>, PlainArgument<A>...>;
};
template <class Function, class... A>
using SilentExecution = typename SilentCall<Function, A...>::type;

template <class... Action, class Function, class... A>
auto call_ff(Begin begin, intrank_t target, const completions<Action...>& how, Function&& function,
             const A&... arguments) {
  static_assert(!has_event<Event::operation, Action...> && !has_event<Event::remote, Action...>,
                "an rpc_ff has a completion of the source only");
  const Plain<Function>& plain = function;
  using Run = SilentExecution<Function, A...>;
  Outgoing outgoing(target, measure(plain, Travels<PlainArgument<A>>::departs(arguments)...),
                    begin);
  if (outgoing.is_refused()) throw_network_busy();
  write_call<Run, Plain<Function>, PlainArgument<A>...>(outgoing.payload(), {}, plain,
                                                        arguments...);
  outgoing.send(execution_token<Run>());
  return completed_now(target, how);
}

/// A call that is sent later. Its arguments are those of now.
class KeptCall {
 public:
  template <class Function, class... A>
  static KeptCall make(intrank_t target, const Function& function, const A&... arguments) {
    using Run = SilentExecution<Function, A...>;
    KeptCall made(target, execution_token<Run>(),
                  measure(function, Travels<PlainArgument<A>>::departs(arguments)...));
    write_call<Run, Function, PlainArgument<A>...>(made.payload_[0].bytes, {}, function,
                                                   arguments...);
    return made;
  }
  void send() {
    Outgoing outgoing(target_, bytes_);
    std::memcpy(outgoing.payload(), payload_[0].bytes, bytes_);
    outgoing.send(token_);
  }

 private:
  struct alignas(16) Unit {
    unsigned char bytes[16];
  };
  KeptCall(intrank_t target, std::uint64_t token, std::size_t bytes)
      : target_(target),
        token_(token),
        bytes_(bytes),
        payload_(new Unit[bytes / sizeof(Unit) + 1]) {}

  intrank_t target_;
  std::uint64_t token_;
  std::size_t bytes_;
  std::unique_ptr<Unit[]> payload_;
};

/// Sends a call when an operation has arrived at its target.
template <class Function, class... A>
struct AsRpc {
  static constexpr Event event = Event::remote;
  Function function;
  std::tuple<A...> arguments;

  template <class... V>
  class Notice {
   public:
    Notice(const AsRpc& action, intrank_t target)
        : call_(std::apply(
              [&](const A&... argument) {
                return KeptCall::make(target, action.function, argument...);
              },
              action.arguments)) {}
    std::tuple<> future() { return {}; }
    void later() { call_.send(); }
    static std::tuple<> now(const AsRpc& action, intrank_t target) {
      std::apply(
          [&](const A&... argument) {
            call_ff(Begin::always, target, completions<>(), action.function, argument...);
          },
          action.arguments);
      return {};
    }

   private:
    KeptCall call_;
  };
};

}  // namespace detail

/// The arrival of an operation at its target.
struct remote_cx {
  /// Calls the function there.
  template <class Function, class... A>
  static auto as_rpc(Function&& function, A&&... arguments) {
    // Decayed they would be sent as pointers.
    static_cast<void>(detail::NoArrays<std::remove_reference_t<A>...>());
    using Action = detail::AsRpc<std::decay_t<Function>, detail::Kept<std::decay_t<A>>...>;
    return completions<Action>{
        Action{std::forward<Function>(function),
               std::tuple<detail::Kept<std::decay_t<A>>...>(std::forward<A>(arguments)...)}};
  }
};

namespace detail {

// `first` are completions or the function.
template <class First, class... More>
auto rpc_by(Begin begin, intrank_t target, Place place, const First& first, const More&... more) {
  if constexpr (is_completions<First>) {
    return call(begin, target, place, first, more...);
  } else {
    return call(begin, target, place, operation_cx::as_future(), first, more...);
  }
}
template <class First, class... More>
auto rpc_ff_by(Begin begin, intrank_t target, const First& first, const More&... more) {
  if constexpr (is_completions<First>) {
    return call_ff(begin, target, first, more...);
  } else {
    return call_ff(begin, target, completions<>(), first, more...);
  }
}

}  // namespace detail

/// Calls a function on another rank; the future has what it returns, or what the future that it
/// returns will have.
template <class First, class... More>
auto rpc(detail::Target target, First&& first, More&&... more) {
  return detail::rpc_by(detail::Begin::always, detail::rank_of(target), detail::place_of(target),
                        first, more...);
}
template <class First, class... More>
auto rpc(const team& of, detail::Target target, First&& first, More&&... more) {
  return detail::rpc_by(detail::Begin::always, of[detail::rank_of(target)],
                        detail::place_of(target), first, more...);
}

/// The like without an answer.
template <class First, class... More>
auto rpc_ff(intrank_t target, First&& first, More&&... more) {
  return detail::rpc_ff_by(detail::Begin::always, target, first, more...);
}
template <class First, class... More>
auto rpc_ff(const team& of, intrank_t target, First&& first, More&&... more) {
  return rpc_ff(of[target], std::forward<First>(first), std::forward<More>(more)...);
}

namespace experimental {

/// The like, where a call that would have to wait for room throws network_busy instead; nothing has
/// happened then.
template <class First, class... More>
auto rpc_immediate(upcxx::detail::Target target, First&& first, More&&... more) {
  return upcxx::detail::rpc_by(upcxx::detail::Begin::if_there_is_room,
                               upcxx::detail::rank_of(target), upcxx::detail::place_of(target),
                               first, more...);
}
template <class First, class... More>
auto rpc_immediate(const team& of, upcxx::detail::Target target, First&& first, More&&... more) {
  return upcxx::detail::rpc_by(upcxx::detail::Begin::if_there_is_room,
                               of[upcxx::detail::rank_of(target)], upcxx::detail::place_of(target),
                               first, more...);
}
template <class First, class... More>
auto rpc_ff_immediate(intrank_t target, First&& first, More&&... more) {
  return upcxx::detail::rpc_ff_by(upcxx::detail::Begin::if_there_is_room, target, first, more...);
}
template <class First, class... More>
auto rpc_ff_immediate(const team& of, intrank_t target, First&& first, More&&... more) {
  return rpc_ff_immediate(of[target], std::forward<First>(first), std::forward<More>(more)...);
}

/// Ready when there is room for a call with `bytes` of arguments: then(), wait() and co_await go on
/// with rpc_immediate, or with rpc.
inline future<> rpc_room(intrank_t target, std::size_t bytes = 0) {
  return upcxx::detail::when_there_is_room(target, bytes);
}

}  // namespace experimental
}  // namespace upcxx

#endif
