#pragma once
// How each operation is carried out on a conduit: by the network itself, or by libgex with the
// conduit's messages.
//
// The one table of it, from which gexinfo prints. An operation that the `Conduit` interface comes
// to offer gets its answer here.

#include <gex/plugin/conduit.h>

#include <span>
#include <string>

namespace gex::net {

enum class Means {
  native,     ///< by the network; without one, by the processors in shared memory
  reference,  ///< by libgex, with the conduit's messages
  absent,     ///< not by the network: it needs nothing, or libgex does without
};

/// The word for it in documents: the enumerator's name.
const char* means_name(Means means) noexcept;

/// One row of the table.
struct NetworkOperation {
  const char* key;        ///< "put": for programs
  const char* name;       ///< "put": for people
  const char* reference;  ///< what libgex does where the network does not, or why that is nothing
  Means shared_memory;    ///< between the processes of a neighborhood, whatever the conduit
  /// `limits`: of a conduit that is attached; null: by its table alone.
  Means (*over)(const Conduit&, const Limits* limits) noexcept;
};

std::span<const NetworkOperation> operations() noexcept;

/// `conduit` null: smp. `limits`: of a conduit that is attached, which may lack in this job what
/// its table has.
Means means_of(const NetworkOperation& operation, const Conduit* conduit,
               const Limits* limits = nullptr) noexcept;

/// "put, get, atomics": those that are carried out in that way.
std::string list_operations(Means means, const Conduit* conduit, const Limits* limits);

}  // namespace gex::net
