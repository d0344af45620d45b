/* A program that uses the tools and joins no job. */
#include <gasnet_tools.h>
#include <stdio.h>

int main(void) {
  gasnett_tick_t begin = gasnett_ticks_now();
  gasnett_nsleep(1000);
  printf("tools %s\n", gasnett_ticks_to_ns(gasnett_ticks_now() - begin) >= 900 ? "right" : "wrong");
  return 0;
}
