/* gasnet_mk.h: memory kinds. Spec: docs/memory_kinds.md of the GASNet-EX documents.
 *
 * The interface is declared whole. This release of libgex does not define its functions yet: a
 * program that calls one does not link, and the linker names it. Host memory (GEX_MK_HOST) needs
 * none of them.
 */
#ifndef _INCLUDED_GASNET_MK_H
#define _INCLUDED_GASNET_MK_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

typedef struct {
  uint64_t gex_flags; /* 0 */
  gex_MK_Class_t gex_class;
  union {
    struct {
      int gex_CUdevice;
    } gex_class_cuda_uva;
    struct {
      int gex_hipDevice;
    } gex_class_hip;
    struct {
      void* gex_zeDevice;
      void* gex_zeContext;
      uint32_t gex_zeMemoryOrdinal;
    } gex_class_ze;
  } gex_args;
} gex_MK_Create_args_t;

/** Makes a kind for one device. Flags: 0. */
GEX_EXPORT_ int gex_MK_Create(gex_MK_t* memkind_p, gex_Client_t client,
                              const gex_MK_Create_args_t* args, gex_Flags_t flags);
GEX_EXPORT_ void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
