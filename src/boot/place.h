#pragma once
// The place in another launcher's job that the environment names, and who holds it.
//
// mpirun, mpiexec and srun tell a process by its environment which rank it is, and every program
// that the rank starts inherits those variables: it would take itself for the rank, and wait for
// the others in vain. A process that joins a job therefore leaves GEX_PLACE beside them: itself,
// and which place the environment named. Who finds another process there, and the same place, is a
// program started by a process that has joined, and a job of its own.
//
// A program that the holder itself executes is the holder still. Processes of a launcher that a
// rank starts have other places, whatever they inherit.
//
// One thread.

namespace gex::boot {

/// Whether a process that started this one has joined a job with the place that the environment
/// names.
bool is_place_of_ancestor();

/// Whether this is the first process of a launcher's job on this host that asks.
bool claim_long_wait();

/// This process joins a job: what it executes from here on is told so.
void mark_place();

}  // namespace gex::boot
