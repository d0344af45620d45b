#pragma once
// gextrace predict: how long a recorded job would take on another machine.

namespace gextrace {

/// Reads the command line from the word "predict" on, and prints. The status to exit with.
int predict(int count, char** arguments);

}  // namespace gextrace
