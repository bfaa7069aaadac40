//===- CheckpointReader.cpp - restore a training job ----------------------===//

#include "base/Error.h"
#include "base/File.h"
#include "base/Hash.h"
#include "base/Message.h"
#include "base/NumberTypes.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/CheckpointIndex.h"
#include "checkpoint/Moments.h"
#include "checkpoint/PieceReader.h"
#include "checkpoint/Weights.h"
#include "core/Agree.h"
#include "core/Mesh.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

using namespace braid;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

SavedTensors braid::openCheckpoint(const std::string &path, const Rank &rank) {
  if (!isFolder(path) || fileExists(indexPath(path)) || isWeightsFolder(path))
    return SavedTensors(path);
  std::vector<int64_t> steps = checkpointSteps(path);
  if (steps.empty())
    fail("no checkpoint (step-*) found in '", path, "', and no ", kWeightsFile, describeOtherWeights(path));
  std::string firstProblem;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      return SavedTensors(checkpointPath(path, *step));
    } catch (const Error &error) {
      if (rank.isFirst())
        warn(concat("skipping a checkpoint: ", error.what()));
      if (firstProblem.empty())
        firstProblem = error.what();
    }
  }
  fail("no checkpoint in '", path, "' can be read; the newest: ", firstProblem);
}

// Reads the metadata only, without opening the files of all ranks.
std::string braid::savedJobId(const std::string &path) {
  auto strings = isFolder(path) ? CheckpointIndex(indexPath(path)).metadata() : SafetensorsFile(path).metadata();
  auto at = strings.find("job_id");
  return at == strings.end() ? "" : at->second;
}

std::string braid::earlierCheckpoint(const std::string &path) {
  const std::string directory = std::filesystem::absolute(path).parent_path();
  const std::optional<int64_t> own = stepOfCheckpoint(path);
  std::vector<int64_t> steps = checkpointSteps(own ? directory : "");
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    try {
      if (*step < own)
        return SavedTensors(checkpointPath(directory, *step)).path();
    } catch (const Error &) { // this one is damaged, too
    }
  return "";
}

JobState braid::readJobState(const SavedTensors &saved) { return parseJob(saved.metadata(), saved.path()); }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

// Tensors to read, by their names in the file; copies of a tensor are listed under its name.
using Targets = std::multimap<std::string_view, const br_tensor *>;

// Reads this rank's part of each tensor, from all pieces that hold elements of it. Zeroes the memory before
// the first piece, including padding: earlier contents of the arena are never read.
void readParts(const SavedTensors &saved, const Model &model, const Targets &targets) {
  PieceReader reader;
  std::set<const br_tensor *> begun;
  auto partOfTarget = [&](const br_tensor &t) { return partOf(model.table(), t, model.rank().number); };
  auto readersOf = [&](const std::string &name, const TensorPart &part) {
    std::vector<const br_tensor *> readers;
    auto [first, end] = targets.equal_range(name);
    for (auto target = first; target != end; ++target)
      if (partsOverlap(part, partOfTarget(*target->second)))
        readers.push_back(target->second);
    return readers;
  };
  saved.forEachPiece([&](const std::string &name, const TensorPart &part) { return !readersOf(name, part).empty(); },
                     [&](const std::string &name, const SavedTensors::Piece &piece) {
                       for (const br_tensor *t : readersOf(name, piece.part)) {
                         const bool isFirst = begun.insert(t).second;
                         model.onHost(*t, isFirst ? Use::Write : Use::Update, [&](std::byte *memory) {
                           if (isFirst)
                             std::memset(memory, 0, t->bytes);
                           reader.read(piece, partOfTarget(*t), t->dtype, memory);
                         });
                       }
                     });
  // This rank may hold only padding of a tensor.
  for (const auto &[name, t] : targets)
    if (!begun.count(t))
      model.zero(*t);
}

bool isWanted(const br_tensor &t, Restore what) {
  return t.copy_of || (t.checkpoint && (what == Restore::Everything || t.category != BR_OPTIMIZER_STATE));
}

[[noreturn]] void refuse(const SavedTensors &saved, const Model &model, const std::string &difference) {
  fail("'", saved.path(), "' is not a checkpoint of model '", model.table().name, "': ", difference,
       "; use a checkpoint of this model, or compile that one");
}

struct Wanted {
  Targets asSaved;
  std::vector<ConvertedMoment> converted;
};

// Compares everything before any memory is written. A rank that holds no tensors leaves the comparison to
// the others.
Wanted compare(const SavedTensors &saved, const Model &model, Restore what) {
  Wanted wanted;
  std::set<std::string, std::less<>> known;
  auto know = [&](const br_tensor &t) {
    const std::string name(nameInFile(t));
    known.insert(name);
    if (t.category == BR_OPTIMIZER_STATE && savedBlocks(saved, name).value_or(Blocks()).size)
      known.insert(scalesOf(name));
  };
  if (model.table().n_tensors == 0 && !isOfAllRanks(model.table()))
    return wanted;
  if (what == Restore::Everything)
    wanted.converted = findConvertedMoments(saved, model.table());
  std::set<const br_tensor *> converted;
  for (const ConvertedMoment &moment : wanted.converted)
    converted.insert({moment.moment, moment.scales});
  for (const br_tensor &t : tensorsOf(model.table())) {
    const std::string name(nameInFile(t));
    know(t);
    if (!isWanted(t, what) || converted.count(&t))
      continue;
    const SavedTensor *tensor = saved.find(name);
    if (!tensor)
      refuse(saved, model, concat("it has no tensor '", name, "'"));
    if (tensor->shape != shapeOf(t))
      refuse(saved, model,
             concat("tensor '", name, "' has shape ", formatShape(tensor->shape), " in the file, but ",
                    formatShape(shapeOf(t)), " in the model"));
    // A copy may differ in float type; it is rounded when it is read.
    const bool fits = t.copy_of ? isConvertible(tensor->dtype, t.dtype) : tensor->dtype == typeName(t.dtype);
    if (!fits)
      refuse(saved, model,
             concat("tensor '", name, "' has type ", tensor->dtype, " in the file, but ", typeName(t.dtype),
                    " in the model"));
    wanted.asSaved.emplace(nameInFile(t), &t);
  }
  // Ranks of the first kind see the tensors of all other kinds.
  const bool seesAll = isOfAllRanks(model.table()) || model.rank().isFirst();
  for (const br_model *kind = model.table().others; kind; kind = kind->others)
    for (const br_tensor &t : tensorsOf(*kind))
      know(t);
  for (const auto &[name, tensor] : saved.tensors())
    if (what == Restore::Everything && seesAll && !known.count(name))
      refuse(saved, model, concat("it has the tensor '", name, "', which the model lacks"));
  return wanted;
}

std::string textOfStorage(const std::string &dtype, const Blocks &blocks) {
  return blocks.size ? concat("int8 in blocks of ", blocks.size) : dtype;
}

// Describes converted moments for a warning: 8-bit codes differ by up to 2 % from the original values.
std::string describeConversion(const SavedTensors &saved, const std::vector<ConvertedMoment> &converted) {
  const ConvertedMoment &first = converted.front();
  return concat(converted.size(), converted.size() == 1 ? " moment is" : " moments are",
                " converted from the type in '", saved.path(), "': '", first.moment->name, "' is ",
                textOfStorage(saved.find(first.moment->name)->dtype, first.saved), " in the file and ",
                textOfStorage(typeName(first.moment->dtype), first.own), " in the model");
}

// Checks that all ranks read the same checkpoint: a file system may show ranks different files, and each
// rank takes the newest one that it can read.
void checkSameCheckpoint(const SavedTensors &saved, Model &model) {
  uint32_t hash = hashOf("");
  for (const auto &[key, value] : saved.metadata())
    hash = hashOf(key + '=' + value + ';', hash);
  const int32_t own = static_cast<int32_t>(hash >> 2);
  auto bounds = agree(model, {own, -own});
  if (bounds[0] != -bounds[1])
    fail("ranks read different checkpoints, this one '", saved.path(), "'; check that all of them see the same files");
}

// Damage to data is found only when it is read. The user decides what to do, because an earlier checkpoint
// may be many steps back.
std::string suggestEarlier(const std::string &path, Restore what) {
  const std::string earlier = earlierCheckpoint(path);
  if (earlier.empty())
    return "there is no earlier checkpoint beside it";
  return concat("the checkpoint before it is '", earlier, "': ",
                what == Restore::Everything
                    ? concat("to continue from it, move '", path, "' to another directory and start again")
                    : "name it in --checkpoint");
}

} // namespace

void braid::restoreTensors(const SavedTensors &saved, Model &model, Restore what) {
  checkSameCheckpoint(saved, model);
  Wanted wanted;
  allOrNothing(model, [&] { wanted = compare(saved, model, what); });
  if (!wanted.converted.empty() && model.rank().isFirst())
    warn(describeConversion(saved, wanted.converted));
  if (!saved.hasChecksums() && model.rank().isFirst())
    warn(concat(
        "'", saved.path(),
        "' has no checksums, because an older version of Braid saved it: damage to its data would go unnoticed"));
  allOrNothing(model, [&] {
    try {
      readParts(saved, model, wanted.asSaved);
      for (const ConvertedMoment &moment : wanted.converted)
        convertMoment(saved, model, moment);
    } catch (const DamagedData &damage) {
      fail(damage.what(), "; ", suggestEarlier(saved.path(), what));
    }
  });
}

void braid::importParameters(const SavedTensors &given, Model &model) {
  // Names of the parameters in the file.
  std::map<std::string_view, std::string> names;
  const std::vector<const br_tensor *> own = parametersOf(tensorsOf(model.table()));
  // The first rank sees the parameters of all kinds of ranks, so it can detect extra tensors in the file.
  const bool areAll = isOfAllRanks(model.table()) || model.rank().isFirst();
  const std::vector<const br_tensor *> parameters = areAll ? parametersOfAll(model.table()) : own;
  std::optional<SavedTensors> stacked;
  allOrNothing(model, [&] {
    stacked = given.withStacks(namesInFile(parameters));
    names = matchParameters(*stacked, model.table().name, parameters, areAll);
  });
  const SavedTensors &saved = *stacked;
  Targets targets;
  for (const br_tensor *t : own)
    targets.emplace(names.at(nameInFile(*t)), t);
  allOrNothing(model, [&] { readParts(saved, model, targets); });
}
