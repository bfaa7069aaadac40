//===- Tokens.cpp - training data in a binary file ------------------------===//

#include "lib/Reference/Tokens.h"
#include "lib/Input/InputFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace braid::reference;
using namespace llvm::support::endian;

llvm::Expected<TokenFile> TokenFile::read(llvm::StringRef path) {
  auto file = braid::readInputFile(path, /*maxBytes=*/UINT64_MAX);
  std::string name = path.str();
  if (!file)
    return llvm::createStringError("%s: %s", name.c_str(), llvm::toString(file.takeError()).c_str());
  llvm::StringRef content = (*file)->getBuffer();
  uint32_t version = content.size() < 64 ? 0 : read32le(content.data() + 8);
  if (!content.starts_with("BRAIDTOK") || (version != 1 && version != 2))
    return llvm::createStringError("%s: no token file: it does not begin with BRAIDTOK and version 1 or 2",
                                   name.c_str());
  uint64_t width = read32le(content.data() + 12), count = read64le(content.data() + 16);
  if ((width != 2 && width != 4) || count > (content.size() - 64) / width)
    return llvm::createStringError("%s: %zu bytes do not hold %llu tokens of %llu bytes", name.c_str(),
                                   content.size() - 64, static_cast<unsigned long long>(count),
                                   static_cast<unsigned long long>(width));
  TokenFile result;
  result.vocabulary = read64le(content.data() + 24);
  const char *data = content.data() + 64;
  for (uint64_t i = 0; i < count; ++i)
    result.tokens.push_back(width == 2 ? read16le(data + 2 * i) : read32le(data + 4 * i));
  return result;
}

llvm::Error TokenFile::fill(Tensor &batch, int64_t window, int64_t shift) const {
  if (batch.rank() != 2 || batch.hasFloats())
    return llvm::createStringError("tokens and targets must be ints, batch x sequence");
  int64_t begin = window * batch.shape[1] + shift;
  if (begin + batch.size() > static_cast<int64_t>(tokens.size()))
    return llvm::createStringError("the data ends: %lld tokens are needed, but it has %zu",
                                   static_cast<long long>(begin + batch.size()), tokens.size());
  for (int64_t i = 0; i < batch.size(); ++i)
    batch.n(i) = tokens[begin + i];
  return llvm::Error::success();
}
