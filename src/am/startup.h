#pragma once
// Bringing active messages up.

namespace gex::am {

/// After the process has started; before the barrier that ends gex_Client_Init.
void start();

}  // namespace gex::am
