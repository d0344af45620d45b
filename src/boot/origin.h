#pragma once

namespace gex::boot {

/// How this process came to be a rank.
enum class Origin { singleton, forked, gexrun, foreign };

}  // namespace gex::boot
