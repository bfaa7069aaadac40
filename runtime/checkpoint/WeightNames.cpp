//===- WeightNames.cpp - match a file's tensors to parameters -------------===//
//
// Files use the model's parameter names, with changes by libraries: a model that was saved without its head
// lacks the first component of all names, and the head of GPT-NeoX has two names. Other tensors in a file
// are refused, unless they follow from the rest.
//
//===----------------------------------------------------------------------===//

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/NumberTypes.h"
#include "checkpoint/PieceReader.h"
#include "checkpoint/Weights.h"
#include "core/Model.h"

#include <algorithm>
#include <set>

using namespace braid;

std::vector<const br_tensor *> braid::parametersOf(std::span<const br_tensor> tensors) {
  std::set<std::string_view> names;
  for (const br_tensor &t : tensors)
    if (t.category == BR_PARAMETERS)
      names.insert(nameInFile(t));
  std::vector<const br_tensor *> parameters;
  for (const br_tensor &t : tensors)
    if (names.count(nameInFile(t)))
      parameters.push_back(&t);
  return parameters;
}

std::vector<const br_tensor *> braid::parametersOfAll(const br_model &first) {
  std::vector<const br_tensor *> parameters;
  std::set<std::string_view> known;
  for (const br_model *kind = &first; kind; kind = kind->others)
    for (const br_tensor *t : parametersOf(tensorsOf(*kind)))
      if (known.insert(nameInFile(*t)).second)
        parameters.push_back(t);
  return parameters;
}

std::vector<std::string> braid::namesInFile(const std::vector<const br_tensor *> &parameters) {
  std::vector<std::string> names;
  for (const br_tensor *t : parameters)
    names.emplace_back(nameInFile(*t));
  return names;
}

namespace {

// Names of heads in Transformers. The head of GPT-NeoX is embed_out in files on the hub, and lm_head in
// files of some versions; version 5 loads both, version 4 only the first.
constexpr std::string_view kHeads[] = {"lm_head.weight", "embed_out.weight"};

bool isHead(std::string_view name) { return std::find(std::begin(kHeads), std::end(kHeads), name) != std::end(kHeads); }

// Whether the file is a checkpoint of this program. A checkpoint has more than parameters, so its extra
// tensors are accepted.
bool isCheckpoint(const SavedTensors &saved) {
  auto format = saved.metadata().find("format");
  return format != saved.metadata().end() && format->second.starts_with("braid-checkpoint-");
}

// Returns the most common first component of the parameters' names, such as "transformer.". Returns an
// empty string if the file has names that begin with it, or has no parameter without it.
std::string missingPrefix(const SavedTensors &saved, const std::vector<const br_tensor *> &parameters) {
  std::map<std::string, size_t> counts;
  for (const br_tensor *t : parameters)
    if (const size_t point = nameInFile(*t).find('.'); point != std::string_view::npos)
      ++counts[std::string(nameInFile(*t).substr(0, point + 1))];
  auto mostFrequent =
      std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) { return a.second < b.second; });
  if (mostFrequent == counts.end())
    return "";
  for (const auto &[name, tensor] : saved.tensors())
    if (name.starts_with(mostFrequent->first))
      return "";
  const auto isSaved = [&](const br_tensor *t) {
    return nameInFile(*t).starts_with(mostFrequent->first) &&
           saved.find(std::string(nameInFile(*t).substr(mostFrequent->first.size())));
  };
  return std::any_of(parameters.begin(), parameters.end(), isSaved) ? mostFrequent->first : "";
}

// Whether a tensor follows from the configuration, although libraries save it with the weights: masks,
// which have rows and columns unlike a bias, and the frequencies of rotary positions.
bool isDerived(std::string_view name, const SavedTensor &tensor) {
  auto endsWith = [&](std::string_view last) {
    return name.ends_with(last) && (name.size() == last.size() || name[name.size() - last.size() - 1] == '.');
  };
  if (endsWith("attn.bias") || endsWith("attention.bias"))
    return tensor.shape.size() == 4;
  return endsWith("attn.masked_bias") || endsWith("attention.masked_bias") || endsWith("rotary_emb.inv_freq");
}

// Compares two tensors by checksum, so neither needs to be in memory.
bool haveSameData(const SavedTensors &saved, const std::string &a, const std::string &b) {
  std::map<std::string, Checksum> sums;
  std::vector<std::byte> buffer(1 << 20);
  saved.forEachPiece([&](const std::string &name, const TensorPart &) { return name == a || name == b; },
                     [&](const std::string &name, const SavedTensors::Piece &piece) {
                       const uint64_t bytes = piece.entry.end - piece.entry.begin;
                       for (uint64_t at = 0; at < bytes; at += buffer.size()) {
                         const uint64_t count = std::min<uint64_t>(buffer.size(), bytes - at);
                         piece.file.read(piece.entry, at, buffer.data(), count);
                         sums[name].add(buffer.data(), count);
                       }
                     });
  return sums[a].value() == sums[b].value();
}

// Joins the first few texts with `separator`, and counts the rest.
std::string listed(const std::vector<std::string> &texts, const char *separator) {
  constexpr size_t shown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(shown, texts.size()); ++i)
    text += concat(i ? separator : "", texts[i]);
  return text + (texts.size() > shown ? concat(" and ", texts.size() - shown, " more") : "");
}

std::string counted(const std::vector<std::string> &names) {
  return concat(names.size(), names.size() == 1 ? " tensor (" : " tensors (", listed(names, ", "), ")");
}

class WeightMatcher {
public:
  WeightMatcher(const SavedTensors &saved, const std::vector<const br_tensor *> &parameters)
      : saved(saved), parameters(parameters), isForeign(!isCheckpoint(saved)),
        prefix(isForeign ? missingPrefix(saved, parameters) : "") {}

  void matchAll();
  void refuseOthers();
  // Returns the reasons why the weights do not fit the model; empty if they fit.
  std::string mismatches() const;
  std::map<std::string_view, std::string> takeNames() { return std::move(names); }

private:
  std::string nameOf(std::string_view own) const;
  void compare(const br_tensor &t, const std::string &name, const SavedTensor &stored);
  bool isTiedHead(const std::string &name, const SavedTensor &tensor);

  const SavedTensors &saved;
  const std::vector<const br_tensor *> &parameters;
  const bool isForeign;
  const std::string prefix;
  std::map<std::string_view, std::string> names;
  std::set<std::string> known;
  std::vector<std::string> missing, additional, others;
};

std::string WeightMatcher::nameOf(std::string_view own) const {
  std::string name(!prefix.empty() && own.starts_with(prefix) ? own.substr(prefix.size()) : own);
  if (!isForeign || !isHead(name) || saved.find(name))
    return name;
  auto isOurs = [&](std::string_view other) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const br_tensor *t) { return nameInFile(*t) == other; });
  };
  for (std::string_view other : kHeads)
    if (saved.find(std::string(other)) && !isOurs(other))
      return std::string(other);
  return name;
}

void WeightMatcher::compare(const br_tensor &t, const std::string &name, const SavedTensor &stored) {
  if (stored.shape != shapeOf(t))
    others.push_back(concat("tensor '", name, "' has shape ", formatShape(stored.shape), " in the file, but ",
                            formatShape(shapeOf(t)), " in the model"));
  if (!isConvertible(stored.dtype, t.dtype))
    others.push_back(
        concat("tensor '", name, "' has type ", stored.dtype, ", which cannot become the model's ", typeName(t.dtype)));
}

void WeightMatcher::matchAll() {
  for (const br_tensor *t : parameters) {
    const std::string_view own = nameInFile(*t);
    if (names.count(own))
      continue;
    std::string name = nameOf(own);
    if (const SavedTensor *stored = saved.find(name))
      compare(*t, name, *stored);
    else
      missing.push_back(concat("'", name, "'"));
    known.insert(name);
    names.emplace(own, std::move(name));
  }
}

// Whether the tensor is a copy of the embedding table: some files have the head although the model ties it
// to the table. A head that differs from the table belongs to another model.
bool WeightMatcher::isTiedHead(const std::string &name, const SavedTensor &tensor) {
  if (!isHead(name))
    return false;
  std::string similarTable;
  for (const br_tensor *t : parameters) {
    const std::string &table = names.at(nameInFile(*t));
    const SavedTensor *stored = saved.find(table);
    if (!stored || stored->shape != tensor.shape || stored->dtype != tensor.dtype)
      continue;
    if (haveSameData(saved, name, table))
      return true;
    if (similarTable.empty())
      similarTable = table;
  }
  if (!similarTable.empty())
    others.push_back(
        concat("tensor '", name, "' differs from '", similarTable,
               "', but the model ties its head to the embedding table: set tie_word_embeddings to false in the "
               "config.json and compile that model"));
  return !similarTable.empty();
}

void WeightMatcher::refuseOthers() {
  if (!isForeign)
    return;
  for (const auto &[name, tensor] : saved.tensors())
    if (!known.count(name) && !isDerived(name, tensor) && !isTiedHead(name, tensor))
      additional.push_back(concat("'", name, "'"));
}

std::string WeightMatcher::mismatches() const {
  std::vector<std::string> parts;
  if (!missing.empty())
    parts.push_back("it lacks " + counted(missing));
  if (!additional.empty())
    parts.push_back(concat("it has ", counted(additional), " that the model lacks"));
  if (!others.empty())
    parts.push_back(listed(others, "; "));
  return listed(parts, "; ");
}

} // namespace

std::map<std::string_view, std::string> braid::matchParameters(const SavedTensors &saved, const char *model,
                                                               const std::vector<const br_tensor *> &parameters,
                                                               bool areAll) {
  WeightMatcher matching(saved, parameters);
  matching.matchAll();
  if (areAll)
    matching.refuseOthers();
  if (const std::string text = matching.mismatches(); !text.empty())
    fail("'", saved.path(), "' does not have the parameters of model '", model, "': ", text);
  return matching.takeNames();
}
