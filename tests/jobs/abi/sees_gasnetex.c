/* gasnetex.h alone shows all of the core, and what it carries over for clients that include nothing
 * else. */
#define GASNET_PAR /* empty, as some clients define it */
#include <gasnetex.h>

#if GASNET_PAR != 1
#error "GASNET_PAR is normalised to 1"
#endif
#if GASNET_PAGESIZE != 4096 || SIZEOF_GEX_RMA_VALUE_T != 8
#error "numbers that clients use in the preprocessor"
#endif
#if !defined(GASNET_CONFIG_STRING) || !defined(GASNET_CONDUIT_NAME) || \
    !defined(GASNET_CONDUIT_NAME_STR) || !defined(GASNET_CORE_NAME) || \
    !defined(GASNET_CORE_VERSION) || !defined(GASNET_MAXNODES) ||      \
    !defined(GASNET_ALIGNED_SEGMENTS) || !defined(GASNET_MAXEPS)
#error "configuration"
#endif
#if !GASNET_CONDUIT_SMP || !GASNET_SEGMENT_FAST || !GASNET_PSHM || !GASNET_NDEBUG
#error "configuration flags are 1"
#endif
#if GASNET_HIDDEN_AM_CONCURRENCY_LEVEL != 0 || GASNET_SUPPORTS_AM_CANCEL != 20240418L || \
    GASNET_SUPPORTS_AM_COMMIT_V2 != 20240906L
#error "features"
#endif
#if !GASNET_SUPPORTS_TI_SRCRANK || !GASNET_SUPPORTS_TI_EP || !GASNET_SUPPORTS_TI_ENTRY || \
    !GASNET_SUPPORTS_TI_IS_REQ || !GASNET_SUPPORTS_TI_IS_LONG
#error "token queries"
#endif
#if !defined(GASNET_BARRIERFLAG_ANONYMOUS) || !defined(GASNET_BARRIERFLAG_MISMATCH) || \
    !defined(GASNET_BARRIERFLAG_UNNAMED) || !defined(GASNET_WAIT_SPIN) ||              \
    !defined(GASNET_WAIT_BLOCK) || !defined(GASNET_WAIT_SPINBLOCK) ||                  \
    !defined(GASNET_BLOCKUNTIL) || !defined(GASNET_BEGIN_FUNCTION)
#error "GASNet-1's part"
#endif
#if !defined(if_pf) || !defined(if_pt) || !defined(_STRINGIFY) || !defined(_CONCAT) || \
    !defined(PRIuSZ) || !defined(PRIuPTR) || !defined(HAVE_PTHREAD_H) ||               \
    !defined(PLATFORM_COMPILER_IDSTR) || !defined(PLATFORM_ARCH_64)
#error "helpers and platform"
#endif
#if GASNETI_MAX_THREADS < 2 || !defined(GASNETI_HIWORD) || !defined(gasneti_mynode)
#error "names that clients use beyond the specifications"
#endif

typedef void (*any_function)(void);
#define HERE(function) (any_function) function
const any_function core[] = {HERE(gex_System_QueryJobRank),
                             HERE(gex_System_QueryJobSize),
                             HERE(gex_System_QueryMaxThreads),
                             HERE(gex_System_GetVerboseErrors),
                             HERE(gex_System_SetVerboseErrors),
                             HERE(gex_System_QueryNbrhdInfo),
                             HERE(gex_System_QueryHostInfo),
                             HERE(gex_System_QueryMyPosition),
                             HERE(gex_System_QueryHiddenAMConcurrencyLevel),
                             HERE(gex_System_QueryProgressThreads),
                             HERE(gex_Client_Init),
                             HERE(gex_Client_QueryFlags),
                             HERE(gex_Client_QueryName),
                             HERE(gex_Client_SetCData),
                             HERE(gex_Client_QueryCData),
                             HERE(gex_Segment_Attach),
                             HERE(gex_Segment_QueryAddr),
                             HERE(gex_Segment_QuerySize),
                             HERE(gex_Segment_QueryClient),
                             HERE(gex_Segment_QueryFlags),
                             HERE(gex_Segment_SetCData),
                             HERE(gex_Segment_QueryCData),
                             HERE(gex_Segment_QueryBound),
                             HERE(gex_EP_QueryBoundSegmentNB),
                             HERE(gex_EP_PublishBoundSegment),
                             HERE(gex_Segment_Create),
                             HERE(gex_Segment_Destroy),
                             HERE(gex_EP_Create),
                             HERE(gex_EP_BindSegment),
                             HERE(gex_EP_QueryClient),
                             HERE(gex_EP_QueryFlags),
                             HERE(gex_EP_QuerySegment),
                             HERE(gex_EP_QueryIndex),
                             HERE(gex_EP_SetCData),
                             HERE(gex_EP_QueryCData),
                             HERE(gex_EP_RegisterHandlers),
                             HERE(gex_TM_QueryClient),
                             HERE(gex_TM_QueryEP),
                             HERE(gex_TM_QueryFlags),
                             HERE(gex_TM_QueryRank),
                             HERE(gex_TM_QuerySize),
                             HERE(gex_TM_Split),
                             HERE(gex_TM_Create),
                             HERE(gex_TM_Destroy),
                             HERE(gex_TM_Pair),
                             HERE(gex_TM_TranslateRankToJobrank),
                             HERE(gex_TM_TranslateJobrankToRank),
                             HERE(gex_TM_TranslateRankToEP),
                             HERE(gex_TM_SetCData),
                             HERE(gex_TM_QueryCData),
                             HERE(gex_RMA_PutBlocking),
                             HERE(gex_RMA_PutNB),
                             HERE(gex_RMA_PutNBI),
                             HERE(gex_RMA_GetBlocking),
                             HERE(gex_RMA_GetNB),
                             HERE(gex_RMA_GetNBI),
                             HERE(gex_RMA_GetBlockingVal),
                             HERE(gex_RMA_PutBlockingVal),
                             HERE(gex_RMA_PutNBVal),
                             HERE(gex_RMA_PutNBIVal),
                             HERE(gex_NBI_BeginAccessRegion),
                             HERE(gex_NBI_EndAccessRegion),
                             HERE(gex_NBI_Test),
                             HERE(gex_NBI_Wait),
                             HERE(gex_Event_Test),
                             HERE(gex_Event_Wait),
                             HERE(gex_Event_TestSome),
                             HERE(gex_Event_WaitSome),
                             HERE(gex_Event_TestAll),
                             HERE(gex_Event_WaitAll),
                             HERE(gex_Event_QueryLeaf),
                             HERE(gex_HSL_Init),
                             HERE(gex_HSL_Destroy),
                             HERE(gex_HSL_Lock),
                             HERE(gex_HSL_Unlock),
                             HERE(gex_HSL_Trylock),
                             HERE(gex_Token_Info),
                             HERE(gex_AM_MaxArgs),
                             HERE(gex_AM_LUBRequestMedium),
                             HERE(gex_Coll_BarrierNB),
                             HERE(gex_Coll_BarrierBlocking)};
const any_function carried_over[] = {HERE(gasnet_AMPoll),
                                     HERE(gasnet_exit),
                                     HERE(gasnet_ErrorName),
                                     HERE(gasnet_ErrorDesc),
                                     HERE(gasnet_getMaxLocalSegmentSize),
                                     HERE(gasnet_getMaxGlobalSegmentSize),
                                     HERE(gasnet_barrier),
                                     HERE(gasnet_barrier_notify),
                                     HERE(gasnet_barrier_wait),
                                     HERE(gasnet_barrier_try),
                                     HERE(gasnet_barrier_result),
                                     HERE(gasnet_set_waitmode),
                                     HERE(gasnet_getenv),
                                     HERE(gasnet_getSegmentInfo),
                                     HERE(gasnet_getNodeInfo)};

gasnet_seginfo_t segment_information;
gasnet_nodeinfo_t node_information;
gasnet_threadinfo_t thread_information;
const char* configuration = GASNET_CONFIG_STRING " " GASNET_CONDUIT_NAME_STR;
void (**attach_hook)(void*, uintptr_t) = &gasnet_client_attach_hook;
const int errors[] = {GASNET_OK,          GASNET_ERR_NOT_INIT,  GASNET_ERR_RESOURCE,
                      GASNET_ERR_BAD_ARG, GASNET_ERR_NOT_READY, GASNET_ERR_BARRIER_MISMATCH};
