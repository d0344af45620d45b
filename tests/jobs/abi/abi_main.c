#include "abi_client.h"

int main(int argc, char** argv) {
  return abi_client_run(&argc, &argv);
}
