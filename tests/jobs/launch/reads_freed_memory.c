// A program in which valgrind is to find an error. Built without a sanitizer, under which it would
// not run, and without libgex.

#include <stdlib.h>

// Volatile: the compiler must not see that what is read was freed.
static int* volatile word;

int main(void) {
  word = malloc(sizeof *word);
  if (word == NULL) return 1;
  *word = 1;
  free(word);
  return *(volatile int*)word == 2;
}
