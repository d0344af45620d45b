/* gasnet_mk.h: memory kinds. Spec: docs/memory_kinds.md of the GASNet-EX documents.
 *
 * This release of libgex has host memory only, which GEX_MK_HOST names without any of this: none of
 * GASNET_HAVE_MK_CLASS_CUDA_UVA, _HIP and _ZE is defined, and gex_MK_Create refuses those kinds.
 */
#ifndef _INCLUDED_GASNET_MK_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_MK_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gex_MK_Class_t {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

typedef struct gex_MK_Create_args_t {
  uint64_t gex_flags; /* 0 */
  gex_MK_Class_t gex_class;
  union gex_MK_Class_args_ {
    struct gex_MK_CUDA_args_ {
      int gex_CUdevice;
    } gex_class_cuda_uva;
    struct gex_MK_HIP_args_ {
      int gex_hipDevice;
    } gex_class_hip;
    struct gex_MK_ZE_args_ {
      void* gex_zeDevice;
      void* gex_zeContext;
      uint32_t gex_zeMemoryOrdinal;
    } gex_class_ze;
  } gex_args;
} gex_MK_Create_args_t;

/** Makes a kind for one device; of GEX_MK_CLASS_HOST there is only GEX_MK_HOST. Not collective.
 * Flags: 0. GASNET_ERR_BAD_ARG for a wrong argument, and for a class that this library has no
 * memory of. Not in handlers. */
GEX_EXPORT_ int gex_MK_Create(gex_MK_t* memkind_p, gex_Client_t client,
                              const gex_MK_Create_args_t* args, gex_Flags_t flags);
/** Ends a kind that no segment has any more; GEX_MK_HOST stays. Flags: 0. Not in handlers. */
GEX_EXPORT_ void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
