/* The one unit of a program that is compiled for a network by its name. */
#include <gasnetex.h>
