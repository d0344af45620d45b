// Calls of GASNet-1 that the checking library must refuse, in one line that names the call and the
// argument: misuse_gasnet1 CASE. A case that comes through exits with status 0.

#include <gasnet.h>

#include <cstdint>

#include "misuse.h"

namespace {

using namespace misuse;

char local[4096];

void in_no_interrupt_section(const std::function<void()>& call) {
  gasnet_hold_interrupts();
  call();
  gasnet_resume_interrupts();
}

const Cases& cases() {
  static const Cases table = {
      {"legacy_put_past_the_end", [] { gasnet_put(peer, peers + segment_bytes - 4, local, 8); }},
      {"legacy_get_past_the_end",
       [] { gasnet_wait_syncnb(gasnet_get_nb_bulk(local, peer, peers + segment_bytes, 1)); }},
      {"legacy_put_to_no_such_node", [] { gasnet_put_nbi(77, peers, local, 8); }},
      {"memset_past_the_end", [] { gasnet_memset(peer, peers + segment_bytes - 8, 0, 9); }},
      {"memset_of_no_such_node", [] { gasnet_wait_syncnb(gasnet_memset_nb(77, peers, 0, 9)); }},
      {"memset_in_a_handler", [] { in_handler([] { gasnet_memset_nbi(peer, peers, 0, 1); }); }},
      {"legacy_value_of_nine_bytes",
       [] {
         // Not a constant that a compiler would warn about.
         const volatile std::size_t bytes = 9;
         gasnet_put_val(peer, peers, 1, bytes);
       }},
      {"value_get_of_no_bytes",
       [] { gasnet_wait_syncnb_valget(gasnet_get_nb_val(peer, peers, 0)); }},
      {"value_get_past_the_end",
       [] { gasnet_wait_syncnb_valget(gasnet_get_nb_val(peer, peers + segment_bytes - 1, 2)); }},
      {"value_get_of_no_such_node",
       [] { gasnet_wait_syncnb_valget(gasnet_get_nb_val(77, peers, 1)); }},
      {"value_get_twice",
       [] {
         const gasnet_valget_handle_t handle = gasnet_get_nb_val(peer, peers, 8);
         gasnet_wait_syncnb_valget(handle);
         gasnet_wait_syncnb_valget(handle);
       }},
      {"value_get_of_null", [] { gasnet_wait_syncnb_valget(nullptr); }},

      {"legacy_reply_twice",
       [] {
         in_request_handler([](gasnet_token_t token) {
           gasnet_AMReplyShort0(token, 202);
           gasnet_AMReplyShort0(token, 202);
         });
       }},
      {"legacy_reply_above_the_limit",
       [] {
         in_request_handler([](gasnet_token_t token) {
           gasnet_AMReplyMedium0(token, 200, own, std::size_t{1} << 30);
         });
       }},

      {"try_of_a_null_array", [] { gasnet_try_syncnb_all(nullptr, 3); }},
      {"try_some_of_a_null_array", [] { gasnet_try_syncnb_some(nullptr, 1); }},
      {"try_of_no_op", [] { gasnet_try_syncnb(GEX_EVENT_NO_OP); }},
      {"try_in_a_handler",
       [] {
         in_handler([] {
           gasnet_handle_t none = GASNET_INVALID_HANDLE;
           gasnet_try_syncnb_all(&none, 1);
         });
       }},
      {"try_implicit_in_a_handler", [] { in_handler([] { gasnet_try_syncnbi_puts(); }); }},
      {"handle_synchronised_twice",
       [] {
         const gasnet_handle_t handle = gasnet_put_nb(peer, peers, local, 8);
         gasnet_wait_syncnb(handle);
         gasnet_wait_syncnb(handle);
       }},
      {"implicit_wait_in_a_region",
       [] {
         gasnet_begin_nbi_accessregion();
         gasnet_wait_syncnbi_all();
       }},
      {"implicit_try_in_a_region",
       [] {
         gasnet_begin_nbi_accessregion();
         gasnet_try_syncnbi_gets();
       }},
      {"legacy_region_in_a_region",
       [] {
         gasnet_begin_nbi_accessregion();
         gasnet_begin_nbi_accessregion();
       }},

      {"hold_twice", [] { in_no_interrupt_section(gasnet_hold_interrupts); }},
      {"resume_without_hold", [] { gasnet_resume_interrupts(); }},
      {"legacy_lock_destroyed_held",
       [] {
         static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
         gasnet_hsl_lock(&lock);
         gasnet_hsl_destroy(&lock);
       }},
      {"put_in_a_no_interrupt_section",
       [] { in_no_interrupt_section([] { gasnet_put(peer, peers, local, 8); }); }},
      {"poll_in_a_no_interrupt_section", [] { in_no_interrupt_section([] { gasnet_AMPoll(); }); }},
      {"request_in_a_no_interrupt_section",
       [] { in_no_interrupt_section([] { gasnet_AMRequestMedium1(peer, 200, local, 8, 1); }); }},
      {"allowed_in_a_no_interrupt_section",
       [] {
         in_no_interrupt_section([] {
           static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
           gasnet_hsl_lock(&lock);
           gasnet_hold_interrupts();
           gasnet_resume_interrupts();
           gasnet_hsl_unlock(&lock);
           gasnet_QueryGexObjects(&client, &endpoint, &team, &segment);
           if (gasnet_mynode() >= gasnet_nodes()) gasnet_exit(95);
         });
       }},

      {"legacy_request_in_a_handler",
       [] { in_handler([] { gasnet_AMRequestShort0(peer, 200); }); }},
      {"legacy_request_to_a_low_index", [] { gasnet_AMRequestShort0(peer, 5); }},
      {"legacy_request_to_no_such_node", [] { gasnet_AMRequestLong0(77, 200, local, 8, peers); }},
      {"legacy_medium_above_the_limit",
       [] { gasnet_AMRequestMedium0(peer, 200, local, gasnet_AMMaxMedium() + 1); }},
      {"legacy_strides_past_the_end",
       [] {
         const std::size_t count[] = {8, 3};
         const std::size_t strides[] = {segment_bytes / 2};
         const std::size_t dense[] = {8};
         gasnet_puts_bulk(peer, peers, strides, local, dense, count, 1);
       }},
      {"legacy_vector_of_mismatched_totals",
       [] {
         const gasnet_memvec_t to[] = {{local, 16}};
         const gasnet_memvec_t from[] = {{peers, 12}, {peers + 64, 12}};
         gasnet_getv_bulk(1, to, peer, 2, from);
       }},
  };
  return table;
}

void on_nothing(gasnet_token_t) {
}

void attach(gasnet_handlerentry_t* table, int entries, std::uintptr_t bytes,
            std::uintptr_t heap_offset = 0) {
  gasnet_attach(table, entries, bytes, heap_offset);
}

/// Misuse in the start itself: each case begins before gasnet_init.
const Cases& start_cases() {
  static int no_arguments = 0;
  static char** arguments = nullptr;
  const auto init = [] { gasnet_init(&no_arguments, &arguments); };
  static const Cases table = {
      {"attach_before_init", [] { attach(nullptr, 0, GASNET_PAGESIZE); }},
      {"init_twice",
       [init] {
         init();
         init();
       }},
      {"legacy_attach_twice",
       [init] {
         init();
         attach(nullptr, 0, GASNET_PAGESIZE);
         attach(nullptr, 0, GASNET_PAGESIZE);
       }},
      {"attach_of_an_odd_size",
       [init] {
         init();
         attach(nullptr, 0, gasnet_mynode() == 0 ? GASNET_PAGESIZE : 100);
       }},
      {"attach_of_too_much",
       [init] {
         init();
         attach(nullptr, 0, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE);
       }},
      {"attach_of_a_null_table",
       [init] {
         init();
         attach(nullptr, 3, GASNET_PAGESIZE);
       }},
      {"attach_of_an_index_twice",
       [init] {
         gasnet_handlerentry_t same[] = {{200, reinterpret_cast<void (*)()>(on_nothing)},
                                         {200, reinterpret_cast<void (*)()>(on_nothing)}};
         init();
         attach(same, 2, GASNET_PAGESIZE);
       }},
      {"attach_of_differing_heap_offsets",
       [init] {
         init();
         attach(nullptr, 0, GASNET_PAGESIZE, gasnet_mynode() * GASNET_PAGESIZE);
       }},
      {"put_before_attach",
       [init] {
         init();
         gasnet_put(0, nullptr, local, 8);
       }},
      {"poll_before_attach",
       [init] {
         init();
         gasnet_AMPoll();
       }},
      {"barrier_before_attach",
       [init] {
         init();
         gasnet_barrier_notify(0, 0);
       }},
      {"request_before_attach",
       [init] {
         init();
         gasnet_AMRequestShort0(0, 200);
       }},
      {"objects_without_gasnet1",
       [] {
         gex_Client_Init(&client, &endpoint, &team, "MISUSE", nullptr, nullptr, 0);
         gasnet_QueryGexObjects(&client, nullptr, nullptr, nullptr);
       }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  const auto start = start_cases().find(argc > 1 ? argv[1] : "");
  if (start == start_cases().end()) {
    client_flags = GEX_FLAG_USES_GASNET1;
    return run(argc, argv, "misuse_gasnet1", cases());
  }
  start->second();
  return 0;
}
