//===- Size.cpp - parsing and formatting of bytes -------------------------===//

#include "lib/Memory/Size.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace braid;

static constexpr llvm::StringLiteral kPrefixes = "KMGT";

std::optional<int64_t> braid::parseSize(llvm::StringRef text) {
  text = text.trim();
  size_t digits = text.find_first_not_of("0123456789.");
  double number;
  if (text.take_front(digits).getAsDouble(number))
    return std::nullopt;
  llvm::StringRef unit = digits == llvm::StringRef::npos ? "" : text.drop_front(digits).ltrim();
  double scale = 1;
  if (size_t power = unit.empty() ? llvm::StringRef::npos : kPrefixes.find(llvm::toUpper(unit.front()));
      power != llvm::StringRef::npos) {
    unit = unit.drop_front();
    bool decimal = unit.equals_insensitive("b");
    for (size_t i = 0; i <= power; ++i)
      scale *= decimal ? 1000 : 1024;
    if (!decimal && !unit.empty() && !unit.equals_insensitive("ib"))
      return std::nullopt;
  } else if (!unit.empty() && !unit.equals_insensitive("b")) {
    return std::nullopt;
  }
  double bytes = number * scale;
  if (!(bytes >= 0 && bytes < 9.0e18))
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::string braid::formatSize(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (bytes < 1024) {
    stream << bytes << " B";
    return text;
  }
  double number = bytes;
  size_t power = 0;
  for (number /= 1024; number >= 999.5 && power + 1 < kPrefixes.size(); number /= 1024)
    ++power;
  stream << llvm::format("%.*f",
                         number < 9.995   ? 2
                         : number < 99.95 ? 1
                                          : 0,
                         number)
         << ' ' << kPrefixes[power] << "iB";
  return text;
}

mlir::FailureOr<std::optional<int64_t>> braid::memoryLimitOf(llvm::StringRef text, mlir::Location loc) {
  std::optional<int64_t> limit = parseSize(text);
  if (text.empty() || limit)
    return limit;
  emitError(loc) << "invalid memory limit '" << text
                 << "': expected a number of bytes, with an optional KiB, MiB or GiB";
  return mlir::failure();
}
