//===- NonFinite.cpp - find parameters that are not finite ----------------===//

#include "checkpoint/Checkpoint.h"

#include "base/Error.h"
#include "base/Format.h"
#include "checkpoint/PieceReader.h"
#include "core/Model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using namespace braid;

namespace {

// Returns the index of an element from its offset in a part with dense strides.
std::vector<int64_t> indexOf(const TensorPart &part, int64_t place) {
  std::vector<int64_t> index;
  for (int dim = 0; dim < part.rank; ++dim)
    index.push_back(part.begin[dim] + (part.first + place) / part.stride[dim] % part.extent[dim]);
  return index;
}

// Returns the names of the parameters in files, for all kinds of ranks.
std::set<std::string> savedNamesOf(const br_model &model) {
  std::set<std::string> names;
  for (const br_model *kind = &model; kind; kind = kind->others)
    for (const br_tensor &tensor : tensorsOf(*kind))
      if (tensor.category == BR_PARAMETERS)
        names.insert(tensor.copy_of ? tensor.copy_of : tensor.name);
  return names;
}

// Reads a piece in windows of bounded size; describes the first element that is not finite.
std::string nonFiniteElement(const SavedTensors::Piece &piece, PieceReader &reader, std::vector<double> &window) {
  constexpr int64_t room = 1 << 18;
  window.resize(room);
  for (TensorPart part = piece.part; part.first < piece.part.last; part.first = part.last) {
    part.last = std::min(part.first + room, piece.part.last);
    reader.read(piece, part, BR_F64, reinterpret_cast<std::byte *>(window.data()));
    auto end = window.begin() + part.places(),
         bad = std::find_if_not(window.begin(), end, [](double x) { return std::isfinite(x); });
    if (bad != end)
      return concat(formatNonFinite(*bad), " at ", formatShape(indexOf(part, bad - window.begin())));
  }
  return "";
}

} // namespace

std::string braid::nonFiniteParameter(const SavedTensors &saved, const br_model &model) {
  const std::set<std::string> names = savedNamesOf(model);
  PieceReader reader;
  std::vector<double> window;
  std::string found;
  auto wanted = [&](const std::string &tensor, const TensorPart &) {
    return found.empty() && names.count(tensor) && isConvertible(saved.find(tensor)->dtype, BR_F64);
  };
  saved.forEachPiece(wanted, [&](const std::string &tensor, const SavedTensors::Piece &piece) {
    std::string element = found.empty() ? nonFiniteElement(piece, reader, window) : "";
    if (!element.empty())
      found = concat("parameter '", tensor, "' holds ", element, " in '", saved.path(), "'");
  });
  return found;
}
