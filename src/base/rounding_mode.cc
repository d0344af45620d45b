// The two functions of the mathematics library that libstdc++'s from_chars calls. The archive holds
// them itself, because configure scripts link it without -lm.

#include <cfenv>

// from_chars sets the mode only to read a number the usual way in a client that rounds in another
// one; the last digit of a setting may differ there.
extern "C" {

int fegetround() noexcept {
  return FE_TONEAREST;
}

int fesetround(int) noexcept {
  return 0;
}

}  // extern "C"
