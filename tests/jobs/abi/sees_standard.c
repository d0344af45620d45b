/* What clients take from any GASNet header and never include themselves. Compiled once for
 * gasnetex.h and, with TOOLS_ALONE defined, for gasnet_tools.h without it. */
#ifdef TOOLS_ALONE
#define GASNETT_THREAD_SAFE 1
#include <gasnet_tools.h>
#else
#define GASNET_PAR 1
#include <gasnetex.h>
#endif

#if SIZEOF_INT != 4 || SIZEOF_LONG_LONG != 8 || SIZEOF_VOID_P != SIZEOF_SIZE_T ||         \
    SIZEOF_VOID_P != SIZEOF_PTRDIFF_T || SIZEOF_LONG < SIZEOF_INT || SIZEOF_SHORT != 2 || \
    SIZEOF_CHAR != 1 || INT_MAX < 0x7fffffff || MIN(3, 4) != 3 || MAX(3, 4) != 4
#error "numbers that clients use in the preprocessor"
#endif

pthread_t a_thread;
extern int uses_of_standard_headers(int argument, ...);
int uses_of_standard_headers(int argument, ...) {
  char text[64];
  va_list arguments;
  int sum;
  void* block = malloc(3);
  void* on_stack = alloca(8);
  va_start(arguments, argument);
  sum = vsnprintf(text, sizeof text, "%d %" PRId64, arguments);
  va_end(arguments);
  if (argument > 9) {
    fprintf(stderr, "%s\n", strerror(errno));
    abort();
  }
  free(block);
  assert(on_stack != NULL);
  return sum + (on_stack != block) + isdigit(argument) + (getpid() > 0) + INT_MIN + SIGINT +
         MAXPATHLEN;
}
