#include "explanations.h"

#include <fnmatch.h>
#include <algorithm>
#include <stdexcept>

namespace gexperf {

namespace {

constexpr std::string_view par = ".par";

constexpr Explanation explained_rows[] = {
    {"limit.copy.8",
     "8 bytes copied inline through a table of displacements, each copy depending on the one "
     "before"},
    {"limit.copy.8.rate", "8 bytes copied inline through a table of displacements, at once"},
    {"limit.fetch.8", "8 bytes copied inline through a table of displacements, along a list"},
    {"limit.memcpy.1048576", "memcpy of 1 MiB into the other rank's segment"},
    {"limit.fadd.8", "the processor's locked add, through a table of displacements"},
    {"limit.line", "a cache line to the other core and one back"},
    {"limit.lines.2",
     "a cache line to the other core and one back, with 64 bytes in a second line each way"},
    {"limit.word", "one word written by both ranks in turn"},
    {"limit.memory.65536", "64 KiB written by one rank, read by the other, with a word each way"},
    {"limit.exchange", "both ranks write a word and wait for the other's"},
    {"limit.yield", "one sched_yield between two processes of one processor"},
    {"limit.spawn.2", "fork, exec and wait of two processes"},

    {"put.8.blocking",
     "puts to random words in the first-level cache, each depending on the one before",
     "limit.copy.8"},
    {"put.8.rate", "puts that do not depend on one another", "limit.copy.8.rate"},
    {"put.8.nbi", "implicit puts, a wait after 1024", "put.8.rate"},
    {"put.8.nb", "a put with an event, and a wait", "put.8.rate"},
    {"put.1048576", "a put of 1 MiB", "limit.memcpy.1048576"},
    {"get.8.blocking", "gets of 8 bytes along a linked list in the peer's segment",
     "limit.fetch.8"},

    {"atomic.fadd.8", "fetch-and-add on random words, constant opcode", "limit.fadd.8"},
    {"atomic.fadd.8.nbi", "implicit fetch-and-add on random words, a wait after 1024",
     "limit.fadd.8"},
    {"atomic.add.8", "an add that fetches nothing", "a locked add without result"},
    {"atomic.fadd.dbl", "fetch-and-add of a double", "a loop of compare-and-exchange"},
    {"atomic.fadd.8.variable_op", "fetch-and-add, variable opcode", "limit.fadd.8"},
    {"atomic.fadd.8.variable_op.nbi", "implicit fetch-and-add, variable opcode, a wait after 1024",
     "limit.fadd.8"},
    {"atomic.fadd.8.variable_op.wait", "fetch-and-add, variable opcode, a wait after each",
     "limit.fadd.8"},
    {"atomic.add.8.variable_op", "an add that fetches nothing, variable opcode",
     "a locked add without result"},
    {"atomic.fadd.same_word", "fetch-and-add on one word, by one rank", "the locked add likewise"},
    {"atomic.fadd.hot_spot", "fetch-and-add on one word, by both ranks at once",
     "the locked add likewise"},

    {"vis.strided.*",
     "64 KiB in elements of 8 bytes, one of four places at both ends, in 3, 8 or 32 "
     "dimensions that fold to one",
     "a loop"},

    {"am.short.rtt", "a short request without arguments, and its short reply", "limit.line"},
    {"am.short.flood", "short requests as fast as they are accepted"},
    {"am.short.flood.emu",
     "short requests as fast as they are accepted, with a network attached that is not used"},
    {"am.short.flood.par2", "short requests from two threads that share a processor",
     "the flood of one thread"},
    {"am.short.flood.both", "both ranks send and receive: a message each way"},
    {"am.short.flood.both.work", "short requests of both ranks, with a loop of 30 to 50 ns between",
     "the work alone"},
    {"am.short.flood.both.stores", "short requests of both ranks, with 80 stores between",
     "the work alone"},
    {"am.short.flood.both.self",
     "short requests of both ranks, with a message to oneself behind each",
     "one kind after the other"},
    {"am.short.self", "a short request to oneself"},
    {"am.medium.64.self", "a medium request of 64 bytes to oneself"},
    {"am.medium.8.rtt", "a medium request, and a reply that sends its bytes back", "limit.line"},
    {"am.medium.64.rtt", "a medium request, and a reply that sends its bytes back",
     "limit.lines.2"},
    {"am.np.65536", "64 KiB by Prepare and Commit, and a short reply", "limit.memory.65536"},

    {"barrier.2", "barriers of two ranks", "limit.exchange"},
    {"barrier.*", "barriers of 4 or 8 ranks on two processors", "limit.yield"},
    {"coll.broadcast.8", "broadcasts, each rank as the root in turn", "half of limit.line"},
    {"coll.reduce_to_all.8", "sums on both ranks", "limit.exchange"},
    {"poll.idle", "gasnet_AMPoll where nothing arrives"},
    {"event.nb", "an event, around a barrier of one rank"},
    {"am.immediate.failed", "a request with GEX_FLAG_IMMEDIATE to a rank without room"},

    {"emu.*.flood", "as fast as accepted, over emu with 1 us and 2 GB/s, or --model",
     "the model's time"},
    {"emu.*", "blocking, over emu with 1 us and 2 GB/s, or --model", "the model's time"},
    {"ofi.*.flood", "as fast as accepted, between ranks that share no memory",
     "libfabric's writes, 64 under way"},
    {"ofi.*", "blocking, between ranks that share no memory",
     "two messages of 8 bytes one way of fi_pingpong"},
    {"udp.put.8", "blocking, on the loopback", "two datagrams one way between bare sockets"},
    {"udp.am.short.rtt", "a round trip, on the loopback",
     "two datagrams one way between bare sockets"},
    {"udp.am.*.flood", "as fast as accepted, on the loopback"},
    {"udp.put.*.flood", "puts as fast as accepted, on the loopback",
     "as many bytes between bare sockets, cut and joined by the system"},
    {"udp.put.*.flood.header", "puts as fast as accepted with GEX_UDP_AUTHENTICATE=header",
     "as many bytes between bare sockets, cut and joined by the system"},
    {"udp.put.*.flood.1472",
     "puts as fast as accepted, in datagrams of 1472 bytes, neither cut nor joined",
     "such datagrams between bare sockets"},
    {"udp.put.*.flood.loss", "puts as fast as accepted with 5% of all datagrams lost",
     "as many without losses, in a job behind it"},
    {"udp.put.*.to_one.16", "puts of 16 ranks to one, until all are there", "2 ranks to one"},
    {"ucx.*.put.8", "blocking", "two one way of ucp_put_lat"},
    {"ucx.*.flood", "puts as fast as accepted", "ucp_put_bw, 32 under way"},
    {"ucx.*", "blocking", "two one way of ucp_am_lat"},
    {"mpi.*.flood.*", "as fast as accepted, over that MPI", "MPI_Isend, 64 under way"},
    {"mpi.*", "blocking, over that MPI", "16 bytes there and back by MPI_Send, MPI_Recv"},

    {"launch.2",
     "from the start of gexrun until rank 0 of two leaves gex_Segment_Attach; six launches a round",
     "limit.spawn.2"},
    {"scale.*.launch", "from the start of gexrun until rank 0 leaves gex_Segment_Attach",
     "as many processes that do nothing"},
    {"scale.*.memory", "rank 0's memory (Pss) behind gex_Segment_Attach"},

    {"threads.flood.scaling.*", "short requests from T threads to a rank with T that poll",
     "T times the rate of one thread, in a job behind it"},
    {"threads.flood.*", "short requests from T threads to a rank with T that poll",
     "a bare ring for each pair of threads"},
    {"threads.rtt.*", "each of T threads waits for replies to its own requests",
     "a cache line there and back for each pair"},
    {"threads.put.*", "8 bytes into words of its own, gex_RMA_PutNB and gex_Event_Wait",
     "copies through a table"},
    {"threads.fadd.*", "fetch-and-add on words of its own", "the locked add by T threads"},
    {"threads.mixed.*", "in turn a request, a put with an event, a fetch-and-add",
     "the sum of the three limits"},

    {"cores.barrier.*", "barriers",
     "the fastest of three barriers of flags: central, tree of four, dissemination"},
    {"cores.broadcast.8.*", "broadcasts of 8 bytes, each rank as the root in turn",
     "a line written by the root and read by all"},
    {"cores.broadcast.*.private.*",
     "broadcasts from rank 0, in memory that no other rank has mapped",
     "one copy by each receiver, all at once"},
    {"cores.broadcast.*", "broadcasts from rank 0, in segments",
     "one copy by each receiver, all at once"},
    {"cores.reduce_to_all.8.*", "sums of 8 bytes", "the barrier of flags"},
    {"cores.reduce_to_all.*.private.*", "sums, in memory that no other rank has mapped",
     "the faster of two: slices added and copied, or all added by each"},
    {"cores.reduce_to_all.*", "sums, in segments",
     "the faster of two: slices added and copied, or all added by each"},
    {"cores.to_one.*", "short requests of all ranks to rank 0", "bare rings"},
    {"cores.to_all.*", "short requests of each rank to each", "bare rings"},
    {"cores.hot_spot.*", "fetch-and-add on one word by all ranks; an operation is one by each",
     "the locked add by all ranks"},

    {"cuda.???.flood.*", "256 implicit transfers, then gex_NBI_Wait", "256 copies in one stream"},
    {"cuda.???.strided.*", "65,536 elements of 8 bytes, one of four places at both ends",
     "cuMemcpy2DAsync"},
    {"cuda.???.messages.*", "with GEX_CUDA_SHARE=off, as between hosts", "one copy, waited for"},
    {"cuda.put.host.host.*", "between host memory while there is a kind", "memcpy"},
    {"cuda.put.self.*", "a blocking transfer within one process", "one copy, waited for"},
    {"cuda.put.kernel.8",
     "without libgex: a kernel that stays on the device puts 8 bytes when host memory asks for it",
     "one copy, waited for"},
    {"cuda.first_put", "a segment of 64 MiB made, published, and the first put into it"},
    {"cuda.poll.idle", "gasnet_AMPoll while there is a kind",
     "gasnet_AMPoll without one, in a job behind it"},
    {"cuda.*", "a blocking transfer", "one copy, waited for"},
};

}  // namespace

std::span<const Explanation> explanations() {
  return explained_rows;
}

const Explanation& explanation_of(const Row& row) {
  std::string name(row.name);
  if (name.ends_with(par)) name.resize(name.size() - par.size());
  const auto* found = std::ranges::find_if(explained_rows, [&](const Explanation& each) {
    return fnmatch(each.rows, name.c_str(), 0) == 0;
  });
  if (found == std::end(explained_rows)) throw std::logic_error(name + " is not explained");
  return *found;
}

std::string explained(const Row& row) {
  const Explanation& explanation = explanation_of(row);
  std::string text(explanation.subject);
  if (row.name.ends_with(par)) text += ", in GASNET_PAR";
  if (!explanation.limit.empty()) text.append("; limit: ").append(explanation.limit);
  return text;
}

}  // namespace gexperf
