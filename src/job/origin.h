#pragma once

namespace gex::job {

/// How this process was started as a rank.
enum class Origin { singleton, forked, gexrun, foreign };

}  // namespace gex::job
