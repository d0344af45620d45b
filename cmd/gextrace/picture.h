#pragma once
// The timeline as a picture (SVG), for documents: a lane for each thread of each rank, time to the
// right.

#include <string>
#include <vector>

#include "filter.h"
#include "match.h"
#include "read.h"
#include "spans.h"

namespace gextrace {

std::string draw(const Job& job, const std::vector<RankSpans>& spans, const Messages& messages,
                 const Filter& filter);

}  // namespace gextrace
