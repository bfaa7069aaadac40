//===- Weights.cpp - the values of an exported program's tensors ----------===//

#include "lib/Import/Torch/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace braid::torch;

/// Upper limit of the bytes of a tensor whose elements are apart.
static constexpr uint64_t kMaxGatheredBytes = uint64_t(4) << 30;

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

static uint64_t storedBytes(const StoredTensor &stored, uint64_t elementBytes) {
  uint64_t bytes = elementBytes;
  for (int64_t size : stored.type.shape)
    bytes *= size;
  return bytes;
}

/// Copies elements in row-major order. Returns false if one is outside of `from`.
static bool gather(const StoredTensor &stored, StringRef from, uint64_t elementBytes, std::string &to) {
  ArrayRef<int64_t> shape = stored.type.shape;
  int64_t limit = from.size() / elementBytes, last = stored.offset;
  if (last >= limit)
    return false;
  for (auto [size, stride] : zip_equal(shape, stored.strides)) {
    if (size > 1 && stride > (limit - 1 - last) / (size - 1))
      return false;
    last += size > 1 ? (size - 1) * stride : 0;
  }
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t at = stored.offset;
  for (uint64_t left = storedBytes(stored, 1); left > 0; --left) {
    to.append(from.data() + at * elementBytes, elementBytes);
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      at += shape[dim] > 1 ? stored.strides[dim] : 0;
      if (++index[dim] < shape[dim])
        break;
      at -= shape[dim] > 1 ? stored.strides[dim] * shape[dim] : 0;
      index[dim] = 0;
    }
  }
  return true;
}

Expected<std::string> braid::torch::readTensor(const Archive &archive, const StoredTensor &stored) {
  std::optional<StoredElement> element = storedElement(stored.type.element);
  std::string bytes;
  if (!element || storedBytes(stored, element->bytes) > kMaxGatheredBytes)
    return createStringError("'" + stored.entry + "' has another element type, or is too large");
  Expected<std::string> from = archive.read(stored.entry, kMaxGatheredBytes);
  if (!from)
    return from.takeError();
  if (!gather(stored, *from, element->bytes, bytes))
    return createStringError(archive.getPath() + ": a tensor ends behind the bytes of '" + stored.entry + "'");
  return bytes;
}

/// Copies a tensor a block at a time, or at once if its elements are apart.
static Error copyTensor(const Archive &archive, const StoredTensor &stored, raw_ostream &os) {
  if (!stored.isRowMajor()) {
    Expected<std::string> bytes = readTensor(archive, stored);
    if (!bytes)
      return bytes.takeError();
    os << *bytes;
    return Error::success();
  }
  uint64_t left = storedBytes(stored, storedElement(stored.type.element)->bytes);
  return archive.stream(stored.entry, [&](StringRef block) {
    os << block.take_front(left);
    left -= std::min<uint64_t>(left, block.size());
    return Error::success();
  });
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
    if (stored == program.weights.end() || !stored->second.hasValues)
      return fail("has no values of '" + name + "'; export the module with its weights, not on the device 'meta'");
    const TypeOfTensor &type = stored->second.type;
    std::optional<StoredElement> element = storedElement(type.element);
    if (!element)
      return fail("'" + name + "' has element type " + nameOf(type.element) + ", which is not supported");
    uint64_t bytes = storedBytes(stored->second, element->bytes);
    uint64_t found = archive.sizeOf(stored->second.entry).value_or(0);
    if (stored->second.isRowMajor() && found < bytes)
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
    if (Error error = copyTensor(archive, program.weights.find(name)->second, os))
      return error;
  }
  return Error::success();
}
