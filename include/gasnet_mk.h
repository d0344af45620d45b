/** @file
 * Memory kinds.
 *
 * Host memory is #GEX_MK_HOST without any of this. Of devices, libgex has CUDA's
 * (#GASNET_HAVE_MK_CLASS_CUDA_UVA), whose driver gex_MK_Create opens; _HIP and _ZE are not defined,
 * and gex_MK_Create refuses those classes.
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

/** Classes of memory: of the host, and of devices through CUDA, HIP and Level Zero.
 * @see gex_MK_Create
 */
typedef enum gex_MK_Class_t {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

/** What gex_MK_Create makes a kind of: a class, and the device as that class names it.
 *
 * gex_args has a member for each class but the host's: gex_class_cuda_uva.gex_CUdevice,
 * gex_class_hip.gex_hipDevice, and gex_class_ze with gex_zeDevice, gex_zeContext and
 * gex_zeMemoryOrdinal.
 * @see gex_MK_Create
 */
typedef struct gex_MK_Create_args_t {
  uint64_t gex_flags;       /**< 0. */
  gex_MK_Class_t gex_class; /**< The class, which selects a member of gex_args. */
  /** The device. */
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

/** Makes a memory kind for one device.
 *
 * @param memkind_p  Receives the kind.
 * @param client     The client that will have segments of it.
 * @param args       Class and device. Read within the call.
 * @param flags      0.
 * @return GASNET_OK, also for #GEX_MK_CLASS_HOST, whose kind is #GEX_MK_HOST; GASNET_ERR_BAD_ARG
 * for a wrong argument, for a device that does not exist, and for a class that this library has no
 *         memory of; GASNET_ERR_RESOURCE where CUDA's driver is missing (gexinfo prints why).
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * gex_MK_Create_args_t args;
 * args.gex_flags = 0;
 * args.gex_class = GEX_MK_CLASS_CUDA_UVA;
 * args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
 * if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK) kind = GEX_MK_HOST;
 * @endcode
 * @par Specification
 * GASNet-EX, memory kinds: "gex_MK_Create".
 * @see gex_MK_Create_args_t, gex_Segment_Create, gex_MK_Destroy
 */
GEX_EXPORT_ int gex_MK_Create(gex_MK_t* memkind_p, gex_Client_t client,
                              const gex_MK_Create_args_t* args, gex_Flags_t flags);
/** Ends a memory kind.
 *
 * @param memkind  A kind that no segment has any more. #GEX_MK_HOST stays.
 * @param flags    0.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * gex_Segment_Destroy(segment, 0);
 * gex_MK_Destroy(kind, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, memory kinds: "gex_MK_Destroy".
 * @see gex_MK_Create
 */
GEX_EXPORT_ void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
