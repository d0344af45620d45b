// Every type and operation has the name that clients use, and nothing else has one.

#include "core/data_types.h"

#include <gtest/gtest.h>

namespace gex {
namespace {

TEST(DataTypeNames, AreThoseOfTheInterface) {
  EXPECT_STREQ(name_of_operation(GEX_OP_AND), "GEX_OP_AND");
  EXPECT_STREQ(name_of_operation(GEX_OP_DEC), "GEX_OP_DEC");
  EXPECT_STREQ(name_of_operation(GEX_OP_CAS), "GEX_OP_CAS");
  EXPECT_STREQ(name_of_operation(GEX_OP_FAND), "GEX_OP_FAND");
  EXPECT_STREQ(name_of_operation(GEX_OP_FMULT), "GEX_OP_FMULT");
  EXPECT_STREQ(name_of_operation(GEX_OP_SWAP), "GEX_OP_SWAP");
  EXPECT_STREQ(name_of_operation(GEX_OP_FCAS), "GEX_OP_FCAS");
  EXPECT_STREQ(name_of_operation(GEX_OP_GET), "GEX_OP_GET");
  EXPECT_STREQ(name_of_type(GEX_DT_I32), "GEX_DT_I32");
  EXPECT_STREQ(name_of_type(GEX_DT_DBL), "GEX_DT_DBL");
  EXPECT_EQ(name_of_operation(GEX_OP_ADD | GEX_OP_SUB), nullptr);
  EXPECT_STREQ(name_of_operation(GEX_OP_USER), "GEX_OP_USER");
  EXPECT_STREQ(name_of_operation(GEX_OP_USER_NC), "GEX_OP_USER_NC");
  EXPECT_STREQ(name_of_type(GEX_DT_USER), "GEX_DT_USER");
  EXPECT_EQ(name_of_operation(GEX_OP_USER_NC << 1), nullptr);
  EXPECT_EQ(name_of_type(GEX_DT_USER << 1), nullptr);
  EXPECT_EQ(name_of_type(0), nullptr);
}

}  // namespace
}  // namespace gex
