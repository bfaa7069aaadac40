//===- SizeTest.cpp - sizes as people write them --------------------------===//

#include "lib/Memory/Size.h"
#include "gtest/gtest.h"

using namespace braid;

TEST(Size, Parses) {
  EXPECT_EQ(parseSize("4096"), 4096);
  EXPECT_EQ(parseSize("4096B"), 4096);
  EXPECT_EQ(parseSize("2KiB"), 2048);
  EXPECT_EQ(parseSize("2k"), 2048);
  EXPECT_EQ(parseSize("2KB"), 2000);
  EXPECT_EQ(parseSize("1.5 GiB"), 1536ll << 20);
  EXPECT_EQ(parseSize("0"), 0);
}

TEST(Size, RefusesWhatIsNoSize) {
  for (const char *text : {"", "big", "12 apples", "-5", "5KiBs", "5XB", "1e400GiB", "."})
    EXPECT_FALSE(parseSize(text)) << text;
}

TEST(Size, FormatsThreeDigits) {
  EXPECT_EQ(formatSize(0), "0 B");
  EXPECT_EQ(formatSize(1023), "1023 B");
  EXPECT_EQ(formatSize(1024), "1.00 KiB");
  EXPECT_EQ(formatSize(10 * 1024), "10.0 KiB");
  EXPECT_EQ(formatSize(1000ll << 20), "0.98 GiB");
  EXPECT_EQ(formatSize(124439808ll * 4), "475 MiB");
}
