//===- CppTextTest.cpp - C++ as text --------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace braid::codegen;
using llvm::APFloat;

TEST(CppText, FloatsReadBackAndAreShort) {
  EXPECT_EQ(floatLiteral(APFloat(1.0f)), "1.0f");
  EXPECT_EQ(floatLiteral(APFloat(0.1f)), "0.1f");
  EXPECT_EQ(floatLiteral(APFloat(1e-5f)), "1e-05f");
  EXPECT_EQ(floatLiteral(APFloat(-0.0f)), "-0.0f");
  EXPECT_EQ(floatLiteral(APFloat(16777216.0f)), "16777216.0f");
  EXPECT_EQ(floatLiteral(APFloat::getInf(APFloat::IEEEsingle(), true)), "-INFINITY");
  EXPECT_EQ(floatLiteral(APFloat::getNaN(APFloat::IEEEsingle())), "NAN");
  for (float x : {0.7978846f, 3.4028235e38f, 1.17549435e-38f, 1e-45f, 123456789.0f})
    EXPECT_EQ(std::strtof(floatLiteral(APFloat(x)).c_str(), nullptr), x);
}

TEST(CppText, StringsAreQuoted) {
  EXPECT_EQ(stringLiteral("h.0"), "\"h.0\"");
  EXPECT_EQ(stringLiteral("a\"b\\\n1"), "\"a\\\"b\\\\\\0121\"");
}

TEST(CppText, NamesAreIdentifiers) {
  EXPECT_EQ(identifier("h.0.ln_1"), "h_0_ln_1");
  EXPECT_EQ(identifier("2d"), "_2d");
}

TEST(CppText, LongCallsContinueBelowTheBracket) {
  EXPECT_EQ(wrapCall("  f", {"a", "b"}, ";"), "  f(a, b);");
  std::vector<std::string> arguments(10, "m[1234567]");
  std::string text = wrapCall("  launch", arguments, ";");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  EXPECT_EQ(lines.size(), 2u);
  for (llvm::StringRef line : lines)
    EXPECT_LE(line.size(), 80u);
  EXPECT_TRUE(lines[1].starts_with("         m[1234567],"));
}

TEST(CppText, CommentsWrap) {
  std::string word(30, 'x');
  EXPECT_EQ(comment(word + " " + word + " " + word, "  "), "  // " + word + " " + word + "\n  // " + word + "\n");
}

TEST(CppText, OriginsNameNoFolder) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  auto line = [&](unsigned n) { return mlir::FileLineColLoc::get(&context, "/some/where/gpt.mlir", n, 1); };
  EXPECT_EQ(originText(line(3)), "gpt.mlir:3");
  EXPECT_EQ(originText(mlir::FusedLoc::get(&context, {line(3), line(8), line(3)})), "gpt.mlir:3, 8");
  EXPECT_EQ(originText(mlir::NameLoc::get(builder.getStringAttr("h.0.attn"), line(4))), "h.0.attn");
  EXPECT_EQ(originText(builder.getUnknownLoc()), "");
  llvm::SmallVector<mlir::Location> many;
  for (unsigned n = 1; n <= 9; ++n)
    many.push_back(line(n));
  EXPECT_EQ(originText(mlir::FusedLoc::get(&context, many)), "gpt.mlir:1, 2, 3, 4, 5, 6, and 3 more");
}
