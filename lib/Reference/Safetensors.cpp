//===- Safetensors.cpp - tensors in files ---------------------------------===//

#include "lib/Reference/Safetensors.h"
#include "lib/Input/InputFile.h"
#include "lib/Input/ParserLimits.h"
#include "lib/Reference/Arena.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

template <typename... Args> static llvm::Error bad(StringRef path, const char *format, Args... args) {
  // The path is not a format string: it may contain a %.
  std::string problem = toString(llvm::createStringError(format, args...));
  return llvm::createStringError(llvm::inconvertibleErrorCode(), path + ": " + problem);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Type typeNamed(StringRef name, MLIRContext *context) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(name)
      .Case("F64", builder.getF64Type())
      .Case("F32", builder.getF32Type())
      .Case("BF16", builder.getBF16Type())
      .Case("I64", builder.getI64Type())
      .Case("I32", builder.getI32Type())
      .Case("I8", builder.getIntegerType(8))
      .Case("BOOL", builder.getI1Type())
      .Default(Type());
}

static StringRef nameOf(Type type) {
  if (type.isF64())
    return "F64";
  if (type.isF32())
    return "F32";
  if (type.isBF16())
    return "BF16";
  return type.isInteger(64) ? "I64" : type.isInteger(32) ? "I32" : type.isInteger(8) ? "I8" : "BOOL";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads the tensor of one entry of the header.
static llvm::Expected<Tensor> readTensor(StringRef path, StringRef name, const llvm::json::Value &value, StringRef data,
                                         MLIRContext *context) {
  std::string label = name.str();
  const llvm::json::Object *entry = value.getAsObject();
  if (!entry)
    return bad(path, "entry '%s' is not an object", label.c_str());
  Type type = typeNamed(entry->getString("dtype").value_or(""), context);
  const llvm::json::Array *dims = entry->getArray("shape"), *offsets = entry->getArray("data_offsets");
  if (!type || !dims || !offsets || offsets->size() != 2)
    return bad(path, "tensor '%s' lacks a known dtype, a shape or two data_offsets", label.c_str());
  SmallVector<int64_t> shape;
  int64_t count = 1;
  for (const llvm::json::Value &dim : *dims) {
    std::optional<int64_t> size = dim.getAsInteger();
    if (!size || *size < 0 || (*size && count > static_cast<int64_t>(data.size()) / *size))
      return bad(path, "tensor '%s' has a dim that is too large for the size of the file", label.c_str());
    shape.push_back(*size);
    count *= *size;
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  int64_t bytes = count * elementBytes(type);
  if (!begin || !end || *begin < 0 || *end < *begin || *end > static_cast<int64_t>(data.size()) ||
      *end - *begin != bytes)
    return bad(path, "tensor '%s' needs %lld bytes, which its data_offsets do not give", label.c_str(),
               static_cast<long long>(bytes));
  return tensorOfBytes(RankedTensorType::get(shape, type), data.substr(*begin, bytes));
}

llvm::Expected<Values> braid::reference::readSafetensors(StringRef path, MLIRContext *context) {
  auto file = readInputFile(path, /*maxBytes=*/UINT64_MAX);
  if (!file)
    return bad(path, "%s", llvm::toString(file.takeError()).c_str());
  StringRef content = (*file)->getBuffer();
  if (content.size() < 8)
    return bad(path, "not a safetensors file: it has %zu bytes", content.size());
  uint64_t length = llvm::support::endian::read64le(content.data());
  if (length > content.size() - 8)
    return bad(path, "the length %llu of the header exceeds the file", static_cast<unsigned long long>(length));
  llvm::Expected<llvm::json::Value> header = parseJson(content.substr(8, length));
  if (!header)
    return bad(path, "the header is not valid JSON: %s", llvm::toString(header.takeError()).c_str());
  const llvm::json::Object *entries = header->getAsObject();
  if (!entries)
    return bad(path, "the header is not a JSON object");
  Values values;
  for (const auto &[name, entry] : *entries) {
    if (name == "__metadata__")
      continue;
    llvm::Expected<Tensor> tensor = readTensor(path, name, entry, content.substr(8 + length), context);
    if (!tensor)
      return tensor.takeError();
    values.emplace(name.str(), std::move(*tensor));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

llvm::Error braid::reference::writeSafetensors(StringRef path, const Values &tensors) {
  llvm::json::Object header;
  std::string data;
  for (const auto &[name, tensor] : tensors) {
    int64_t begin = data.size();
    appendBytes(tensor, data);
    header[name] = llvm::json::Object{{"dtype", nameOf(tensor.elementType)},
                                      {"shape", llvm::json::Array(tensor.shape)},
                                      {"data_offsets", llvm::json::Array{begin, static_cast<int64_t>(data.size())}}};
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return bad(path, "%s", error.message().c_str());
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  out.write(length, 8);
  out << text << data;
  out.close();
  if (out.has_error()) {
    error = out.error();
    out.clear_error();
    return bad(path, "%s", error.message().c_str());
  }
  return llvm::Error::success();
}
