//===- Weights.h - parameters in files of any program ---------------------===//
//
// Weights are a checkpoint, any safetensors file, or a folder written by Hugging Face's libraries:
// model.safetensors, or several files and model.safetensors.index.json. In such a folder, names lack their
// common first component ("transformer.") if the model was saved without its head. The folder may also have
// masks and tables that follow from the configuration, or a copy of the embedding table if that is the
// head.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_WEIGHTS_H
#define BRAID_CHECKPOINT_WEIGHTS_H

#include "checkpoint/SavedTensors.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

inline constexpr const char *kWeightsFile = "model.safetensors", *kWeightsIndex = "model.safetensors.index.json";

// Whether a folder has weights in this form.
bool isWeightsFolder(const std::string &path);

// Returns the file of each tensor in an index. Throws an Error that names the index and says what is wrong.
std::map<std::string, std::string> readWeightsIndex(const std::string &path);

// Describes weights in other formats in the folder, and what to do, for a message; empty if there are none.
std::string describeOtherWeights(const std::string &folder);

// Returns the name in files of a tensor, or of the tensor that it copies.
inline std::string_view nameInFile(const br_tensor &t) { return t.copy_of ? t.copy_of : t.name; }

// Returns the names in files of these parameters.
std::vector<std::string> namesInFile(const std::vector<const br_tensor *> &parameters);

inline std::vector<int64_t> shapeOf(const br_tensor &t) { return {t.shape, t.shape + t.rank}; }

// Returns the parameters among the tensors, and the tensors that are copies of parameters or are copied by
// them.
std::vector<const br_tensor *> parametersOf(std::span<const br_tensor> tensors);

// Returns the parameters of all kinds of ranks from `first` on, each name once.
std::vector<const br_tensor *> parametersOfAll(const br_model &first);

// Returns the name of the saved tensor for each of these parameters. Throws one Error for all parameters
// that are missing or do not fit. If `areAll`, the parameters are the whole model, so the Error also lists
// tensors that the model lacks.
std::map<std::string_view, std::string> matchParameters(const SavedTensors &saved, const char *model,
                                                        const std::vector<const br_tensor *> &parameters, bool areAll);

} // namespace braid
#endif // BRAID_CHECKPOINT_WEIGHTS_H
