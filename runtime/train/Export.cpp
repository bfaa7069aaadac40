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
#include "checkpoint/Weights.h"
#include "train/Commands.h"
#include "train/ConfigCheck.h"
#include "train/ExportedWeights.h"
#include "train/Stop.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

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
    if (isThere(path) && !(isFolder(path) && fs::is_empty(path, error)))
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
  if (const int signal = StopRequest::take(); signal && !onlySaves(signal))
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
