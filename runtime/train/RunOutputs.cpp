//===- RunOutputs.cpp - logical tensors from ranks' parts -----------------===//

#include "train/RunOutputs.h"

#include "base/Error.h"
#include "base/File.h"
#include "base/Format.h"
#include "base/NumberTypes.h"
#include "base/Safetensors.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace braid;

namespace {

int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::vector<int64_t> indexOf(int64_t element, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0; element /= shape[i])
    index[i] = element % shape[i];
  return index;
}

// Whether two parts are equal. Parts of a tensor are either equal or disjoint.
bool isSame(const TensorPart &a, const TensorPart &b) {
  return a.begin == b.begin && a.first == b.first && a.last == b.last;
}

void writeFile(const std::string &path,
               const std::vector<std::pair<OutputTensor, const std::vector<std::byte> *>> &tensors) {
  nlohmann::ordered_json header;
  uint64_t at = 0;
  for (const auto &[tensor, bytes] : tensors) {
    header[tensor.name] = {
        {"dtype", typeName(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes->size()}}};
    at += bytes->size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  File file = File::createForWriting(path);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const auto &[tensor, bytes] : tensors)
    file.write(bytes->data(), bytes->size());
  file.sync();
}

} // namespace

void braid::checkWritable(const std::string &path, const DataFiles &data) {
  for (const DataGroup &group : data.groups)
    for (const std::string &file : group.paths) {
      std::error_code code;
      if (std::filesystem::equivalent(path, file, code))
        fail("--outputs=", path, " is a file of --data, which is not overwritten; name another file");
    }
  const File probe = File::createTemporary(path);
  unlink(probe.path().c_str());
}

void RunOutputs::add(const OutputTensor &tensor, const Part &part) { gather(Role::Given, tensor, part, ""); }

void RunOutputs::addResult(const OutputTensor &tensor, const Part &part) { gather(Role::Result, tensor, part, ""); }

void RunOutputs::addUpdate(const OutputTensor &tensor, const Part &part, const std::string &before) {
  gather(Role::Update, tensor, part, before);
}

void RunOutputs::gather(Role role, const OutputTensor &tensor, const Part &part, const std::string &before) {
  std::lock_guard lock(mutex);
  const std::pair order(part.rank, part.at);
  auto found =
      tensors.try_emplace({role, tensor.name}, Gathered{tensor, std::vector<Piece>(tensor.pieces), before, order});
  Gathered &gathered = found.first->second;
  gathered.order = std::min(gathered.order, order);
  Piece &piece = gathered.pieces[part.piece];
  const int64_t size = elementSize(tensor.dtype);
  if (piece.memory.empty())
    piece.memory.resize(elementsOf(tensor.shape) * size);
  auto holder = std::find_if(piece.holders.begin(), piece.holders.end(),
                             [&](const Holder &h) { return isSame(h.second, part.where); });
  if (holder != piece.holders.end())
    return compare(gathered, part, holder->first);
  piece.holders.emplace_back(part.rank, part.where);
  copyShared(wholeTensor(tensor.shape), piece.memory.data(), part.where, part.memory, size);
}

void RunOutputs::addRows(const OutputTensor &tensor, const TensorPart &where, const std::byte *memory) {
  std::lock_guard lock(mutex);
  const int64_t size = elementSize(tensor.dtype);
  Gathered &gathered =
      tensors.try_emplace({Role::Result, tensor.name}, Gathered{tensor, std::vector<Piece>(1), "", {0, tensors.size()}})
          .first->second;
  std::vector<std::byte> &whole = gathered.pieces[0].memory;
  if (whole.empty())
    whole.resize(elementsOf(tensor.shape) * size);
  copyShared(wholeTensor(tensor.shape), whole.data(), where, memory, size);
}

// Compares bit for bit: ranks that compute the same value do so in the same order.
void RunOutputs::compare(const Gathered &gathered, const Part &part, int other) {
  const OutputTensor &tensor = gathered.tensor;
  const std::byte *first = gathered.pieces[part.piece].memory.data();
  const int64_t size = elementSize(tensor.dtype);
  int64_t element = -1;
  std::string values;
  forEachRun(wholeTensor(tensor.shape), part.where, [&](const Run &run) {
    for (int64_t i = 0; i < run.count && element < 0; ++i) {
      const std::byte *a = first + (run.place + i * run.step) * size,
                      *b = part.memory + (run.otherPlace + i * run.otherStep) * size;
      if (std::memcmp(a, b, size) == 0)
        continue;
      element = run.place + i * run.step;
      values = concat(formatExact(numberAt(tensor.dtype, a)), " and ", formatExact(numberAt(tensor.dtype, b)));
    }
  });
  if (element >= 0)
    differences.push_back({part.at, element,
                           concat("'", tensor.name, "' differs between rank ", std::min(other, part.rank), " and rank ",
                                  std::max(other, part.rank), ", which hold the same part: element ",
                                  formatShape(indexOf(element, tensor.shape)), " is ", values)});
}

// Adds up the terms of partial sums, and leaves out unchanged tensors.
std::vector<RunOutputs::Gathered *> RunOutputs::changed() {
  std::vector<Gathered *> written;
  for (auto &[key, gathered] : tensors) {
    const br_dtype dtype = gathered.tensor.dtype;
    std::vector<std::byte> &whole = gathered.pieces[0].memory;
    const int64_t size = elementSize(dtype), count = static_cast<int64_t>(whole.size()) / size;
    for (int64_t i = 0; i < count && gathered.pieces.size() > 1; ++i) {
      double sum = 0;
      for (const Piece &piece : gathered.pieces)
        sum += numberAt(dtype, piece.memory.data() + i * size);
      putNumber(dtype, whole.data() + i * size, sum);
    }
    if (key.first != Role::Update || whole != tensors.at({Role::Given, gathered.before}).pieces[0].memory)
      written.push_back(&gathered);
  }
  std::sort(written.begin(), written.end(), [](const Gathered *a, const Gathered *b) { return a->order < b->order; });
  return written;
}

bool RunOutputs::finish(const std::string &path) {
  std::lock_guard lock(mutex);
  if (++finished < ranks)
    return false;
  if (!differences.empty())
    fail(std::min_element(differences.begin(), differences.end(), [](const Difference &a, const Difference &b) {
           return std::pair(a.at, a.element) < std::pair(b.at, b.element);
         })->text);
  std::vector<std::pair<OutputTensor, const std::vector<std::byte> *>> written;
  for (Gathered *gathered : changed())
    written.emplace_back(gathered->tensor, &gathered->pieces[0].memory);
  writeFile(path, written);
  return true;
}
