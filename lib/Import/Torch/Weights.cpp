//===- Weights.cpp - the values of an exported program's tensors ----------===//

#include "lib/Import/Torch/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace braid::torch;

namespace {
/// How safetensors names an element type, and its size in bytes.
struct StoredElement {
  StringLiteral name;
  uint64_t bytes;
};
} // namespace

static std::optional<StoredElement> storedElement(ScalarType type) {
  switch (type) {
  case ScalarType::F32:
    return StoredElement{"F32", 4};
  case ScalarType::F64:
    return StoredElement{"F64", 8};
  case ScalarType::BF16:
    return StoredElement{"BF16", 2};
  case ScalarType::I32:
    return StoredElement{"I32", 4};
  case ScalarType::I64:
    return StoredElement{"I64", 8};
  case ScalarType::Bool:
    return StoredElement{"BOOL", 1};
  default:
    return std::nullopt;
  }
}

Error braid::torch::writeWeights(const Program &program, const Archive &archive, ArrayRef<std::string> names,
                                 raw_ostream &os) {
  std::vector<std::string> sorted(names.begin(), names.end());
  llvm::sort(sorted);
  auto fail = [&](const Twine &message) { return createStringError(archive.getPath() + ": " + message); };
  json::Object header;
  uint64_t offset = 0;
  for (const std::string &name : sorted) {
    auto stored = program.weights.find(name);
    if (stored == program.weights.end())
      return fail("has no values of '" + name + "'; export the module with its weights, not on the device 'meta'");
    const TypeOfTensor &type = stored->second.type;
    std::optional<StoredElement> element = storedElement(type.element);
    if (!element)
      return fail("'" + name + "' has element type " + nameOf(type.element) + ", which is not supported");
    uint64_t bytes = element->bytes;
    for (int64_t size : type.shape)
      bytes *= size;
    uint64_t found = archive.sizeOf(stored->second.entry).value_or(0);
    if (!stored->second.isContiguous)
      return fail("'" + name + "' is a view, not in row-major order; export the module with contiguous weights");
    if (found != bytes)
      return fail("'" + name + "' has " + Twine(bytes) + " bytes, and the archive has " + Twine(found) +
                  "; export the module again");
    header[name] = json::Object{{"dtype", element->name},
                                {"shape", json::Array(type.shape)},
                                {"data_offsets", json::Array{offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(header));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  char size[8];
  support::endian::write64le(size, text.size());
  os.write(size, sizeof(size)) << text;
  for (const std::string &name : sorted) {
    Error error = archive.stream(program.weights.find(name)->second.entry, [&](StringRef block) {
      os << block;
      return Error::success();
    });
    if (error)
      return error;
  }
  return Error::success();
}
