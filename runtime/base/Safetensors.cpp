//===- Safetensors.cpp - reads the safetensors format ---------------------===//

#include "base/Safetensors.h"

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/Json.h"

#include <algorithm>
#include <set>

using namespace braid;
using nlohmann::json;

namespace {

// Limit of the header; a 96-layer model with optimizer state needs about 1 MiB.
constexpr uint64_t maxHeaderBytes = 32 << 20;

// Parses the header; refuses a name that occurs twice, which a JSON object would hide.
json parseHeader(const std::string &text, const std::string &where) {
  std::set<std::string> names;
  std::string duplicate;
  json root = parseJson(text, where, [&](int depth, const std::string &name) {
    if (depth == 1 && !names.insert(name).second && duplicate.empty())
      duplicate = name;
  });
  if (!duplicate.empty())
    fail(where, "tensor '", duplicate, "' occurs twice");
  if (root.is_discarded())
    fail(where, "its header is not valid JSON");
  if (!root.is_object())
    fail(where, "its header is not a JSON object");
  return root;
}

bool isCounts(const json &value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json &e) {
           return e.is_number_unsigned() && e.get<uint64_t>() <= INT64_MAX;
         });
}

// Computes a tensor's bytes; returns false on overflow.
bool byteCount(const std::vector<int64_t> &shape, uint64_t size, uint64_t &bytes) {
  bytes = size;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return false;
  return true;
}

TensorEntry parseEntry(const std::string &name, const json &value, uint64_t dataBytes, const std::string &file) {
  std::string where = file + "tensor '" + name + "' ";
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets"))
    fail(where, "lacks dtype, shape or data_offsets");
  const json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
  if (!dtype.is_string() || !isCounts(shape) || !isCounts(offsets) || offsets.size() != 2)
    fail(where, "has a malformed dtype, shape or data_offsets");

  TensorEntry entry{name, dtype.get<std::string>(), shape.get<std::vector<int64_t>>(), offsets[0].get<uint64_t>(),
                    offsets[1].get<uint64_t>()};
  uint64_t size = safetensorsTypeSize(entry.dtype), bytes;
  if (size == 0)
    fail(where, "has the unknown type '", entry.dtype, "'");
  if (!byteCount(entry.shape, size, bytes))
    fail(where, "has shape ", formatShape(entry.shape), ", whose size overflows");
  if (entry.begin > entry.end || entry.end > dataBytes)
    fail(where, "is at bytes [", entry.begin, ", ", entry.end, ") of ", dataBytes,
         " bytes of data; the file is truncated or corrupt");
  if (entry.end - entry.begin != bytes)
    fail(where, "of type ", entry.dtype, " and shape ", formatShape(entry.shape), " needs ", bytes,
         " bytes but is given ", entry.end - entry.begin);
  return entry;
}

} // namespace

uint64_t braid::safetensorsTypeSize(const std::string &dtype) {
  static const std::map<std::string, uint64_t> sizes = {{"F64", 8},  {"I64", 8}, {"U64", 8},  {"F32", 4}, {"I32", 4},
                                                        {"U32", 4},  {"F16", 2}, {"BF16", 2}, {"I16", 2}, {"U16", 2},
                                                        {"BOOL", 1}, {"I8", 1},  {"U8", 1}};
  auto at = sizes.find(dtype);
  return at == sizes.end() ? 0 : at->second;
}

std::string braid::formatShape(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

SafetensorsFile::SafetensorsFile(const std::string &path) : file(File::openForReading(path)) {
  uint64_t size = file.size();
  std::string where = concat("'", path, "' is not a usable safetensors file: ");
  if (size < 8)
    fail(where, "it has ", size, " bytes, fewer than the 8 of a header length");
  unsigned char raw[8];
  file.readAt(0, raw, sizeof raw);
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | raw[i];
  if (std::string_view(reinterpret_cast<const char *>(raw), sizeof raw) == "version ")
    fail(where, "it is a pointer of Git LFS; fetch the file with git lfs pull");
  if (headerBytes > size - 8)
    fail(where, "its header claims ", headerBytes, " bytes, but only ", size - 8,
         " follow; the file is truncated or corrupt");
  if (headerBytes > maxHeaderBytes)
    fail(where, "its header claims ", headerBytes, " bytes, above the limit of ", maxHeaderBytes);
  std::string header(8 + headerBytes, '\0');
  file.readAt(0, header.data(), header.size());
  sealed = header.compare(8, kSealedHeader.size(), kSealedHeader) == 0;
  if (sealed && !braid::isSealed(header, 8 + kSealedHeader.size()))
    fail("'", path, "' is damaged: its header does not have the checksum that was saved");
  dataStart = header.size();
  header.erase(0, 8);
  parse(header, size - dataStart);
}

void SafetensorsFile::parse(const std::string &header, uint64_t dataBytes) {
  std::string where = concat("'", path(), "' is not a usable safetensors file: ");
  json root = parseHeader(header, where);
  for (const auto &[name, value] : root.items()) {
    if (name != "__metadata__") {
      tensors.push_back(parseEntry(name, value, dataBytes, where));
      continue;
    }
    if (!value.is_object())
      fail(where, "its __metadata__ is not an object");
    for (const auto &[key, text] : value.items()) {
      if (!text.is_string())
        fail(where, "its __metadata__ holds '", key, "', which is not a string");
      strings[key] = text.get<std::string>();
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorEntry &a, const TensorEntry &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  for (size_t i = 0; i < tensors.size(); ++i)
    places[tensors[i].name] = i;
  checkCoverage(dataBytes);
}

// Checks that every byte of the data belongs to exactly one tensor.
void SafetensorsFile::checkCoverage(uint64_t dataBytes) const {
  std::string where = concat("'", path(), "' is not a usable safetensors file: ");
  uint64_t reached = 0;
  const TensorEntry *previous = nullptr;
  for (const TensorEntry &entry : tensors) {
    if (entry.begin < reached)
      fail(where, "tensors '", previous->name, "' and '", entry.name, "' overlap at byte ", entry.begin);
    if (entry.begin > reached)
      fail(where, "bytes [", reached, ", ", entry.begin, ") belong to no tensor");
    reached = entry.end;
    previous = &entry;
  }
  if (reached != dataBytes)
    fail(where, "its tensors end at byte ", reached, " of ", dataBytes, " bytes of data");
}

const TensorEntry *SafetensorsFile::find(const std::string &name) const {
  auto at = places.find(name);
  return at == places.end() ? nullptr : &tensors[at->second];
}

void SafetensorsFile::read(const TensorEntry &entry, uint64_t offset, void *out, uint64_t bytes) const {
  file.readAt(dataStart + entry.begin + offset, out, bytes);
}
