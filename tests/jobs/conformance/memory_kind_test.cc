// Memory kinds: that of the host, and the classes that are not there. Devices: tests/jobs/cuda.

#include <gasnet_mk.h>

#include "conformance.h"

namespace conformance::memory_kind_test {
namespace {

#if !GASNET_HAVE_MK_CLASS_CUDA_UVA || !GASNET_HAVE_MK_CLASS_MULTIPLE
#error "CUDA's class is not announced"
#endif
#if defined(GASNET_HAVE_MK_CLASS_HIP) || defined(GASNET_HAVE_MK_CLASS_ZE)
#error "a class of devices is announced that cannot be made"
#endif

TEST(MemoryKind, OfTheHostIsThePredefinedOne) {
  gex_MK_Create_args_t args{};
  args.gex_class = GEX_MK_CLASS_HOST;
  gex_MK_t kind = GEX_MK_INVALID;
  ASSERT_EQ(gex_MK_Create(&kind, client(), &args, 0), GASNET_OK);
  EXPECT_EQ(kind, GEX_MK_HOST);
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  ASSERT_EQ(gex_Segment_Create(&segment, client(), nullptr, 100, kind, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_QuerySize(segment), 100U);
  gex_Segment_Destroy(segment, 0);
  gex_MK_Destroy(kind, 0);
}

TEST(MemoryKind, OfDevicesIsRefusedWithItsErrorCode) {
  gex_System_SetVerboseErrors(0);
  for (const gex_MK_Class_t absent : {GEX_MK_CLASS_HIP, GEX_MK_CLASS_ZE}) {
    gex_MK_Create_args_t args{};
    args.gex_class = absent;
    gex_MK_t kind = GEX_MK_INVALID;
    EXPECT_EQ(gex_MK_Create(&kind, client(), &args, 0), GASNET_ERR_BAD_ARG);
    EXPECT_EQ(kind, GEX_MK_INVALID);
  }
  gex_System_SetVerboseErrors(1);
}

}  // namespace
}  // namespace conformance::memory_kind_test
