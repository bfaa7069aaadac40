//===- Export.cpp - export a checkpoint for other programs ----------------===//
//
// FOLDER receives the weights under the names of the graph's parameters, the config.json that the graph was
// made from, and the tokenizer files. It is written under a temporary name and renamed when it is complete;
// Ctrl-C leaves no files behind.
//
// One process exports a checkpoint of any layout, and needs no memory for the model.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/File.h"
#include "base/Format.h"
#include "base/Json.h"
#include "base/Message.h"
#include "base/NumberTypes.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/PieceReader.h"
#include "checkpoint/Weights.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"
#include "train/Stop.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

using namespace braid;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Weights
//
// Files have a size limit and are written in place: each file has its full length from the start, and
// pieces of a checkpoint are copied to their places in any order.
//===----------------------------------------------------------------------===//

namespace {
struct ExportedTensor {
  std::string name, saved; // the exported name, and the name in the checkpoint
  std::vector<int64_t> shape;
};

struct ExportedSize {
  uint64_t elements = 0, bytes = 0;
  size_t files = 0;
};

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

// Writes `folder`/model.safetensors, or several files and an index if one file would exceed `fileBytes`
// bytes. Converts floats to `dtype`. Calls `check` before each tensor; `check` throws to stop the export.
static ExportedSize exportWeights(const SavedTensors &saved, const std::vector<ExportedTensor> &tensors, br_dtype dtype,
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

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

namespace {

constexpr const char *kTokenizerFiles[] = {"tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "vocab.json",
                                           "merges.txt",
                                           "vocab.txt",
                                           "tokenizer.model",
                                           "spiece.model",
                                           "chat_template.jinja",
                                           "chat_template.json",
                                           "generation_config.json"};

// A folder with a temporary name until it is complete.
class NewFolder {
public:
  // Throws Error if the folder exists and is not empty.
  explicit NewFolder(const std::string &given)
      : path(placeOf(fs::path(given + "/").parent_path().string())), temporary(concat(path, ".", getpid(), ".tmp")) {
    std::error_code error;
    if (fileExists(path) && !(isFolder(path) && fs::is_empty(path, error)))
      fail("'", path, "' already exists, and is not overwritten; name another folder");
    fs::remove_all(temporary, error); // left by a killed process with the same id
    const std::string parent = fs::path(path).parent_path().string();
    if (!parent.empty())
      fs::create_directories(parent, error);
    if (error)
      fail("cannot make the folder '", path, "': ", error.message());
    makePrivateFolder(temporary);
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary.empty())
      fs::remove_all(temporary, ignored);
  }

  const std::string &place() const { return temporary; }
  void commit() {
    publishFolder(temporary);
    syncDirectory(temporary);
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      fail("cannot write '", path, "': ", std::strerror(errno));
    temporary.clear();
    const std::string parent = fs::path(path).parent_path().string();
    syncDirectory(parent.empty() ? "." : parent);
  }

private:
  // Resolves a link to a folder: the link stays, and its target receives the files.
  static std::string placeOf(const std::string &path) {
    std::error_code error;
    const fs::path place = isFolder(path) ? fs::canonical(path, error) : fs::path(path);
    return error ? path : place.string();
  }

  std::string path, temporary;
};

std::vector<ExportedTensor> tensorsToExport(const SavedTensors &saved, const br_model &model) {
  const std::vector<const br_tensor *> parameters = parametersOfAll(model);
  auto names = matchParameters(saved, model.name, parameters, /*areAll=*/true);
  std::vector<ExportedTensor> tensors;
  for (const br_tensor *t : parameters)
    tensors.push_back({std::string(nameInFile(*t)), names.at(nameInFile(*t)), shapeOf(*t)});
  return tensors;
}

// Writes config.json with the type of the exported weights. Returns false if the model has no config.
bool writeConfig(const br_model &model, br_dtype dtype, const std::string &folder) {
  if (!model.config)
    return false;
  nlohmann::ordered_json config = parseConfig(model.config, "the model's config.json: ");
  if (!config.is_object())
    fail("the compiled model is broken: its config.json is not a JSON object");
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = dtype == BR_BF16 ? "bfloat16" : "float32";
  replaceFile(folder + "/config.json", config.dump(2) + "\n");
  return true;
}

// Copies the tokenizer files; returns their number.
int copyTokenizer(const std::string &from, const std::string &to) {
  int copied = 0;
  for (const char *name : kTokenizerFiles) {
    std::error_code error;
    if (!fs::is_regular_file(fs::path(from) / name, error))
      continue;
    fs::copy_file(fs::path(from) / name, fs::path(to) / name, error);
    if (error)
      fail("cannot copy '", (fs::path(from) / name).string(), "': ", error.message());
    ++copied;
  }
  return copied;
}

// Returns the folder that the weights were first loaded from, which usually has the tokenizer.
std::string originOf(const SavedTensors &saved) {
  if (isWeightsFolder(saved.path()))
    return saved.path();
  auto folder = saved.metadata().find("init_folder");
  return folder == saved.metadata().end() ? "" : folder->second;
}

void addTokenizer(const SavedTensors &saved, const ExportOptions &options, const std::string &folder) {
  const std::string from = options.tokenizer.empty() ? originOf(saved) : options.tokenizer;
  if (from.empty()) {
    std::printf("without a tokenizer: name the folder with its files by --tokenizer\n");
    return;
  }
  const int copied = copyTokenizer(from, folder);
  if (copied == 0 && !options.tokenizer.empty())
    fail("--tokenizer=", from, ": found no file of a tokenizer, such as tokenizer.json or tokenizer.model");
  if (copied == 0)
    warn(concat("'", from,
                "', the folder of the initial weights, has no file of a tokenizer; name a folder with such files by "
                "--tokenizer"));
}

// Thrown after Ctrl-C and other signals that end the process.
struct Stopped {
  int signal;
};

void checkStop() {
  if (const int signal = StopRequest::consumeSignal(); signal && !onlySaves(signal))
    throw Stopped{signal};
}

void exportTo(const std::string &path, const br_model &model, const ExportOptions &options) {
  const SavedTensors saved = openCheckpoint(options.checkpoint.empty() ? options.init : options.checkpoint)
                                 .withStacks(namesInFile(parametersOfAll(model)));
  if (const ModelDifferences differences = modelDifferences(model, saved.metadata()); !differences.computed.empty())
    fail("'", saved.path(), "' is of another model, whose config.json would be wrong: ", joined(differences.computed),
         "; export it with a program of the graph that it was trained with");
  warnOfOtherModel(model, saved.metadata(), saved.path());
  const std::vector<ExportedTensor> tensors = tensorsToExport(saved, model);
  const br_dtype dtype = options.type == ExportType::BFloat16 ? BR_BF16 : BR_F32;
  NewFolder folder(path);
  const ExportedSize size =
      exportWeights(saved, tensors, dtype, static_cast<uint64_t>(options.fileGb * 1e9), folder.place(), checkStop);
  if (!writeConfig(model, dtype, folder.place()))
    std::printf("without a config.json: the graph was not made from one\n");
  addTokenizer(saved, options, folder.place());
  checkStop();
  folder.commit();
  std::printf("exported %s to %s: %s parameters in %s, %s in %zu file%s\n", saved.path().c_str(), path.c_str(),
              formatCount(size.elements).c_str(), nameOf(dtype), formatBytes(size.bytes).c_str(), size.files,
              size.files == 1 ? "" : "s");
}

} // namespace

int braid::runExport(const br_model &model, const ExportOptions &options) {
  StopRequest request;
  try {
    exportTo(options.folder, model, options);
    return 0;
  } catch (const Stopped &stopped) {
    std::printf("stopped by %s; nothing was exported\n", signalName(stopped.signal));
    return 128 + stopped.signal;
  }
}
