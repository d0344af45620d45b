#pragma once
// The timeline as a picture (SVG), for documents: a lane for each thread of each rank, time to the
// right.

#include <cstdio>
#include <memory>

#include "recording.h"

namespace gextrace {

/// Writes the picture to `file`, whose errors the caller looks for. All outlive it.
std::unique_ptr<Output> make_picture(std::FILE* file, const Outline& outline, const Filter& filter);

}  // namespace gextrace
