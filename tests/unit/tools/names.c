/* Uses every name of gasnet_tools.h as clients do. Compiled as C and as C++ in every mode, and run:
 * beside compiling, what can be had without effort is checked.
 *
 * With TOOLS_AFTER_GASNETEX defined gasnetex.h comes first, with its mode. */
#ifdef TOOLS_AFTER_GASNETEX
#include <gasnetex.h>
#endif
#include <gasnet_tools.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if !defined(_INCLUDED_GASNET_TOOLS_H)
#error "gasnet_tools.h has another guard"
#endif
#if defined(GASNETT_THREAD_SAFE) == defined(GASNETT_THREAD_SINGLE)
#error "the mode is not settled"
#endif
#if defined(GASNETT_USING_GENERIC_ATOMICOPS) || defined(GASNETT_USING_GETTIMEOFDAY) || \
    defined(GASNETT_STRONGATOMIC_NOT_SIGNALSAFE) ||                                    \
    defined(GASNETT_STRONGATOMIC32_NOT_SIGNALSAFE) ||                                  \
    defined(GASNETT_STRONGATOMIC64_NOT_SIGNALSAFE)
#error "a guard is defined by which the tools fall back on something"
#endif
#if !GASNETT_HAVE_ATOMIC_CAS || !GASNETT_HAVE_ATOMIC_ADD_SUB || !GASNETT_HAVE_STRONGATOMIC_CAS || \
    !GASNETT_HAVE_STRONGATOMIC_ADD_SUB || !GASNETT_SET_AFFINITY_SUPPORT ||                        \
    !GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC || !HAVE_PTHREAD_H
#error "a feature is missing"
#endif
#if GASNETT_PAGESIZE != (1 << GASNETT_PAGESHIFT) || GASNETT_CACHE_LINE_BYTES < 16 || \
    GASNETT_MAX_THREADS < 1
#error "a size is wrong, or not for the preprocessor"
#endif
#if GASNETT_RELEASE_VERSION_MAJOR < 2025 || GASNETT_RELEASE_VERSION_MINOR < 0 || \
    GASNETT_RELEASE_VERSION_PATCH < 0 || GASNETT_SPEC_VERSION_MAJOR != 1 ||      \
    GASNETT_SPEC_VERSION_MINOR < 17
#error "a version is wrong"
#endif
#if GASNETT_ATOMIC_SIGNED_MIN >= 0 || GASNETT_ATOMIC_SIGNED_MAX <= 0 || \
    GASNETT_ATOMIC_MAX <= GASNETT_ATOMIC_SIGNED_MAX || GASNETT_STRONGATOMIC_MAX == 0
#error "a range is wrong"
#endif

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, fprintf(stderr, "%d: %s\n", __LINE__, #condition)))

GASNETT_IDENT(tools_names_ident, "$ToolsNames: compiled $");

GASNETT_BEGIN_EXTERNC
GASNETT_THREADKEY_DECLARE(names_key);
GASNETT_THREADKEY_DEFINE(names_key);
GASNETT_END_EXTERNC
GASNETT_EXTERNC int names_external;
int names_external = 7;

GASNETT_INLINE(inlined)
int inlined(int x) {
  return x + 1;
}

GASNETT_NEVER_INLINE(outlined, static int outlined(int x, int y)) {
  return x + y;
}

GASNETT_FORMAT_PRINTF(print, 1, 2, static int print(const char* format, ...)) {
  return (int)strlen(format);
}
GASNETT_FORMAT_PRINTF_FUNCPTR(printer, 1, 2, static int (*printer)(const char*, ...)) = &print;

void stop(int code) GASNETT_NORETURN;
GASNETT_NORETURNP(stop)
void stop(int code) {
  gasnett_killmyprocess(code);
}

GASNETT_MALLOC
char* fresh(void);
GASNETT_MALLOCP(fresh)
char* fresh(void) {
  return (char*)malloc(1);
}

GASNETT_PURE
int pure(const int* x);
GASNETT_PUREP(pure)
int pure(const int* x) {
  return *x;
}

GASNETT_CONST
int constant(int x);
GASNETT_CONSTP(constant)
int constant(int x) {
  return x;
}

GASNETT_HOT
int hot(int x);
int hot(int x) {
  return x;
}

GASNETT_COLD
int cold(int x);
int cold(int x) {
  return x;
}

GASNETT_DEPRECATED
int old(void);
int old(void) {
  return 1;
}

GASNETT_WARN_UNUSED_RESULT
int important(void);
int important(void) {
  return 1;
}

GASNETT_USED
static int kept(void) {
  return 1;
}

static void copy_one(int* GASNETT_RESTRICT to, const int* GASNETT_RESTRICT from) {
  *to = *from;
}

static int compiler(int n) {
  int sum = 0;
  int one = 1;
  int copy = 0;
  int* where = &copy;
  switch (n) {
    case 1:
      sum += 1;
      GASNETT_FALLTHROUGH
    case 2:
      sum += 2;
      break;
    default:
      gasnett_unreachable();
  }
  gasnett_assume(sum > 0);
  if_pt(one) copy_one(&copy, &sum);
  if_pf(!one) gasneti_builtin_unreachable();
  CHECK(GASNETT_PREDICT_TRUE(sum == 3) && !GASNETT_PREDICT_FALSE(sum == 4));
  CHECK(GASNETT_PREDICT_TRUE(where) == 1 && copy == 3);
  CHECK(gasnett_constant_p(3));
  CHECK(strcmp(GASNETT_CURRENT_FUNCTION, "compiler") == 0);
  GASNETT_UNUSED_ARGS1(n);
  GASNETT_UNUSED_ARGS2(n, n);
  GASNETT_UNUSED_ARGS3(n, n, n);
  GASNETT_UNUSED_ARGS4(n, n, n, n);
  GASNETT_UNUSED_ARGS5(n, n, n, n, n);
  GASNETT_UNUSED_ARGS6(n, n, n, n, n, n);
  GASNETT_UNUSED_ARGS7(n, n, n, n, n, n, n);
  n = (GASNETT_UNUSED_ARGS8(one++, one++, one++, one++, one++, one++, one++, one++), one);
  CHECK(n == 9);
  gasnett_spinloop_hint();
  gasnett_compiler_fence();
  return sum;
}

static void annotations(void) {
  char* memory = fresh();
  CHECK(memory != 0);
  free(memory);
  CHECK(inlined(1) == 2 && outlined(1, 2) == 3 && kept() == 1 && important() == 1);
  CHECK(pure(&names_external) == 7 && constant(1) == 1 && hot(1) == 1 && cold(1) == 1);
  CHECK(print("%d", 1) == 2 && printer("%s", "") == 2);
  CHECK(compiler(1) == 3);
  CHECK(strcmp(tools_names_ident, "$ToolsNames: compiled $") == 0);
}

static void atomics(void) {
  static gasnett_atomic_t a = gasnett_atomic_init(5);
  static gasnett_atomic32_t b = gasnett_atomic32_init(5);
  static gasnett_atomic64_t c = gasnett_atomic64_init(5);
  static gasnett_strongatomic_t d = gasnett_strongatomic_init(5);
  static gasnett_strongatomic32_t e = gasnett_strongatomic32_init(5);
  static gasnett_strongatomic64_t f = gasnett_strongatomic64_init(5);
  gasnett_atomic_val_t v = GASNETT_ATOMIC_MAX;
  gasnett_atomic_sval_t s = gasnett_atomic_signed(v);
  gasnett_strongatomic_val_t sv = GASNETT_STRONGATOMIC_MAX;
  gasnett_strongatomic_sval_t ss = gasnett_strongatomic_signed(sv);
  const int flags[] = {GASNETT_ATOMIC_NONE,
                       GASNETT_ATOMIC_RMB_PRE,
                       GASNETT_ATOMIC_WMB_PRE,
                       GASNETT_ATOMIC_MB_PRE,
                       GASNETT_ATOMIC_RMB_POST,
                       GASNETT_ATOMIC_WMB_POST,
                       GASNETT_ATOMIC_MB_POST,
                       GASNETT_ATOMIC_RMB_POST_IF_TRUE,
                       GASNETT_ATOMIC_RMB_POST_IF_FALSE,
                       GASNETT_ATOMIC_REL,
                       GASNETT_ATOMIC_ACQ,
                       GASNETT_ATOMIC_ACQ_IF_TRUE,
                       GASNETT_ATOMIC_ACQ_IF_FALSE};
  size_t i;
  CHECK(s == -1 && ss == -1 && sv == v);
  CHECK(GASNETT_STRONGATOMIC_SIGNED_MIN == GASNETT_ATOMIC_SIGNED_MIN &&
        GASNETT_STRONGATOMIC_SIGNED_MAX == GASNETT_ATOMIC_SIGNED_MAX);
  CHECK(sizeof a == 4 && sizeof b == 4 && sizeof c == 8 && sizeof d == 4 && sizeof e == 4 &&
        sizeof f == 8);
#define OPERATIONS(name, object, fl)                                                             \
  do {                                                                                           \
    gasnett_##name##_set(&object, 1, fl);                                                        \
    CHECK(gasnett_##name##_read(&object, fl) == 1);                                              \
    gasnett_##name##_increment(&object, fl);                                                     \
    gasnett_##name##_decrement(&object, fl);                                                     \
    CHECK(gasnett_##name##_decrement_and_test(&object, fl));                                     \
    CHECK(gasnett_##name##_add(&object, 5, fl) == 5);                                            \
    CHECK(gasnett_##name##_subtract(&object, 2, fl) == 3);                                       \
    CHECK(!gasnett_##name##_compare_and_swap(&object, 4, 7, fl));                                \
    CHECK(gasnett_##name##_compare_and_swap(&object, 3, 7, fl));                                 \
    CHECK(gasnett_##name##_swap(&object, 9, fl) == 7 && gasnett_##name##_read(&object, 0) == 9); \
  } while (0)
  for (i = 0; i < sizeof flags / sizeof flags[0]; ++i) {
    OPERATIONS(atomic, a, flags[i]);
    OPERATIONS(atomic32, b, flags[i]);
    OPERATIONS(atomic64, c, flags[i]);
    OPERATIONS(strongatomic, d, flags[i]);
    OPERATIONS(strongatomic32, e, flags[i]);
    OPERATIONS(strongatomic64, f, flags[i]);
  }
  gasnett_local_mb();
  gasnett_local_rmb();
  gasnett_local_wmb();
  gasnett_weak_mb();
  gasnett_weak_rmb();
  gasnett_weak_wmb();
}

static void threads(void) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  static gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  static gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  int value = 0;
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_assertlocked(&mutex);
  gasnett_cond_signal(&condition);
  gasnett_cond_broadcast(&condition);
  if (value) gasnett_cond_wait(&condition, &mutex);
  gasnett_mutex_unlock(&mutex);
  gasnett_mutex_assertunlocked(&mutex);
  CHECK(gasnett_mutex_trylock(&mutex) == 0);
  gasnett_mutex_unlock(&mutex);
  gasnett_mutex_destroy(&mutex);
  gasnett_mutex_init(&mutex);
  CHECK(gasnett_mutex_destroy_ignoreerr(&mutex) == 0);
  gasnett_cond_destroy(&condition);
  gasnett_cond_init(&condition);
  gasnett_rwlock_rdlock(&lock);
  gasnett_rwlock_assertrdlocked(&lock);
  gasnett_rwlock_assertlocked(&lock);
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_wrlock(&lock);
  gasnett_rwlock_assertwrlocked(&lock);
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_assertunlocked(&lock);
  CHECK(gasnett_rwlock_tryrdlock(&lock) == 0);
  gasnett_rwlock_unlock(&lock);
  CHECK(gasnett_rwlock_trywrlock(&lock) == 0);
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_destroy(&lock);
  gasnett_rwlock_init(&lock);
  CHECK(gasnett_threadkey_get(names_key) == 0);
  gasnett_threadkey_set(names_key, &value);
  gasnett_threadkey_init(names_key);
  CHECK(gasnett_threadkey_get_noinit(names_key) == &value);
  gasnett_threadkey_set_noinit(names_key, 0);
  CHECK((void*)(uintptr_t)&_gasneti_threadkey_init != 0);
  gasnett_sched_yield();
}

static void timers(void) {
  gasnett_tick_t begin = gasnett_ticks_now();
  CHECK(begin > GASNETT_TICK_MIN && begin < GASNETT_TICK_MAX);
  CHECK(gasnett_nsleep(1000) == 0);
  CHECK(gasnett_ticks_to_ns(gasnett_ticks_now() - begin) >= 900);
  CHECK(gasnett_ticks_to_us(0) == 0);
  CHECK(gasnett_tick_granularityus() > 0 && gasnett_tick_overheadus() > 0);
  CHECK(gasnett_gettimeofday_us() > UINT64_C(1500000000000000));
}

static void environment(void) {
  char text[32];
  gasnett_setenv("TOOLS_NAMES", "1");
  CHECK(strcmp(gasnett_getenv("TOOLS_NAMES"), "1") == 0);
  CHECK(strcmp(gasnett_getenv_withdefault("TOOLS_NAMES", "2"), "1") == 0);
  CHECK(gasnett_getenv_yesno_withdefault("TOOLS_NAMES", 0) == 1);
  CHECK(gasnett_getenv_int_withdefault("TOOLS_NAMES", 0, 1024) == 1024);
  CHECK(gasnett_getenv_dbl_withdefault("TOOLS_NAMES", 0) > 0.5);
  gasnett_unsetenv("TOOLS_NAMES");
  CHECK(gasnett_getenv("TOOLS_NAMES") == 0);
  CHECK(gasnett_verboseenv() == 0);
  gasnett_envint_display("TOOLS_NAMES_I", 1, 1, 1);
  gasnett_envstr_display("TOOLS_NAMES_S", "", 1);
  gasnett_envdbl_display("TOOLS_NAMES_D", 1, 1);
  CHECK(strcmp(gasnett_format_number(2048, text, sizeof text, 1), "2 KB") == 0);
  CHECK(gasnett_parse_int("2 KB", 1) == 2048);
}

static void ignore_signal(int number) {
  (void)number;
}

static void errors(int never) {
  gasnett_sighandlerfn_t before = gasnett_reghandler(SIGUSR2, ignore_signal);
  gasnett_backtrace_type_t none = {0, 0, 0};
  volatile int flag = 0;
  char* here = gasnett_current_loc;
  CHECK(gasnett_reghandler(SIGUSR2, before) == ignore_signal);
  CHECK(strstr(here, "names") != 0);
  free(here);
  gasnett_backtrace_init(0);
  CHECK(none.fnp == gasnett_backtrace_user.fnp);
  CHECK(gasnett_print_backtrace_ifenabled != 0);
  gasnett_freezeForDebuggerErr();
  if (never) {
    gasnett_print_backtrace(2);
    gasnett_freezeForDebuggerNow(&flag, "flag");
    if (never == 2) gasnett_fatalerror("plain");
    if (never == 3) gasnett_fatalerror("%d", never);
    if (never == 4) gasnett_fatalerror_nopos("%d", never);
    stop(1);
  }
}

static void machine(int never) {
  CHECK(strlen(GASNETT_SYSTEM_TUPLE) > 0 && strstr(GASNETT_CONFIG_STRING, "RELEASE=") != 0);
  CHECK(strlen(gasnett_release_version_str()) > 0 && gasnett_release_version() >= 2025080000);
  CHECK(gasnett_performance_warning_str() != 0);
  CHECK(strlen(gasnett_gethostname()) > 0 && gasnett_cpu_count() > 0);
  CHECK(gasnett_getPhysMemSz(1) > 0 && gasnett_isLittleEndian() == PLATFORM_ARCH_LITTLE_ENDIAN);
  CHECK(gasnett_exe_name()[0] == '/');
  CHECK(gasnett_maximize_rlimit(RLIMIT_CPU, "RLIMIT_CPU"));
  gasnett_flush_streams();
  CHECK(gasnett_mmap(GASNETT_PAGESIZE) != (void*)-1);
  if (never) {
    gasnett_set_affinity(0);
    gasnett_maximize_rlimits();
    gasnett_close_streams();
  }
}

static void memory(void) {
  char buffer[16];
  gasnett_heapstats_t stats;
  char* object = (char*)gasnett_debug_malloc(8);
  object = (char*)gasnett_debug_realloc(object, 16);
  CHECK(gasnett_debug_memcheck(object) == 16);
  gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
  gasnett_debug_free(object);
  gasnett_debug_free(gasnett_debug_calloc(2, 4));
  gasnett_debug_free(gasnett_debug_strdup("text"));
  gasnett_debug_free(gasnett_debug_strndup("text", 2));
  CHECK(gasnett_getheapstats(&stats) == 0 && stats.live_objects == 0 &&
        stats.allocated_objects == stats.freed_objects && stats.overhead_bytes == 0);
  CHECK(stats.allocated_bytes == stats.freed_bytes && stats.live_bytes == 0 &&
        stats.live_bytes_max > 0 && stats.live_objects_max > 0);
  CHECK(gasnett_checksum("", 0) == 0);
  CHECK(gasnett_count0s("a\0b", 4) == 2);
  CHECK(gasnett_count0s_copy(buffer, "a\0b", 4) == 2 && buffer[2] == 'b');
  CHECK(gasnett_count0s_uint32_t(0) == 4 && gasnett_count0s_uint64_t(1) == 7);
  CHECK(gasnett_count0s_uintptr_t(0) == (int)sizeof(uintptr_t));
}

static void trace(void) {
  const char* file = "x";
  unsigned int line = 1;
  CHECK(!GASNETT_TRACE_ENABLED && !GASNETT_STATS_ENABLED);
  GASNETT_TRACE_PRINTF("%d", 1);
  GASNETT_TRACE_PRINTF_FORCE("plain");
  GASNETT_STATS_PRINTF("%d", 1);
  GASNETT_STATS_PRINTF_FORCE("plain");
  GASNETT_TRACE_DUMP(1);
  GASNETT_STATS_DUMP(1);
  GASNETT_TRACE_SETMASK("HU");
  GASNETT_STATS_SETMASK("G");
  CHECK(strcmp(GASNETT_TRACE_GETMASK(), "HU") == 0 && strcmp(GASNETT_STATS_GETMASK(), "G") == 0);
  GASNETT_TRACE_SETSOURCELINE(__FILE__, __LINE__);
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  CHECK(file == 0 && line == 0);
  GASNETT_TRACE_FREEZESOURCELINE();
  GASNETT_TRACE_UNFREEZESOURCELINE();
  GASNETT_TRACE_SET_TRACELOCAL(1);
  CHECK(GASNETT_TRACE_GET_TRACELOCAL() == 0);
  CHECK((void*)(uintptr_t)&_gasnett_trace_printf_noop != 0);
}

static void formats(void) {
  char buffer[512];
  void* addresses[1] = {0};
  const ptrdiff_t strides[1] = {8};
  const size_t counts[1] = {4};
  struct {
    void* address;
    size_t length;
  } region = {0, 4};
  CHECK(gasnett_format_dt(NULL, 1) <= sizeof buffer &&
        gasnett_format_dt(buffer, 1) == strlen(buffer) + 1);
  CHECK(gasnett_format_op(NULL, 1) <= sizeof buffer &&
        gasnett_format_op(buffer, 1) == strlen(buffer) + 1);
  CHECK(gasnett_format_ti(NULL, 1) <= sizeof buffer &&
        gasnett_format_ti(buffer, 1) == strlen(buffer) + 1);
  CHECK(gasnett_format_memveclist_bufsz(1) <= sizeof buffer &&
        gasnett_format_memveclist(buffer, 1, &region) == buffer);
  CHECK(gasnett_format_addrlist_bufsz(1) <= sizeof buffer &&
        gasnett_format_addrlist(buffer, 1, addresses, 8) == buffer);
  CHECK(gasnett_format_putsgets_bufsz(1) <= sizeof buffer &&
        gasnett_format_putsgets(buffer, 0, 0, 1, 0, strides, 0, strides, 8, counts, 1) == buffer);
}

static void diagnostics(int threads_allowed) {
  int count = -1;
  void* table = 0;
  gasnett_diagnostic_gethandlers(&table, &count);
  CHECK(count == 0 && table != 0);
  CHECK(gasnett_run_diagnostics(100, threads_allowed, "") == 0);
}

int main(int argc, char** argv) {
  const int never = argc > 1 ? atoi(argv[1]) : 0;
  annotations();
  atomics();
  threads();
  timers();
  environment();
  errors(never);
  machine(never);
  memory();
  trace();
  formats();
  diagnostics(2);
  return failures != 0;
}
