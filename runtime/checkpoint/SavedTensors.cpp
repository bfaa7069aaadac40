//===- SavedTensors.cpp - logical tensors in one or more files ------------===//

#include "checkpoint/SavedTensors.h"

#include "base/Error.h"
#include "base/File.h"
#include "base/NumberTypes.h"
#include "checkpoint/CheckpointFolder.h"
#include "checkpoint/CheckpointIndex.h"
#include "checkpoint/Weights.h"
#include "core/Mesh.h"
#include "core/Model.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace braid;

SavedTensors::SavedTensors(const std::string &path) : name(path) {
  if (!isFolder(path))
    openFile(path);
  else if (isWeightsFolder(path) && !fileExists(indexPath(path)))
    openWeights(path);
  else
    openFolder(path);
}

void SavedTensors::openFile(const std::string &path) {
  addFile(path, [](const std::string &) { return true; });
}

// Opens a folder of weights; uses the single file if it exists, else the index.
void SavedTensors::openWeights(const std::string &path) {
  if (const std::string file = path + "/" + kWeightsFile; fileExists(file))
    return openFile(file);
  const std::string index = path + "/" + kWeightsIndex;
  const std::map<std::string, std::string> fileOf = readWeightsIndex(index);
  std::set<std::string> names;
  for (const auto &[tensor, file] : fileOf)
    names.insert(file);
  for (const std::string &name : names)
    addFile(path + "/" + name, [&](const std::string &tensor) {
      auto file = fileOf.find(tensor);
      return file != fileOf.end() && file->second == name;
    });
  for (const auto &[tensor, file] : fileOf)
    if (!all.count(tensor))
      fail("'", index, "' says that tensor '", tensor, "' is in '", file, "', which does not have it");
}

template <class F> void SavedTensors::addFile(const std::string &path, const F &isIncluded) {
  const CheckedFile checkedFile(path);
  const SafetensorsFile &file = checkedFile.tensors();
  strings = file.metadata();
  checked = checked && checkedFile.hasChecksums();
  StoredFile &stored = files.emplace_back();
  stored.path = path;
  for (const TensorEntry &entry : file.entries()) {
    if (!isIncluded(entry.name))
      continue;
    all[entry.name] = {entry.dtype, entry.shape};
    // Tensors with more dims than the runtime supports belong to no model.
    if (entry.shape.size() <= BR_MAX_RANK)
      stored.pieces.push_back({entry.name, entry.name, wholeTensor(entry.shape), entry.shape});
  }
}

void SavedTensors::openFolder(const std::string &path) {
  CheckpointIndex index(indexPath(path));
  strings = index.metadata();
  checked = index.isSealed();
  const br_model &layout = index.layout();
  for (const br_tensor &t : tensorsOf(layout))
    all[t.name] = {typeName(t.dtype), {t.shape, t.shape + t.rank}};
  for (int rank = 0; rank < worldSize(layout); ++rank) {
    StoredFile stored{rankFilePath(path, rank), {}};
    for (const br_tensor *t : savedTensorsOf(layout, rank))
      stored.pieces.push_back({t->name, t->name, savedPartOf(layout, *t, rank), savedShapeOf(layout, *t, rank)});
    if (stored.pieces.empty())
      continue;
    check(stored, rank);
    files.push_back(std::move(stored));
  }
}

// Checks that the file has exactly the tensors in the index, and was written together with it.
void SavedTensors::check(const StoredFile &stored, int rank) {
  const CheckedFile checkedFile(stored.path);
  const SafetensorsFile &file = checkedFile.tensors();
  const std::string about = concat("'", stored.path, "' does not belong to the index of its checkpoint: ");
  auto expect = [&](const char *key, const std::string &value) {
    auto at = file.metadata().find(key);
    if (at == file.metadata().end() || at->second != value)
      fail(about, "it is of ", key, " '", at == file.metadata().end() ? "" : at->second, "', not '", value, "'");
  };
  if (checkedFile.hasChecksums() != checked)
    fail("'", checked ? stored.path : indexPath(name),
         "' is damaged: it has no checksums, and other files of the checkpoint have");
  for (const char *key : {"job_id", "step"})
    if (auto of = strings.find(key); of != strings.end())
      expect(key, of->second);
  expect("rank", std::to_string(rank));
  for (const Stored &piece : stored.pieces) {
    const SavedTensor &tensor = all.at(piece.tensor);
    const TensorEntry *entry = file.find(piece.tensor);
    if (!entry)
      fail(about, "it lacks its part of tensor '", piece.tensor, "'");
    if (entry->dtype != tensor.dtype)
      fail(about, "tensor '", piece.tensor, "' has type ", entry->dtype, " in the file, but ", tensor.dtype,
           " in the index");
    if (entry->shape != piece.shape)
      fail(about, "the part of tensor '", piece.tensor, "' has shape ", formatShape(entry->shape), " in the file, but ",
           formatShape(piece.shape), " by the index");
  }
  if (file.entries().size() != stored.pieces.size())
    fail(about, "it has ", file.entries().size(), " tensors, not ", stored.pieces.size());
}

const SavedTensor *SavedTensors::find(const std::string &tensor) const {
  auto at = all.find(tensor);
  return at == all.end() ? nullptr : &at->second;
}

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

std::string braid::nameInStack(const std::string &name, int64_t number) {
  const size_t star = name.find('*');
  return star == std::string::npos ? name : std::string(name).replace(star, 1, std::to_string(number));
}

// Returns the names that match `pattern`, with their numbers from 0 on.
std::map<std::string, int64_t> SavedTensors::numbersIn(const std::string &pattern) const {
  const size_t star = pattern.find('*');
  const std::string before = pattern.substr(0, star), after = pattern.substr(star + 1);
  int64_t present = 0;
  for (auto at = all.lower_bound(before); at != all.end() && at->first.starts_with(before); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(before.size());
    const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    present += end > 0 && rest.substr(end) == after;
  }
  std::map<std::string, int64_t> numbers;
  for (int64_t number = 0; number < present; ++number)
    numbers[nameInStack(pattern, number)] = number;
  return numbers;
}

// Stacks the tensors that match `pattern`; returns whether there are any.
bool SavedTensors::stack(const std::string &pattern) {
  const std::map<std::string, int64_t> numbers = numbersIn(pattern);
  if (numbers.empty())
    return false;
  const std::string first = nameInStack(pattern, 0);
  for (const auto &[entry, number] : numbers) {
    if (!find(entry))
      fail("'", name, "' has ", numbers.size(), " tensors '", pattern, "', but not '", entry, "'");
    const SavedTensor &reference = all.at(numbers.begin()->first), &tensor = all.at(entry);
    if (tensor.dtype != reference.dtype || tensor.shape != reference.shape || tensor.shape.size() >= BR_MAX_RANK)
      fail("'", name, "' has tensors '", pattern, "' that cannot be combined: '", numbers.begin()->first, "' is ",
           reference.dtype, " of shape ", formatShape(reference.shape), " and '", entry, "' is ", tensor.dtype,
           " of shape ", formatShape(tensor.shape));
  }
  const SavedTensor reference = all.at(first);
  std::vector<int64_t> begin(reference.shape.size() + 1, 0), extent = reference.shape, shape = reference.shape;
  extent.insert(extent.begin(), 1);
  shape.insert(shape.begin(), static_cast<int64_t>(numbers.size()));
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (StoredFile &file : files)
    for (Stored &piece : file.pieces)
      if (auto at = numbers.find(piece.tensor); at != numbers.end()) {
        begin[0] = at->second;
        piece.part = densePart(begin, extent, order);
        piece.tensor = pattern;
      }
  for (const auto &[entry, number] : numbers)
    all.erase(entry);
  all[pattern] = {reference.dtype, shape};
  return true;
}

SavedTensors SavedTensors::withStacks(const std::vector<std::string> &names) const {
  SavedTensors stacked = *this;
  for (const std::string &name : names) {
    if (!isStack(name) || stacked.find(name) || stacked.stack(name))
      continue;
    if (const size_t point = name.find('.'); point != std::string::npos) {
      stacked.stack(name.substr(point + 1));
    }
  }
  return stacked;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

void SavedTensors::forEachPiece(const std::function<bool(const std::string &tensor, const TensorPart &part)> &wanted,
                                const std::function<void(const std::string &tensor, const Piece &piece)> &f) const {
  for (const StoredFile &stored : files) {
    std::vector<const Stored *> pieces;
    for (const Stored &piece : stored.pieces)
      if (wanted(piece.tensor, piece.part))
        pieces.push_back(&piece);
    if (pieces.empty())
      continue;
    const CheckedFile file(stored.path);
    for (const Stored *piece : pieces) {
      const TensorEntry *entry = file.tensors().find(piece->entry);
      if (!entry || entry->shape != piece->shape || entry->dtype != all.at(piece->tensor).dtype)
        fail("'", stored.path, "' was changed while it was being read");
      f(piece->tensor, {file, *entry, piece->part});
    }
  }
}
