#include "presets.h"

namespace gexsim {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> rows = {
      // Slingshot. Keys of the client's, regions bound to endpoints, no read after write, order as
      // asked, small queues.
      {"cxi",
       "name=cxi,nic_name=cxi%,kinds=2,address=cxi,mr_mode=allocated|endpoint,mr_if_offered=prov_"
       "key,"
       "key_size=4,mr_refuses_null=1,inject=192,max_message=4294967295,tx_size=1024,iov=1,"
       "orders=sas|waw|rma_rar|rma_waw|atomic_rar|atomic_war|atomic_waw,reorder=6,visible_polls=3,"
       "delivery=kept,delivery_polls=4,cq_size=256,release=alone,recv_align=1,atomics=cxi,"
       "atomic_delivery=0,strict_tx_caps=1,eager=16K,eager_variable=FI_CXI_RDZV_THRESHOLD,"
       "fetched=256"},
      // The first adapter, by libfabric 1.15 of its vendor: delivery hangs, keys are the client's,
      // there
      // is one protocol.
      {"cxi-1",
       "name=cxi,nic_name=cxi%,address=cxi,mr_mode=allocated|endpoint,key_size=4,mr_refuses_null=1,"
       "inject=192,max_message=4294967295,iov=1,"
       "orders=sas|waw|rma_rar|rma_waw|atomic_rar|atomic_war|atomic_waw,reorder=6,visible_polls=3,"
       "delivery=never,cq_size=256,release=alone,atomics=cxi,atomic_delivery=0,eager=16K,"
       "eager_variable=FI_CXI_RDZV_THRESHOLD,fetched=256"},
      // InfiniBand and RoCE below libfabric's layer for connections.
      {"verbs;ofi_rxm",
       "name=verbs;ofi_rxm,nic_name=mlx5_%,address=sockaddr,mr_mode=virt_addr|allocated|prov_key,"
       "mr_if_offered=local,key_size=4,inject=192,tx_size=2048,"
       "orders=rar|raw|ras|waw|was|saw|sas|rma_rar|rma_raw|rma_waw,orders_as_asked=0,"
       "atomics_void_order=1,delivery=ignored,visible_polls=12,connect_polls=2,close_loses=1,"
       "cq_data=4,multi_recv=1,eager=16K,eager_variable=FI_OFI_RXM_BUFFER_SIZE,universe_cq=256"},
      // libfabric 2.7 with several connections for each peer, which keep no order of writes.
      {"verbs-2.7",
       "name=verbs;ofi_rxm,nic_name=mlx5_%,address=sockaddr,mr_mode=virt_addr|allocated|prov_key,"
       "mr_if_offered=local,key_size=4,inject=192,tx_size=2048,orders=sas,delivery=ignored,"
       "visible_polls=12,reorder=4,connect_polls=2,close_loses=1,cq_data=4,eager=16K,"
       "eager_variable=FI_OFI_RXM_BUFFER_SIZE,universe_cq=256"},
      // Elastic Fabric Adapter. Packets in any order, reads overtake writes.
      {"efa",
       "name=efa,nic_name=rdmap%s0-rdm,address=efa,mr_mode=virt_addr|allocated|prov_key,"
       "mr_if_offered=local,key_size=4,mr_microseconds_per_mib=80,inject=4K,tx_size=256,iov=2,"
       "orders=sas|atomic_rar|atomic_raw|atomic_war|atomic_waw,max_order=0,reorder=8,"
       "visible_polls=2,connect_polls=2,handshake_polls=2,fragment=8K,recv_align=1,cq_data=4,"
       "fork_aborts=1"},
      // Before 1.12 delivery was claimed and not kept.
      {"efa-1.11",
       "name=efa,nic_name=rdmap%s0-rdm,address=efa,mr_mode=virt_addr|allocated|prov_key|local,"
       "key_size=4,inject=4K,tx_size=256,iov=2,orders=sas,max_order=0,reorder=8,delivery=ignored,"
       "visible_polls=6,connect_polls=2,fragment=8K,cq_data=4,atomics=none"},
      // Omni-Path and Ethernet through PSM. Limits without a limit, patience with silent peers.
      {"psm3",
       "name=psm3,nic_name=psm3_%,kinds=3,address=psmx3,required_mode=context,inject=64,max_"
       "message=4G,tx_size=1024,"
       "tx_reported=max,orders=sas|rar|raw|war|waw|rma_rar|rma_raw|rma_war|rma_waw,"
       "orders_as_asked=0,max_order=4K,visible_polls=2,blocks_ms=2,connect_polls=1,connect_"
       "patience_ms=5000,iov=1,"
       "release=each,endpoints=64,identity=FI_PSM3_UUID,patience_variable=FI_PSM3_CONN_TIMEOUT"},
      {"psm2",
       "name=psm2,nic_name=hfi1_%,kinds=3,address=psmx2,required_mode=context,inject=64,max_"
       "message=4G,"
       "tx_size=1024,tx_reported=max,orders=sas|rar|raw|war|waw|rma_rar|rma_raw|rma_war|rma_waw,"
       "orders_as_asked=0,max_order=4K,visible_polls=2,blocks_ms=2,connect_polls=1,connect_"
       "patience_ms=5000,iov=1,"
       "release=each,endpoints=1,identity=FI_PSM2_UUID,patience_variable=FI_PSM2_CONN_TIMEOUT"},
      {"opx",
       "name=opx,nic_name=hfi1_%,address=opx,inject=16,max_message=max,tx_size=1024,"
       "tx_reported=max,rm=echo,orders=atomic_rar|atomic_raw|atomic_war|atomic_waw,reorder=4,"
       "visible_polls=2,iov=1,endpoints=160,identity=FI_OPX_UUID"},
      // The native reliable datagrams of libfabric 1.18's tcp.
      {"tcp",
       "name=tcp,nic_name=sim%,address=sockaddr,inject=128,max_message=max,tx_size=64K,rma_iov=4,"
       "orders=all,orders_as_asked=0,atomics=none,connect_polls=2,"
       "progress=either"},
      // InfiniBand and RoCE, whose endpoints have one peer each: below libfabric's own layer, of
      // which
      // the row above is a simulation.
      {"verbs",
       "name=verbs,nic_name=mlx5_%,connected=1,address=sockaddr6,"
       "mr_mode=local|virt_addr|allocated|prov_key,key_size=4,inject=256,tx_size=384,rx_size=384,"
       "orders=rar|raw|ras|waw|was|saw|sas|rma_rar|rma_raw|rma_waw,orders_as_asked=0,"
       "delivery=ignored,visible_polls=12,cq_data=4,cq_max=64K,multi_recv=0,atomics=none"},
      {"plain", "name=gexsim"},
  };
  return rows;
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : presets())
    if (preset.name == name) return &preset;
  return nullptr;
}

}  // namespace gexsim
