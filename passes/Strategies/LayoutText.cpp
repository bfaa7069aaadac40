//===- LayoutText.cpp - text of a chosen layout ---------------------------===//

#include "passes/Strategies/LayoutText.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

/// Returns a name with `*` in place of each number.
static std::string patternOf(StringRef name) {
  std::string pattern;
  while (!name.empty()) {
    StringRef digits = name.take_while(llvm::isDigit);
    bool isNumber = !digits.empty() && (pattern.empty() || pattern.back() == '.');
    pattern += isNumber ? "*" : digits.empty() ? name.take_front(1).str() : digits.str();
    name = name.drop_front(std::max<size_t>(digits.size(), 1));
  }
  return pattern;
}

static std::string lineOf(BlockArgument parameter, int64_t dim, comm::AxesAttr axes) {
  tg::ParamAttr param = parameterOf(parameter);
  tg::FileLayout layout = tg::fileLayoutOf(param);
  int64_t inFiles = layout.transposed ? 1 - dim : dim - (layout.fused >= 0 && dim > layout.fused);
  std::string line = patternOf(param.getName()) + ":";
  for (int64_t i = 0; i < layout.inFiles(tg::typeOf(parameter)).getRank(); ++i)
    line += i == inFiles ? " " + axes.str() : " {}";
  return line;
}

std::string braid::layoutText(ArrayRef<std::pair<BlockArgument, int64_t>> sharded, comm::AxesAttr axes) {
  SmallVector<std::string> lines;
  for (auto [parameter, dim] : sharded)
    if (std::string line = lineOf(parameter, dim, axes); !llvm::is_contained(lines, line))
      lines.push_back(line);
  return llvm::join(lines, "; ");
}
