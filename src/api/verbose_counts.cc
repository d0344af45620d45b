#include "api/verbose_counts.h"

#include "base/error.h"
#include "coll/wire.h"
#include "core/process.h"
#include "team/barrier.h"
#include "team/exchange.h"
#include "way/network_report.h"

namespace gex {

void report_counts_at_exit() noexcept {
  report_with_network([]() noexcept {
    const job::StartCounts start = process().job->start_counts();
    inform(
        "start: %llu exchanges, for which it sent the launcher %llu messages of %llu bytes in all, "
        "and received %llu of %llu",
        static_cast<unsigned long long>(start.exchanges),
        static_cast<unsigned long long>(start.sent),
        static_cast<unsigned long long>(start.sent_bytes),
        static_cast<unsigned long long>(start.received),
        static_cast<unsigned long long>(start.received_bytes));
    const team::ExchangeCounts exchanges = team::exchange_counts();
    inform(
        "teams: %llu exchanges, for which it sent %llu messages of %llu bytes in all; barriers: "
        "%llu messages",
        static_cast<unsigned long long>(exchanges.exchanges),
        static_cast<unsigned long long>(exchanges.messages),
        static_cast<unsigned long long>(exchanges.bytes),
        static_cast<unsigned long long>(team::barrier_messages()));
    const coll::MessageCounts sent = coll::message_counts();
    inform("collectives: sent %llu messages with %llu bytes",
           static_cast<unsigned long long>(sent.messages),
           static_cast<unsigned long long>(sent.bytes));
  });
}

}  // namespace gex
