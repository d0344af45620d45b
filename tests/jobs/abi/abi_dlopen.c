/* A program without any part of libgex, which opens a client of it: abi_dlopen LIBRARY. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  void* library;
  void* symbol;
  int (*run)(int*, char***);
  if (argc < 2 || (library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) == NULL) {
    fprintf(stderr, "abi_dlopen: %s\n", argc < 2 ? "no library given" : dlerror());
    return 1;
  }
  symbol = dlsym(library, "abi_client_run");
  if (symbol == NULL) {
    fprintf(stderr, "abi_dlopen: %s\n", dlerror());
    return 1;
  }
  memcpy(&run, &symbol, sizeof run);
  return run(&argc, &argv);
}
