//===- Weights.h - parameters in files of this and of other programs ------===//
//
// Weights are a checkpoint, any safetensors file, or a folder as Hugging Face's libraries
// write it: model.safetensors, or several files and model.safetensors.index.json.  There, a
// file of a model without its head leaves out what the names of all parameters begin with
// ("transformer."), and masks and tables that follow from the configuration may be among the
// tensors, or a copy of the table of embeddings where that is the head.
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

// Whether a folder has weights of that form.
bool isWeightsFolder(const std::string &path);

// The files that an index names, by tensor.  Throws Error that names the index and what is
// wrong with it.
std::map<std::string, std::string> readWeightsIndex(const std::string &path);

// For a message about a folder without any: what there is instead, and what to do; empty if
// there is nothing alike.
std::string describeOtherWeights(const std::string &folder);

// The name that a tensor, or what it is a copy of, has in files.
inline std::string_view nameInFile(const br_tensor &t) { return t.copy_of ? t.copy_of : t.name; }

// These names of parameters.
std::vector<std::string> namesInFile(const std::vector<const br_tensor *> &parameters);

inline std::vector<int64_t> shapeOf(const br_tensor &t) { return {t.shape, t.shape + t.rank}; }

// The parameters among tensors, and the tensors that are copies of them or that they are
// copies of.
std::vector<const br_tensor *> parametersOf(std::span<const br_tensor> tensors);

// Those of all kinds of ranks from `first` on, each name once.
std::vector<const br_tensor *> parametersOfAll(const br_model &first);

// What the saved tensors are called that become these parameters, by their own names.  Throws
// one Error for all that are missing or do not fit, and, where the parameters are all that the
// model has, for all tensors that it lacks.
std::map<std::string_view, std::string> matchParameters(const SavedTensors &saved, const char *model,
                                                        const std::vector<const br_tensor *> &parameters, bool areAll);

} // namespace braid
#endif // BRAID_CHECKPOINT_WEIGHTS_H
