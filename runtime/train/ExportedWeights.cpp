//===- ExportedWeights.cpp - parameters as safetensors --------------------===//

#include "train/ExportedWeights.h"

#include "base/Error.h"
#include "base/File.h"
#include "base/NumberTypes.h"
#include "checkpoint/PieceReader.h"
#include "checkpoint/Weights.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/mman.h>

using namespace braid;
using nlohmann::ordered_json;

namespace {

// A new file of a fixed length, mapped into memory.
class MappedFile {
public:
  // Allocates the disk space: a full disk is an error here instead of a signal at a later write.
  MappedFile(const std::string &path, uint64_t bytes) : file(File::createPrivate(path)), length(bytes) {
    const int fd = file.descriptor(), error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    void *at = error == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
      fail("cannot write '", path, "': ", std::strerror(error ? error : errno));
    memory = static_cast<std::byte *>(at);
  }
  MappedFile(const MappedFile &) = delete;
  ~MappedFile() { munmap(memory, length); }

  std::byte *data() { return memory; }
  void sync() {
    if (msync(memory, length, MS_SYNC) != 0)
      fail("cannot write '", file.path(), "': ", std::strerror(errno));
    file.sync();
    file.publish();
  }

private:
  File file;
  uint64_t length;
  std::byte *memory = nullptr;
};

uint64_t elementsOf(const ExportedTensor &tensor) {
  uint64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= static_cast<uint64_t>(extent);
  return elements;
}

using Tensors = std::vector<const ExportedTensor *>;

// Divides the tensors among files, in order. A tensor larger than the size limit gets a file of its own.
std::vector<Tensors> divide(const std::vector<ExportedTensor> &tensors, uint64_t elementBytes, uint64_t fileBytes) {
  std::vector<Tensors> files;
  uint64_t filled = 0;
  for (const ExportedTensor &tensor : tensors) {
    const uint64_t bytes = elementsOf(tensor) * elementBytes;
    if (files.empty() || (filled > 0 && filled + bytes > fileBytes)) {
      files.emplace_back();
      filled = 0;
    }
    files.back().push_back(&tensor);
    filled += bytes;
  }
  return files;
}

std::string fileName(size_t number, size_t files) {
  if (files == 1)
    return kWeightsFile;
  char name[64];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", number + 1, files);
  return name;
}

// Returns the names of a tensor's parts: the tensors of a stack lie one behind another in its memory.
std::vector<std::string> namesOf(const ExportedTensor &tensor) {
  if (!isStack(tensor.name))
    return {tensor.name};
  std::vector<std::string> names;
  for (int64_t number = 0; number < tensor.shape.front(); ++number)
    names.push_back(nameInStack(tensor.name, number));
  return names;
}

// Returns the header: its length and the JSON. Transformers requires the format "pt".
std::string headerOf(const Tensors &tensors, br_dtype dtype) {
  ordered_json json = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t at = 0;
  for (const ExportedTensor *tensor : tensors) {
    const std::vector<std::string> names = namesOf(*tensor);
    const std::vector<int64_t> shape(tensor->shape.begin() + isStack(tensor->name), tensor->shape.end());
    const uint64_t bytes = elementsOf(*tensor) * static_cast<uint64_t>(elementSize(dtype)) / names.size();
    for (const std::string &name : names) {
      json[name] = {{"dtype", typeName(dtype)}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
      at += bytes;
    }
  }
  std::string text = json.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

// Destination of a tensor in a mapped file.
struct Place {
  const ExportedTensor *tensor;
  std::byte *memory;
};

} // namespace

ExportedSize braid::exportWeights(const SavedTensors &saved, const std::vector<ExportedTensor> &tensors, br_dtype dtype,
                                  uint64_t fileBytes, const std::string &folder, const std::function<void()> &check) {
  const uint64_t elementBytes = static_cast<uint64_t>(elementSize(dtype));
  const std::vector<Tensors> division = divide(tensors, elementBytes, fileBytes);
  ExportedSize size;
  std::vector<std::unique_ptr<MappedFile>> files;
  std::map<std::string, Place> places;
  ordered_json index = ordered_json::object();
  for (const Tensors &held : division) {
    const std::string header = headerOf(held, dtype), name = fileName(size.files++, division.size());
    uint64_t bytes = header.size();
    for (const ExportedTensor *tensor : held)
      bytes += elementsOf(*tensor) * elementBytes;
    MappedFile &file = *files.emplace_back(std::make_unique<MappedFile>(folder + "/" + name, bytes));
    std::copy(header.begin(), header.end(), reinterpret_cast<char *>(file.data()));
    std::byte *at = file.data() + header.size();
    for (const ExportedTensor *tensor : held) {
      places[tensor->saved] = {tensor, at};
      at += elementsOf(*tensor) * elementBytes;
      size.elements += elementsOf(*tensor);
      for (const std::string &each : namesOf(*tensor))
        index[each] = name;
    }
  }
  size.bytes = size.elements * elementBytes;
  PieceReader reader;
  saved.forEachPiece([&](const std::string &name, const TensorPart &) { return places.count(name) > 0; },
                     [&](const std::string &name, const SavedTensors::Piece &piece) {
                       check();
                       const Place &place = places.at(name);
                       reader.read(piece, wholeTensor(place.tensor->shape), dtype, place.memory);
                     });
  for (const auto &file : files) {
    check();
    file->sync();
  }
  if (division.size() > 1)
    replaceFile(folder + "/" + kWeightsIndex,
                ordered_json{{"metadata", {{"total_size", size.bytes}}}, {"weight_map", index}}.dump(2) + "\n");
  return size;
}
