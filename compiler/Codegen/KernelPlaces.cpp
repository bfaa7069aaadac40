//===- KernelPlaces.cpp - addresses of a kernel's elements ----------------===//

#include "compiler/Codegen/KernelWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Addresses of elements
//===----------------------------------------------------------------------===//

std::string KernelWriter::product(StringRef index, int64_t stride) const {
  if (stride == 1)
    return index.str();
  bool named = stride == analysis.lanes && !lanesOutside();
  return (index + " * " + (named ? "L" : std::to_string(stride))).str();
}

/// Returns `index / inner % size`: as a variable of its own for a row, in place for a block.
std::string KernelWriter::rowIndex(int64_t inner, int64_t size, bool outermost, StringRef index) {
  if (inner == 1 && outermost)
    return index.str();
  std::string text = index.str();
  if (inner != 1)
    text += " / " + std::to_string(inner);
  if (!outermost)
    text += " % " + std::to_string(size);
  return index == "r" ? rowVariable("i", text) : "(" + text + ")";
}

std::string KernelWriter::rowVariable(StringRef prefix, StringRef text) {
  unsigned level = levelOf(true, false);
  auto [it, isNew] = defined[level].try_emplace(text);
  if (isNew) {
    it->second = {fresh(prefix), Kind::I64, true, false};
    lines[level].push_back("int64_t " + it->second.text + " = " + text.str() + ";");
  }
  return it->second.text;
}

/// Returns Σ index_d * strides[d], where `index` counts through dims of these sizes. Dims that are adjacent in memory
/// are merged.
std::string KernelWriter::rowOffset(ArrayRef<int64_t> strides, ArrayRef<int64_t> sizes, StringRef index) {
  struct Group {
    int64_t inner, size, stride;
  };
  SmallVector<Group> groups;
  int64_t inner = 1;
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1)
      continue;
    if (!groups.empty() && strides[dim] == groups.back().stride * groups.back().size)
      groups.back().size *= sizes[dim];
    else
      groups.push_back({inner, sizes[dim], strides[dim]});
    inner *= sizes[dim];
  }

  SmallVector<std::string> terms;
  for (const Group &group : llvm::reverse(groups))
    if (group.stride != 0)
      terms.push_back(
          product(rowIndex(group.inner, group.size, group.inner * group.size == inner, index), group.stride));
  std::string text = llvm::join(terms, " + ");
  return terms.size() > 1 && index == "r" ? rowVariable("at", text) : text;
}

/// Returns the distance between lanes in elements; 0 if all lanes read the same element.
int64_t KernelWriter::laneStride(unsigned operand, const Dims &dims) const {
  if (!analysis.hasLane(dims))
    return 0;
  if (analysis.flat)
    return 1; // the layout stands for a vector of any length
  int64_t stride = 0;
  for (auto [dim, s] : llvm::zip(dims, analysis.layout(operand).getStrides()))
    stride += analysis.isLane(dim) ? s : 0;
  return stride;
}

KernelWriter::Place KernelWriter::placeOf(unsigned operand, const Dims &dims, StringRef index) {
  SmallVector<int64_t> strides(analysis.rowSizes.size(), 0);
  for (auto [dim, stride] : llvm::zip(dims, analysis.layout(operand).getStrides()))
    if (dim != kNoDim && !analysis.isLane(dim))
      strides[dim] += stride;
  std::string row = rowOffset(strides, analysis.rowSizes, index);
  return {row, laneStride(operand, dims), !row.empty()};
}

std::string KernelWriter::address(unsigned operand, const Place &place, bool lanes) const {
  std::string text = pointers[operand];
  if (!place.row.empty())
    text += " + " + place.row;
  // Lane indices may have 32 bits, but addresses need 64.
  bool isFar = place.laneStride > INT32_MAX / std::max<int64_t>(analysis.lanes, 1);
  if (lanes)
    text += " + " + product(isFar ? "int64_t{l}" : "l", place.laneStride);
  return text;
}
